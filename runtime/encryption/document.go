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

// A Text is a string value in a document.
type Text struct {
	Key   string
	Value string
	// Marked is set for a value that the document itself marks as secret, with !secret in YAML.
	Marked bool
}

// A Syntax finds the string values of a document, and replaces one without changing any other text.
type Syntax interface {
	Texts(text string) ([]Text, error)
	Set(text, key, value string) (string, error)
}

// SyntaxOf returns the syntax for a file by its name: YAML, JSON or TOML, nil for other files.
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

// secretTag is the YAML tag of a secret.
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

// DEC[hunter2] is a value in plain text while its document is edited.
const (
	plainBegin = "DEC["
	plainEnd   = "]"
)

// marked returns the plain text of a value that is to be encrypted. It reports false for other values.
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
	// Plain is the decrypted content, "" before Open.
	Plain string
}

// Values returns the encrypted values of a document, not decrypted.
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

// Open returns a document with each encrypted value decrypted as DEC[...], and a list of these values.
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

// Close encrypts the marked values of a document: DEC[...], and !secret in YAML. A value that is equal to the old
// value under its key gets the old encrypted text, so that unchanged lines stay as they are. Others are encrypted to
// the audience that whom returns for a key. For a value that was moved or copied that is the key it had before, so
// that it gets no further readers. keys are the keys of the values that were encrypted again.
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

// checkClear returns an error if a value without a mark must not stay in plain text: it was encrypted before the
// edit, or its mark is misspelled.
func (t Text) checkClear(before Value, old []Value) error {
	const hint = "write it as DEC[...], or print its plaintext with: ccm secret decrypt FILE --key PATH"
	begin := strings.ToLower(strings.Join(strings.Fields(t.Value[:min(len(t.Value), 4*len(plainBegin))]), ""))
	switch {
	case IsValue(t.Value):
		return nil
	case strings.HasPrefix(begin, strings.ToLower(plainBegin)):
		return diag.At(diag.Pos{}, fmt.Errorf("%s: %w", t.Key, diag.Invalid("mark of a value to encrypt", nil))).
			WithHint(hint)
	case before.Text != "":
		return diag.Errorf(diag.Pos{}, "%s: was encrypted, but is no longer marked", t.Key).WithHint(hint)
	case slices.ContainsFunc(old, func(v Value) bool { return v.Plain == t.Value && CheckValue(t.Value) == nil }):
		return diag.At(diag.Pos{}, fmt.Errorf("%s: %w", t.Key, diag.Contains("", "an encrypted value without mark"))).WithHint(hint)
	}
	return nil
}

// CheckValue returns an error if ccm could not hide a value in its output, for example because it is too short.
func CheckValue(plain string) error {
	if err := secret.Check(plain); err != nil && !errors.Is(err, secret.ErrLong) {
		return diag.At(diag.Pos{}, diag.Cannot("mask", "a value", err)).
			WithHint("keep it in plain text, or make it longer")
	}
	return nil
}

// keyBefore returns the key that a value had before the document was edited. A value that is no longer at its old key
// was moved, and has that key; a copy has the key of its original. A new or changed value has its present key, and so
// does a copy that replaces another encrypted value.
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

// EncryptKey encrypts the string under a key of a document, and returns the document.
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
			return "", fmt.Errorf("%s: %w", file, diag.Already(key, "encrypted"))
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
	err = fmt.Errorf("%s: %w", file, diag.None("string at key %s", key))
	var near []string
	for _, t := range list {
		if strings.HasSuffix(t.Key, "."+key) {
			near = append(near, t.Key)
		}
	}
	if len(near) > 0 {
		return "", &diag.Error{Err: err, Hint: "did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"}
	}
	return "", &diag.Error{Err: err, Hint: "only strings can be encrypted: quote the number"}
}
