package secret

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// A Protocol lists the names of fields in the JSON objects of this program. They are not
// masked, even if a secret is the same word.
type Protocol struct {
	names map[string]bool
	fixed map[string]bool
}

// NewProtocol returns the names in the JSON of the given values. The values of the names
// in fixed are not masked: they hold no text of the user, or must not be changed.
func NewProtocol(fixed []string, values ...any) *Protocol {
	p := &Protocol{names: make(map[string]bool), fixed: make(map[string]bool)}
	for _, name := range fixed {
		p.fixed[name] = true
	}
	seen := make(map[reflect.Type]bool)
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			p.names[name] = true
			walk(t.Field(i).Type)
		}
	}
	for _, v := range values {
		walk(reflect.TypeOf(v))
	}
	return p
}

// JSON masks the texts of a JSON document, and the numbers that are secrets. The result
// is a JSON document. P, which may be nil, has the names that are not masked.
func (k *Keeper) JSON(doc []byte, p *Protocol) []byte {
	if !k.Any() {
		return doc
	}
	if !json.Valid(bytes.TrimSpace(doc)) {
		return []byte(k.Redact(string(doc)))
	}
	if p == nil {
		p = &Protocol{}
	}
	out := make([]byte, 0, len(doc)+len(doc)/8)
	skip := false // the next value
	for i := 0; i < len(doc); {
		switch c := doc[i]; {
		case c == '"':
			end := endOfString(doc, i)
			name, isName := "", false
			if next := bytes.TrimLeft(doc[end:], " \t\r\n"); len(next) > 0 && next[0] == ':' {
				_ = json.Unmarshal(doc[i:end], &name)
				isName = true
			}
			switch {
			case isName && p.names[name]:
				out = append(out, doc[i:end]...)
				skip = p.fixed[name]
			case !isName && skip:
				out = append(out, doc[i:end]...)
				skip = false
			default:
				out = k.appendString(out, doc[i:end])
				skip = false
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i
			for end < len(doc) && strings.IndexByte("+-.eE0123456789", doc[end]) >= 0 {
				end++
			}
			if number := string(doc[i:end]); p.names == nil && k.isSecret(number) {
				out = append(out, `"`+k.Mask(number)+`"`...)
			} else {
				out = append(out, number...)
			}
			i, skip = end, false
		default:
			if c == '{' || c == '[' {
				skip = false
			}
			out = append(out, c)
			i++
		}
	}
	return out
}

// isSecret reports whether a whole text is a secret.
func (k *Keeper) isSecret(text string) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.values[text]
}

func (k *Keeper) appendString(out, quoted []byte) []byte {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return append(out, quoted...)
	}
	redacted := k.Redact(text)
	if redacted == text {
		return append(out, quoted...)
	}
	return append(out, `"`+jsonQuoted(redacted, false)+`"`...)
}

// endOfString returns the end of the JSON string that begins at i.
func endOfString(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(doc))
}
