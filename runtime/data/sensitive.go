package data

import (
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/schema"
)

// sensitiveValue returns the value of a table {sensitive: true, value: ...}.
func (r *resolver) sensitiveValue(n *Node) (*Node, bool) {
	s := n.Get("sensitive")
	if n.Kind != schema.Map || len(n.Entries) != 2 || s == nil || s.Kind != schema.Bool || !strings.EqualFold(s.Text, "true") {
		return nil, false
	}
	if v := n.Get("value"); v != nil {
		return v, true
	}
	for _, e := range n.Entries {
		if diag.Nearest(e.Key.Text, []string{"value"}) != "" {
			err := e.Key.Errorf("%w beside sensitive", diag.Unknown("key", e.Key.Text, nil))
			err.Hint = "did you mean \"value\"?"
			r.errs = append(r.errs, err)
		}
	}
	return nil, false
}

// value returns n as plain data: texts as returned by text, and a sensitive table as its value.
func (r *resolver) value(n *Node, text func(*Node) any) any {
	if v, ok := r.sensitiveValue(n); ok {
		before := len(r.errs)
		val := r.value(v, text)
		if len(r.errs) == before {
			if err := keepTexts(val, r.keep); err != nil {
				r.errs = append(r.errs, v.Errorf("%w", diag.Cannot("mask", "a sensitive value", err)))
			}
		}
		return val
	}
	if n.Secret {
		before := len(r.errs)
		val := n.data(text)
		if err := keepTexts(val, r.keep); err != nil && len(r.errs) == before {
			r.errs = append(r.errs, n.Errorf("%w", diag.Cannot("mask", "a secret in data", err)))
		}
		return val
	}
	switch n.Kind {
	case schema.List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = r.value(item, text)
		}
		return list
	case schema.Map:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			m[e.Key.Text] = r.value(e.Val, text)
		}
		return m
	}
	return n.data(text)
}

// HoldsSecret reports whether a node or a node inside it is marked as secret.
func (n *Node) HoldsSecret() bool {
	if n.Secret {
		return true
	}
	for _, item := range n.Items {
		if item.HoldsSecret() {
			return true
		}
	}
	for _, e := range n.Entries {
		if e.Val.HoldsSecret() {
			return true
		}
	}
	return false
}

// markedLine matches a line with a value that is marked as secret.
var markedLine = lazyregexp.New(`!secret[ \t]+([^\n]*)`)

// sensitiveLine matches a line with the value of a sensitive table.
var sensitiveLine = lazyregexp.New(`(?m)\bvalue["']?\s*:\s*([^\s].*)$`)

// HideSensitive returns the text of a document for quotes in messages: the values of sensitive
// tables are replaced by stars, byte for byte.
func HideSensitive(text string) string {
	out := []byte(text)
	if strings.Contains(text, "!secret") {
		for _, m := range markedLine().FindAllStringSubmatchIndex(text, -1) {
			for i := m[2]; i < m[3]; i++ {
				out[i] = '*'
			}
		}
	}
	if !strings.Contains(text, "sensitive") {
		return string(out)
	}
	for _, m := range sensitiveLine().FindAllStringSubmatchIndex(text, -1) {
		for i := m[2]; i < m[3]; i++ {
			out[i] = '*'
		}
	}
	return string(out)
}

// Reveal returns plain data with each sensitive table replaced by its value. It calls
// keep with each text in such a value.
func Reveal(val any, keep func(text string) error) (any, error) {
	switch x := val.(type) {
	case []any:
		list := make([]any, len(x))
		var errs []error
		for i, item := range x {
			var err error
			list[i], err = Reveal(item, keep)
			errs = append(errs, err)
		}
		return list, errors.Join(errs...)
	case map[string]any:
		if v, ok := x["value"]; ok && len(x) == 2 && x["sensitive"] == true {
			inner, err := Reveal(v, keep)
			return inner, errors.Join(err, keepTexts(inner, keep))
		}
		m := make(map[string]any, len(x))
		var errs []error
		for k, item := range x {
			var err error
			m[k], err = Reveal(item, keep)
			errs = append(errs, err)
		}
		return m, errors.Join(errs...)
	}
	return val, nil
}

// keepTexts calls keep with each text and number in a value.
func keepTexts(val any, keep func(text string) error) error {
	if keep == nil {
		return nil
	}
	switch x := val.(type) {
	case *SealedValue: // a secret as soon as it is decrypted
		return nil
	case nil, bool:
		return diag.Expected("a text, or a list or table of texts")
	case []any:
		for _, item := range x {
			if err := keepTexts(item, keep); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for _, item := range x {
			if err := keepTexts(item, keep); err != nil {
				return err
			}
		}
		return nil
	}
	return keep(fmt.Sprint(val))
}
