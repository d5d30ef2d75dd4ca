package signed

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
)

// maxDepth is the largest depth of nested objects and lists in a document.
const maxDepth = 6

// decode decodes a payload strictly: no duplicate key, no unknown key, no key in another
// spelling, nothing after it. Two readers must never understand two things.
func decode(payload []byte, doc Document) error {
	if err := decodeStrictly(payload, doc); err != nil {
		return &RefusedError{Malformed, err}
	}
	if got, want := doc.Head().Protocol, doc.Kind().Protocol; got != want {
		return refuse(WrongKind, "%w", diag.Expected("%q", want).Got("%q", got))
	}
	h := doc.Head()
	switch {
	case !isName(h.Environment):
		return refuse(Malformed, "environment: %w", diag.Expected("a name such as prod").Got("%q", h.Environment))
	case h.CreateTime.IsZero() || h.Expires.IsZero() || !h.Expires.After(h.CreateTime):
		return refuse(Malformed, "%w", diag.Expected("a creation time, and an expiry after that"))
	}
	if err := doc.Validate(); err != nil {
		return &RefusedError{Malformed, err}
	}
	return nil
}

func decodeStrictly(payload []byte, into any) error {
	if !utf8.Valid(payload) {
		return diag.Not("document", "UTF-8")
	}
	if err := checkKeys(payload); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// checkKeys checks the keys of a payload, which must be one value.
func checkKeys(payload []byte) error {
	dec := json.NewDecoder(bytes.NewReader(payload))
	var open []map[string]bool // the open objects and lists: the keys of an object, nil for a list
	key := false               // the next token is a key
	for {
		token, err := dec.Token()
		if err != nil {
			return diag.Not("document", "JSON")
		}
		delim, isDelim := token.(json.Delim)
		switch {
		case isDelim && (delim == '{' || delim == '['):
			if len(open) == maxDepth {
				return diag.Exceeds("nesting", "%d levels", maxDepth)
			}
			var keys map[string]bool
			if delim == '{' {
				keys = make(map[string]bool)
			}
			open = append(open, keys)
		case isDelim:
			open = open[:len(open)-1]
		case key:
			name := token.(string)
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				return diag.Unknown("key", name, nil) // encoding/json accepts other spellings
			}
			keys := open[len(open)-1]
			if keys[name] {
				return diag.Duplicate("key %q", name)
			}
			keys[name] = true
			key = false
			continue
		}
		if len(open) == 0 {
			break
		}
		key = open[len(open)-1] != nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return diag.Unexpected("text at the end")
	}
	return nil
}

// isName reports whether a text can be the name of a node or an environment.
func isName(s string) bool {
	return s != "" && len(s) <= 63 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
