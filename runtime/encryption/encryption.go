// Package encryption keeps secrets in files that may lie in a git repository: whole files and single
// values, encrypted with age (age-encryption.org/v1) to the people and hosts that a file of recipients
// names. The program age decrypts what it writes, and the other way round.
//
// What is encrypted says for whom: a stanza of its header, which age leaves alone, has the names. A value
// of a document also says in which file and under which key it stands, so that it cannot be moved. The
// header is authenticated with the key of the file.
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
)

// LargestFile is how many bytes a file may have that is decrypted, and LargestValue how many a value.
const (
	LargestFile  = 64 << 20
	LargestValue = 1 << 20
)

// Suffix ends the names of encrypted files.
const Suffix = ".age"

// intro begins each file of age that is not armored.
const intro = "age-encryption.org/v1\n"

// IsFile reports whether a text is a file of age.
func IsFile(text []byte) bool {
	return bytes.HasPrefix(text, []byte(intro)) || bytes.HasPrefix(bytes.TrimLeft(text[:min(len(text), 1024)], " \t\r\n"), []byte(armor.Header))
}

// Encrypt returns a text as a file of age for some recipients; armored if it is to be printable.
func Encrypt(text []byte, to *Audience, armored bool) ([]byte, error) {
	return encrypt(text, to, Place{}, armored)
}

func encrypt(text []byte, to *Audience, at Place, armored bool) ([]byte, error) {
	if len(to.Keys) == 0 {
		return nil, errors.New("there is nobody to encrypt it to")
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

// A stanzaRecipient adds a stanza to those of a recipient.
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

// open returns the header and a reader of a file of age.
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
		return nil, nil, fmt.Errorf("it is larger than %d MiB", LargestFile>>20)
	}
	header, err = age.ExtractHeader(bytes.NewReader(text))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return header, bytes.NewReader(text), nil
}

// The two ends of an encrypted value: ENC[age,AAAA].
const (
	valueBegin = "ENC[age,"
	valueEnd   = "]"
)

// IsValue reports whether a text looks like an encrypted value, damaged ones too.
func IsValue(text string) bool { return strings.HasPrefix(text, valueBegin) }

// EncryptValue returns a text as an encrypted value for a place.
func EncryptValue(text string, to *Audience, at Place) (string, error) {
	if len(text) > LargestValue {
		return "", fmt.Errorf("it has more than %d bytes: encrypt a whole file", LargestValue)
	}
	raw, err := encrypt([]byte(text), to, at, false)
	if err != nil {
		return "", err
	}
	return valueBegin + base64.StdEncoding.EncodeToString(raw) + valueEnd, nil
}

// valueBytes returns the file of age in an encrypted value.
func valueBytes(text string) ([]byte, error) {
	if len(text) > 2*LargestValue {
		return nil, fmt.Errorf("%w: it is too long", ErrDamaged)
	}
	body, ok := strings.CutSuffix(strings.TrimPrefix(text, valueBegin), valueEnd)
	if !ok {
		return nil, fmt.Errorf("%w: want ENC[age,...], found no ] at its end", ErrDamaged)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") {
		return nil, fmt.Errorf("%w: it is not base64", ErrDamaged)
	}
	return raw, nil
}

// A Place is where an encrypted value stands.
type Place struct {
	// File is the path of the document below the directory of the site, with slashes.
	File string
	// Key leads to the value in the document: db.password.
	Key string
}

// String is the file and the key.
func (p Place) String() string {
	if p.Key == "" {
		return p.File
	}
	return p.File + ": " + p.Key
}

// Root returns the directory of the site that a file belongs to: the nearest above it that holds .ccm/recipients.
// It is not ok if there is none.
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

// placeOf returns the place of a key in a file. Without a directory of a site its File is absolute.
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

// fits reports whether a value that was encrypted for the place then may stand at p. Without a directory
// of a site only the end of the path is known.
func (p Place) fits(then Place) bool {
	if p.Key != then.Key {
		return false
	}
	return p.File == then.File || filepath.IsAbs(p.File) && strings.HasSuffix(p.File, "/"+then.File)
}
