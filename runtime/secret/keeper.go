// Package secret knows the secret values of a run and masks them in all output.
//
// A secret is an ordinary text that can be joined, formatted and passed through
// templates and tables. A [Keeper] knows its value and masks it wherever it appears, also
// in the quoted and encoded forms that programs write. So one redactor covers all output,
// and no tag on a value can get lost.
//
// A mask shows a keyed digest of the value, so that readers see whether two secrets are
// the same, or one has changed.
//
// Begin with [New], [Keeper.Add] and [Keeper.Redact]. A nil Keeper has no
// secrets.
package secret

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/luaccm/ccm/runtime/diag"
)

// Shortest is the least length of a secret in bytes. Shorter ones would mask ordinary
// text everywhere.
const Shortest = 4

// Longest is the greatest length of a secret in bytes.
const Longest = 1 << 20

// A Keeper knows secrets. It is safe for concurrent use.
type Keeper struct {
	hasSecrets atomic.Bool // there is a secret

	mu sync.RWMutex
	// values are the secrets, each once.
	values map[string]bool
	// byPrefix has the forms of secrets by their first four bytes, the longest first;
	// prefixBits has a bit for each pair of bytes with which one begins.
	byPrefix   map[string][]form
	prefixBits [1 << 10]uint64
	// sorted are the forms in the order of bytes; made when first needed.
	sorted  []string
	longest int

	key key
}

// A form is a possible spelling of a secret.
type form struct {
	text     string
	maskText string // the text whose digest the mask shows
	// value is the secret of the form.
	value string
}

// New returns a Keeper without secrets. Read returns the key of digests; if it is nil or
// fails, a random key is used, and digests of other processes differ.
func New(read func() ([]byte, error)) *Keeper {
	return &Keeper{key: key{read: read}}
}

// Errors of Check and Add.
var (
	ErrEmpty = diag.Empty("it")
	ErrShort = fmt.Errorf("it has less than %d bytes, and masking it would mask other text", Shortest)
	ErrLong  = diag.Exceeds("it", "%d bytes", Longest)
	ErrBlank = diag.Contains("it", "only white space")
)

// Any reports whether there are secrets.
func (k *Keeper) Any() bool { return k != nil && k.hasSecrets.Load() }

// Check returns why a value cannot be hidden wherever it appears: one of the errors above.
func Check(value string) error {
	switch {
	case value == "":
		return ErrEmpty
	case strings.TrimSpace(value) == "":
		return ErrBlank
	case len(value) < Shortest:
		return ErrShort
	case len(value) > Longest:
		return ErrLong
	}
	return nil
}

// Add makes a value a secret.
func (k *Keeper) Add(value string) error {
	if err := Check(value); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values[value] {
		return nil
	}
	if k.values == nil {
		k.values, k.byPrefix = make(map[string]bool), make(map[string][]form)
	}
	k.values[value] = true
	for _, f := range formsOf(value) {
		k.add(f)
	}
	k.sorted = nil
	k.hasSecrets.Store(true)
	return nil
}

// Keep is Add, which a nil Keeper ignores.
func (k *Keeper) Keep(value string) error {
	if k == nil {
		return nil
	}
	return k.Add(value)
}

// add adds a form. A form of two secrets belongs to the first.
func (k *Keeper) add(f form) {
	head := f.text[:Shortest]
	list := k.byPrefix[head]
	at, known := slices.BinarySearchFunc(list, f, func(a, b form) int {
		if len(a.text) != len(b.text) {
			return len(b.text) - len(a.text)
		}
		return strings.Compare(a.text, b.text)
	})
	if known {
		return
	}
	k.byPrefix[head] = slices.Insert(list, at, f)
	n := pair(head)
	k.prefixBits[n>>6] |= 1 << (n & 63)
	k.longest = max(k.longest, len(f.text))
}

func pair(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

// A span is a part of a text that is secret.
type span struct {
	from, to int
	maskText string
}

// spans returns the secret parts of a text in order, without overlaps. With one set, it returns
// only the first.
func (k *Keeper) spans(text string, one bool) (out []span) {
	widest := 0 // the length of the longest form in the last span
	for i := 0; i+Shortest <= len(text); i++ {
		n := pair(text[i:])
		if k.prefixBits[n>>6]&(1<<(n&63)) == 0 && text[i] != mask[0] {
			continue
		}
		if text[i] == mask[0] && isMask(text[i:]) {
			i += maskLength - 1 // masks stay as they are
			continue
		}
		for _, f := range k.byPrefix[text[i:i+Shortest]] {
			if !strings.HasPrefix(text[i:], f.text) {
				continue
			}
			end := i + len(f.text)
			last := len(out) - 1
			switch {
			case last < 0 || i >= out[last].to:
				out = append(out, span{i, end, f.maskText})
				widest = len(f.text)
			default: // overlapping spans: their union is secret
				if len(f.text) > widest {
					out[last].maskText, widest = f.maskText, len(f.text)
				}
				out[last].to = max(out[last].to, end)
			}
			break
		}
		if one && len(out) > 0 {
			return out
		}
	}
	return out
}

// Contains reports whether there is a secret in a text.
func (k *Keeper) Contains(text string) bool {
	if !k.Any() {
		return false
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.spans(text, true)) > 0
}

// Redact returns a text with a mask in the place of each secret.
func (k *Keeper) Redact(text string) string {
	if !k.Any() {
		return text
	}
	k.mu.RLock()
	spans := k.spans(text, false)
	k.mu.RUnlock()
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(k.Mask(s.maskText))
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// Clear returns the parts of a text between its secrets.
func (k *Keeper) Clear(text string) []string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var out []string
	at := 0
	for _, s := range k.spans(text, false) {
		out = append(out, text[at:s.from])
		at = s.to
	}
	return append(out, text[at:])
}

// Replace returns a text with each secret replaced by the result of with.
func (k *Keeper) Replace(text string, with func(secret string) string) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var b strings.Builder
	at := 0
	for _, s := range k.spans(text, false) {
		b.WriteString(text[at:s.from])
		b.WriteString(with(text[s.from:s.to]))
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// Within returns the secrets in the texts, sorted.
func (k *Keeper) Within(texts ...string) []string {
	if !k.Any() {
		return nil
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	found := make(map[string]bool)
	for _, text := range texts {
		for i := 0; i+Shortest <= len(text); i++ {
			for _, f := range k.byPrefix[text[i:i+Shortest]] {
				if strings.HasPrefix(text[i:], f.text) {
					found[f.value] = true
				}
			}
		}
	}
	out := make([]string, 0, len(found))
	for v := range found {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// Stars returns a text with a star for each byte of a secret, so that positions in it stay
// valid.
func (k *Keeper) Stars(text string) string {
	if !k.Any() {
		return text
	}
	return k.Replace(text, func(s string) string {
		out := []byte(s)
		for i, c := range out {
			if c != '\n' {
				out[i] = '*'
			}
		}
		return string(out)
	})
}
