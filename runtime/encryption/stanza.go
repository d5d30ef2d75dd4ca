package encryption

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// stanzaType is the type of the stanza with the recipients and the place of an encrypted text:
//
//	-> ccm.for @admins,web1 ann=1f2e3d4c web1=5a6b7c8d
//	base64 of FILE NUL KEY
//
// The first argument has the names that were given, the others the people and hosts behind them, each with a digest
// of its key. Programs ignore stanzas of unknown types (C2SP, age: "Recipient stanza").
const stanzaType = "ccm.for"

func (a *Audience) stanza(at Place) *age.Stanza {
	args := []string{strings.Join(a.Names, ",")}
	for _, k := range a.Keys {
		args = append(args, k.Name+"="+k.Digest())
	}
	s := &age.Stanza{Type: stanzaType, Args: args}
	if at != (Place{}) {
		s.Body = []byte(at.File + "\x00" + at.Key)
	}
	return s
}

// A Description is the data in the header of an encrypted text. It is authentic only once the text was decrypted.
type Description struct {
	// For are the people, hosts and groups that were named; empty if ccm did not encrypt the text.
	For []string
	// Keys are the names and key digests of all readers.
	Keys []KeyDigest
	// At is the place of a value, zero for a file.
	At Place
	// Kinds are the stanza types of all recipients, such as X25519 and ssh-ed25519.
	Kinds []string
}

// A KeyDigest is the name of a reader and a digest of its key.
type KeyDigest struct{ Name, Digest string }

// Digest returns a short digest of a public key.
func (k Key) Digest() string { return sha256sum.Short(k.Text, 6) }

// Readers returns the names of the readers without repetitions.
func (d *Description) Readers() []string {
	var names []string
	for _, k := range d.Keys {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// ForWhom returns the readers as text for messages.
func (d *Description) ForWhom() string {
	if names := d.Readers(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	if len(d.Kinds) == 0 {
		return "no named recipients"
	}
	return fmt.Sprintf("%d unnamed recipients (%s)", len(d.Kinds), strings.Join(slices.Compact(slices.Sorted(slices.Values(d.Kinds))), ", "))
}

// maxRecipients limits the recipients in a header.
const maxRecipients = 10000

// describe parses the header of an age file.
func describe(header []byte) (*Description, error) {
	d := &Description{}
	lines := bytes.Split(header, []byte("\n"))
	for i := 0; i < len(lines); i++ {
		rest, ok := bytes.CutPrefix(lines[i], []byte("-> "))
		if !ok {
			continue
		}
		words := strings.Fields(string(rest))
		if len(words) == 0 {
			return nil, ErrDamaged
		}
		if words[0] != stanzaType {
			if !strings.HasSuffix(words[0], "-grease") {
				d.Kinds = append(d.Kinds, words[0])
			}
			continue
		}
		if len(d.Keys) > 0 || len(words) < 2 || len(words) > maxRecipients {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, diag.Expected("one line of recipients in its header"))
		}
		d.For = strings.Split(words[1], ",")
		for _, word := range words[2:] {
			name, digest, ok := strings.Cut(word, "=")
			if !ok || !IsName(name) {
				return nil, fmt.Errorf("%w: %w", ErrDamaged, diag.Expected("NAME=DIGEST in its header").Found("%q", word))
			}
			d.Keys = append(d.Keys, KeyDigest{name, digest})
		}
		var body []byte
		for i++; i < len(lines); i++ { // full lines of 64 columns, and a shorter one at the end
			body = append(body, lines[i]...)
			if len(lines[i]) < 64 {
				break
			}
		}
		raw, err := base64.RawStdEncoding.DecodeString(string(body))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if len(raw) > 0 {
			file, key, ok := strings.Cut(string(raw), "\x00")
			if !ok {
				return nil, fmt.Errorf("%w: %w", ErrDamaged, diag.Invalid("place in its header", nil))
			}
			d.At = Place{file, key}
		}
	}
	return d, nil
}

// Describe returns the description of an age file. It needs no identity.
func Describe(text []byte) (*Description, error) {
	header, _, err := open(text)
	if err != nil {
		return nil, err
	}
	return describe(header)
}

// DescribeValue is Describe for an encrypted value.
func DescribeValue(text string) (*Description, error) {
	raw, err := valueBytes(text)
	if err != nil {
		return nil, err
	}
	return Describe(raw)
}
