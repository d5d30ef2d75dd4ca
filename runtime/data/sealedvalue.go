package data

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/textedit"
)

// A SealedValue is an encrypted text in plain data. It is decrypted once, at its first use.
type SealedValue struct{ reveal func() (string, error) }

// NewSealed returns the text that open returns.
func NewSealed(open func() (string, error)) *SealedValue { return &SealedValue{sync.OnceValues(open)} }

// Text returns the decrypted text.
func (s *SealedValue) Text() (string, error) { return s.reveal() }

// SealedText replaces an encrypted text in printed data.
const SealedText = "(encrypted)"

// String returns SealedText: printing does not decrypt.
func (s *SealedValue) String() string { return SealedText }

// MarshalText implements encoding.TextMarshaler, as String.
func (s *SealedValue) MarshalText() ([]byte, error) { return []byte(SealedText), nil }

// IsSealed reports whether a text is the encrypted form of another.
func IsSealed(text string) bool { return strings.HasPrefix(text, "ENC[age,") }

// HoldsSealed reports whether there is an encrypted text in plain data.
func HoldsSealed(val any) bool {
	switch x := val.(type) {
	case *SealedValue:
		return true
	case []any:
		return slices.ContainsFunc(x, HoldsSealed)
	case map[string]any:
		for _, v := range x {
			if HoldsSealed(v) {
				return true
			}
		}
	}
	return false
}

// Unseal returns plain data with all encrypted texts in it decrypted.
func Unseal(val any) (any, error) {
	if !HoldsSealed(val) {
		return val, nil
	}
	return eachSealed(val, (*SealedValue).Text)
}

// Shown returns plain data for printing: no encrypted text is decrypted.
func Shown(val any) any {
	if !HoldsSealed(val) {
		return val
	}
	out, _ := eachSealed(val, func(*SealedValue) (string, error) { return SealedText, nil })
	return out
}

func eachSealed(val any, text func(*SealedValue) (string, error)) (any, error) {
	switch x := val.(type) {
	case *SealedValue:
		s, err := text(x)
		if err != nil {
			return nil, err
		}
		return s, nil
	case []any:
		list := make([]any, len(x))
		for i, item := range x {
			var err error
			if list[i], err = eachSealed(item, text); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		m := make(map[string]any, len(x))
		for k, item := range x {
			var err error
			if m[k], err = eachSealed(item, text); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return val, nil
}

// An Opener decrypts a text at a key of a file. The key is a path in the notation of package
// textedit.
type Opener func(text, file, key string) (string, error)

// sealed returns a text that is decrypted at its first use.
func (d *Document) sealed(n *Node, open Opener) *SealedValue {
	return NewSealed(func() (string, error) { return open(n.Text, d.source.file, d.pathOf(n).String()) })
}

// pathOf returns the first path that leads to a node.
func (d *Document) pathOf(n *Node) textedit.Path {
	path, _ := pathTo(d.Root, n, nil)
	return path
}

func pathTo(at, n *Node, path textedit.Path) (textedit.Path, bool) {
	if at == n {
		return path, true
	}
	switch at.Kind {
	case schema.List:
		for i, item := range at.Items {
			if p, ok := pathTo(item, n, append(slices.Clip(path), strconv.Itoa(i))); ok {
				return p, true
			}
		}
	case schema.Map:
		for _, e := range at.Entries {
			if p, ok := pathTo(e.Val, n, append(slices.Clip(path), e.Key.Text)); ok {
				return p, true
			}
		}
	}
	return nil, false
}

// Plain returns a document as plain data whose encrypted texts are decrypted at their first use.
func (d *Document) Plain(open Opener) any {
	return d.Root.data(func(n *Node) any {
		if open != nil && IsSealed(n.Text) {
			return d.sealed(n, open)
		}
		return n.Text
	})
}
