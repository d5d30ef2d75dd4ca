// Package encryption keeps secrets in files that can be committed to git: whole files and single values, encrypted
// with age (age-encryption.org/v1) to the people and hosts in a file of recipients. Files are compatible with the
// program age in both directions.
//
// The header of an encrypted text has a stanza with the names of its recipients; age ignores the stanza. For a value
// it also has the file and the key of the value, so that the value cannot be moved. age authenticates the header with
// the file key.
//
// Begin with [ReadRecipients], [Identities] and [Decrypter].
package encryption

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/luaccm/ccm/runtime/diag"
)

// LargestFile and LargestValue limit the size of encrypted files and values, in bytes.
const (
	LargestFile  = 64 << 20
	LargestValue = 1 << 20
)

// Suffix is the suffix of the names of encrypted files.
const Suffix = ".age"

// intro is the first line of a binary age file.
const intro = "age-encryption.org/v1\n"

// IsFile reports whether a text is an age file, binary or armored.
func IsFile(text []byte) bool {
	return bytes.HasPrefix(text, []byte(intro)) || bytes.HasPrefix(bytes.TrimLeft(text[:min(len(text), 1024)], " \t\r\n"), []byte(armor.Header))
}

// Encrypt returns a text as an age file for an audience, in binary or armored (PEM) form.
func Encrypt(text []byte, to *Audience, armored bool) ([]byte, error) {
	return encrypt(text, to, Place{}, armored)
}

func encrypt(text []byte, to *Audience, at Place, armored bool) ([]byte, error) {
	if len(to.Keys) == 0 {
		return nil, diag.None("recipients to encrypt it to")
	}
	recipients := make([]age.Recipient, len(to.Keys))
	for i, k := range to.Keys {
		r, err := k.recipient()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
		recipients[i] = r
	}
	recipients[0] = &stanzaRecipient{recipients[0], to.stanza(at)}
	var out bytes.Buffer
	var w io.Writer = &out
	var a io.WriteCloser
	if armored {
		a = armor.NewWriter(&out)
		w = a
	}
	enc, err := age.Encrypt(w, recipients...)
	if err != nil {
		if mixed := to.mixed(); mixed != nil {
			return nil, mixed
		}
		return nil, explain(err)
	}
	_, err = enc.Write(text)
	if err = errors.Join(err, enc.Close()); err == nil && a != nil {
		err = a.Close()
	}
	return out.Bytes(), err
}

// A stanzaRecipient is a recipient that adds a further stanza to the header.
type stanzaRecipient struct {
	age.Recipient
	stanza *age.Stanza
}

// Wrap implements age.Recipient.
func (d *stanzaRecipient) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	s, _, err := d.WrapWithLabels(fileKey)
	return s, err
}

// WrapWithLabels implements age.RecipientWithLabels.
func (d *stanzaRecipient) WrapWithLabels(fileKey []byte) (s []*age.Stanza, labels []string, err error) {
	if r, ok := d.Recipient.(age.RecipientWithLabels); ok {
		s, labels, err = r.WrapWithLabels(fileKey)
	} else {
		s, err = d.Recipient.Wrap(fileKey)
	}
	return append(s, d.stanza), labels, err
}

// open returns the header of an age file, and a reader of the whole file.
func open(text []byte) (header []byte, r io.Reader, err error) {
	r = bytes.NewReader(text)
	if !bytes.HasPrefix(text, []byte(intro)) {
		raw, err := io.ReadAll(io.LimitReader(armor.NewReader(r), LargestFile+1))
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		text = raw
	}
	if len(text) > LargestFile {
		return nil, nil, diag.Exceeds("", "%d MiB", LargestFile>>20)
	}
	header, err = age.ExtractHeader(bytes.NewReader(text))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return header, bytes.NewReader(text), nil
}

// The beginning and end of an encrypted value: ENC[age,AAAA].
const (
	valueBegin = "ENC[age,"
	valueEnd   = "]"
)

// IsValue reports whether a text begins like an encrypted value; it may be damaged.
func IsValue(text string) bool { return strings.HasPrefix(text, valueBegin) }

// EncryptValue returns a text as an encrypted value that can be decrypted at a place only.
func EncryptValue(text string, to *Audience, at Place) (string, error) {
	if len(text) > LargestValue {
		return "", diag.Exceeds("value", "%d bytes: encrypt a whole file", LargestValue)
	}
	raw, err := encrypt([]byte(text), to, at, false)
	if err != nil {
		return "", err
	}
	return valueBegin + base64.StdEncoding.EncodeToString(raw) + valueEnd, nil
}

// valueBytes returns the age file in an encrypted value.
func valueBytes(text string) ([]byte, error) {
	if len(text) > 2*LargestValue {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, diag.Too("", "long"))
	}
	body, ok := strings.CutSuffix(strings.TrimPrefix(text, valueBegin), valueEnd)
	if !ok {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, diag.Expected("ENC[age,...]").Found("no ] at its end"))
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, diag.Not("", "base64"))
	}
	return raw, nil
}

// A Place is the file and key of an encrypted value.
type Place struct {
	// File is the path of the document relative to the site, with slashes.
	File string
	// Key is the path of the value in the document, such as db.password.
	Key string
}

// String returns FILE: KEY, or FILE if there is no key.
func (p Place) String() string {
	if p.Key == "" {
		return p.File
	}
	return p.File + ": " + p.Key
}

// Root returns the site of a file: the nearest directory above it with a .ccm/recipients. ok is false if there is
// none.
func Root(file string) (dir string, ok bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", false
	}
	for dir = filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, RecipientsFile)); err == nil {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// placeOf returns the place of a key in a file. File is absolute if the file belongs to no site.
func placeOf(file, key string) Place {
	abs, err := filepath.Abs(file)
	if err != nil {
		abs = file
	}
	if root, ok := Root(file); ok {
		if rel, err := filepath.Rel(root, abs); err == nil {
			abs = rel
		}
	}
	return Place{filepath.ToSlash(abs), key}
}

// fits reports whether a value that was encrypted for the place then may be at p. Outside a site the absolute path of
// p only has to end with then.File.
func (p Place) fits(then Place) bool {
	if p.Key != then.Key {
		return false
	}
	return p.File == then.File || filepath.IsAbs(p.File) && strings.HasSuffix(p.File, "/"+then.File)
}
