package secret

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// A Protocol is the names in JSON objects of which the meaning is fixed. They are
// never masked, even if somebody's secret is such a word.
type Protocol struct {
	names map[string]bool
	fixed map[string]bool
}

// NewProtocol returns the names in the JSON of values of the given types. Fixed
// are names whose values are never masked, because no text of the user is in
// them, or none that may be changed.
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

// JSON returns a JSON document in which each text is redacted, and each number
// that is a secret. It is still one. P, which may be nil, is what is not masked.
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
			if number := string(doc[i:end]); p.names == nil && k.is(number) {
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

// is reports whether a text is a secret as a whole.
func (k *Keeper) is(text string) bool {
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

// endOfString returns where a JSON string that begins at i ends.
func endOfString(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(doc))
}
