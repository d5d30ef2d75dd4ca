package encryption

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/textedit"
)

// A Text is a string in a document.
type Text struct {
	Key   string
	Value string
	// Marked says that the document calls it a secret: !secret of YAML.
	Marked bool
}

// A Syntax finds the texts of a document, and replaces one of them with nothing else changed.
type Syntax interface {
	Texts(text string) ([]Text, error)
	Set(text, key, value string) (string, error)
}

// SyntaxOf returns the syntax of YAML, JSON and TOML by the name of a file, nil of others.
func SyntaxOf(file string) Syntax {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".yaml", ".yml", ".hiera":
		return format{textedit.YAML}
	case ".json":
		return format{textedit.JSON}
	case ".toml":
		return format{textedit.TOML}
	}
	return nil
}

type format struct{ textedit.Format }

// secretTag is the tag by which YAML marks a secret.
const secretTag = "!secret"

// Texts implements Syntax.
func (f format) Texts(text string) ([]Text, error) {
	list, err := f.Format.Texts(text)
	out := make([]Text, len(list))
	for i, t := range list {
		out[i] = Text{t.Path.String(), t.Value, t.Tag == secretTag}
	}
	return out, err
}

// Set implements Syntax.
func (f format) Set(text, key, value string) (string, error) {
	path, err := textedit.ParsePath(key)
	if err != nil {
		return "", err
	}
	after, _, err := f.Format.Set(text, path, value)
	return after, err
}

// The two ends of a value that is plain for as long as a document is edited: DEC[hunter2].
const (
	plainBegin = "DEC["
	plainEnd   = "]"
)

// marked returns the plain text of a value that is to be encrypted.
func (t Text) marked() (string, bool) {
	if body, ok := strings.CutPrefix(t.Value, plainBegin); ok {
		if body, ok = strings.CutSuffix(body, plainEnd); ok {
			return body, true
		}
	}
	return t.Value, t.Marked && !IsValue(t.Value)
}

// A Value is an encrypted value of a document.
type Value struct {
	Key  string
	Text string
	// Plain is what it holds, if it was decrypted.
	Plain string
}

// Values returns the encrypted values of a document.
func Values(s Syntax, text string) ([]Value, error) {
	list, err := s.Texts(text)
	var out []Value
	for _, t := range list {
		if IsValue(t.Value) {
			out = append(out, Value{Key: t.Key, Text: t.Value})
		}
	}
	return out, err
}

// Open returns a document with each encrypted value as DEC[...], and these values.
func (d *Decrypter) Open(s Syntax, file, text string) (string, []Value, error) {
	values, err := Values(s, text)
	if err != nil {
		return "", nil, err
	}
	for i, v := range values {
		if values[i].Plain, err = d.Value(v.Text, file, v.Key); err != nil {
			return "", nil, err
		}
		if text, err = s.Set(text, v.Key, plainBegin+values[i].Plain+plainEnd); err != nil {
			return "", nil, fmt.Errorf("%s: %s: %w", file, v.Key, err)
		}
	}
	return text, values, nil
}

// Close encrypts what a document marks: DEC[...], and !secret of YAML. What is one of the old values, under
// its key, becomes what it was. Others are encrypted to the audience that whom returns for a key: the key of the
// old value if it was moved or copied, so that nobody else can read it from now on. It returns the keys of values
// that are new.
func Close(s Syntax, file, text string, old []Value, whom func(key string) (*Audience, error)) (after string, keys []string, err error) {
	list, err := s.Texts(text)
	if err != nil {
		return "", nil, err
	}
	before := make(map[string]Value, len(old))
	for _, v := range old {
		before[v.Key] = v
	}
	for _, t := range list {
		plain, ok := t.marked()
		if !ok {
			if err := t.checkClear(before[t.Key], old); err != nil {
				return "", nil, err
			}
			continue
		}
		enc := before[t.Key].Text
		if v, known := before[t.Key]; !known || v.Plain != plain {
			to, err := whom(keyBefore(t.Key, plain, list, old))
			if err != nil {
				return "", nil, err
			}
			if err = CheckValue(plain); err == nil {
				enc, err = EncryptValue(plain, to, placeOf(file, t.Key))
			}
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", t.Key, err)
			}
			keys = append(keys, t.Key)
		}
		if text, err = s.Set(text, t.Key, enc); err != nil {
			return "", nil, fmt.Errorf("%s: %w", t.Key, err)
		}
	}
	return text, keys, nil
}

// checkClear returns why a text cannot stay unencrypted: it was encrypted before, or is nearly marked.
func (t Text) checkClear(before Value, old []Value) error {
	const hint = "write it as DEC[...]; ccm secret decrypt FILE --key PATH prints a value that is to be plain from now on"
	begin := strings.ToLower(strings.Join(strings.Fields(t.Value[:min(len(t.Value), 4*len(plainBegin))]), ""))
	switch {
	case IsValue(t.Value):
		return nil
	case strings.HasPrefix(begin, strings.ToLower(plainBegin)):
		return diag.Errorf(diag.Pos{}, "%s: the mark of a value to be encrypted is damaged", t.Key).WithHint(hint)
	case before.Text != "":
		return diag.Errorf(diag.Pos{}, "%s: it was encrypted, and is not marked any more", t.Key).WithHint(hint)
	case slices.ContainsFunc(old, func(v Value) bool { return v.Plain == t.Value && CheckValue(t.Value) == nil }):
		return diag.Errorf(diag.Pos{}, "%s: it is a value that was encrypted, and is not marked", t.Key).WithHint(hint)
	}
	return nil
}

// CheckValue returns why a value cannot be encrypted in a document: ccm could not hide it.
func CheckValue(plain string) error {
	if err := secret.Check(plain); err != nil && !errors.Is(err, secret.ErrLong) {
		return diag.Errorf(diag.Pos{}, "a value cannot be hidden: %w", err).WithHint("leave it in plain text, or make it longer")
	}
	return nil
}

// keyBefore returns the key at which a value stood before a document was edited: that of an old value that was
// moved, which stands there no more. A copy of one has the key of what was copied, unless something else stood
// where it stands; what is new or was changed has the key at which it stands.
func keyBefore(key, plain string, now []Text, old []Value) string {
	stays := func(v Value) bool {
		return slices.ContainsFunc(now, func(t Text) bool {
			plain, ok := t.marked()
			return ok && t.Key == v.Key && plain == v.Plain
		})
	}
	changed, copied := false, ""
	for _, v := range old {
		switch {
		case v.Key == key:
			changed = true
		case v.Plain != plain:
		case !stays(v):
			return v.Key
		case copied == "":
			copied = v.Key
		}
	}
	if changed || copied == "" {
		return key
	}
	return copied
}

// EncryptKey encrypts the text that stands under a key of a document.
func EncryptKey(s Syntax, file, text, key string, to *Audience) (string, error) {
	list, err := s.Texts(text)
	if err != nil {
		return "", err
	}
	for _, t := range list {
		if t.Key != key {
			continue
		}
		if IsValue(t.Value) {
			return "", fmt.Errorf("%s: %s is encrypted already", file, key)
		}
		plain, _ := t.marked()
		if err := CheckValue(plain); err != nil {
			return "", fmt.Errorf("%s: %s: %w", file, key, err)
		}
		enc, err := EncryptValue(plain, to, placeOf(file, key))
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", file, key, err)
		}
		return s.Set(text, key, enc)
	}
	err = fmt.Errorf("%s: there is no text under the key %s", file, key)
	var near []string
	for _, t := range list {
		if strings.HasSuffix(t.Key, "."+key) {
			near = append(near, t.Key)
		}
	}
	if len(near) > 0 {
		return "", &diag.Error{Err: err, Hint: "did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"}
	}
	return "", &diag.Error{Err: err, Hint: "a text alone is encrypted: a number is put in quotes first"}
}
