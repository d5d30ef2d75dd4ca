package encryption

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"filippo.io/age"
)

// The stanza in the header that says for whom something is encrypted, and where it stands:
//
//	-> ccm.for @admins,web1 ann=1f2e3d4c web1=5a6b7c8d
//	base64 of FILE NUL KEY
//
// Behind the names that were asked for stand those that they meant, each with a digest of its key. Programs
// that do not know a stanza leave it alone (C2SP, age: "Recipient stanza").
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

// A Description is what something encrypted says of itself. Nobody vouches for it before it is decrypted.
type Description struct {
	// For are the names that were asked for, people, hosts and groups; empty if ccm did not write it.
	For []string
	// Keys are the names and digests of keys that can read it.
	Keys []KeyDigest
	// At is where a value stands; zero for a file.
	At Place
	// Kinds are the kinds of all its recipients: X25519, ssh-ed25519.
	Kinds []string
}

// A KeyDigest is the name of a recipient and a digest of its key.
type KeyDigest struct{ Name, Digest string }

// Digest is a short digest of a public key.
func (k Key) Digest() string {
	sum := sha256.Sum256([]byte(k.Text))
	return hex.EncodeToString(sum[:6])
}

// Readers returns the names of those who can read it, each once.
func (d *Description) Readers() []string {
	var names []string
	for _, k := range d.Keys {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// ForWhom is the readers as messages say them.
func (d *Description) ForWhom() string {
	if names := d.Readers(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	if len(d.Kinds) == 0 {
		return "nobody who is named"
	}
	return fmt.Sprintf("%d of whom it does not say the names (%s)", len(d.Kinds), strings.Join(slices.Compact(slices.Sorted(slices.Values(d.Kinds))), ", "))
}

// maxRecipients bounds what a header says.
const maxRecipients = 10000

// describe reads a header as age writes it.
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
			return nil, fmt.Errorf("%w: it says twice for whom it is, or not rightly", ErrDamaged)
		}
		d.For = strings.Split(words[1], ",")
		for _, word := range words[2:] {
			name, digest, ok := strings.Cut(word, "=")
			if !ok || !IsName(name) {
				return nil, fmt.Errorf("%w: want NAME=DIGEST in its header, found %q", ErrDamaged, word)
			}
			d.Keys = append(d.Keys, KeyDigest{name, digest})
		}
		var body []byte
		for i++; i < len(lines); i++ { // full lines of 64 columns, and one that is shorter
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
				return nil, fmt.Errorf("%w: it does not say rightly where it stands", ErrDamaged)
			}
			d.At = Place{file, key}
		}
	}
	return d, nil
}

// Describe returns what a file of age says of itself. It needs no identity.
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
