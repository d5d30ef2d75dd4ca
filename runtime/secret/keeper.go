// Package secret knows the values that nobody may see, and takes them out of
// whatever is written.
//
// A secret is an ordinary text: it can be put together with others, formatted,
// and go through templates and tables. What keeps it is that its value is known:
// a [Keeper] masks it wherever it appears, in the forms in which programs write
// texts too. So there is one redactor for all that leaves the process, and no
// mark that could get lost on the way.
//
// A mask shows a keyed digest of the value, so that it can be seen that two are
// the same or that one has changed.
//
// Begin with [New], [Keeper.Add] and [Keeper.Redact]. A nil Keeper has no
// secrets.
package secret

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Shortest is how many bytes a secret has at least. To hide less would be to
// mask what is no secret all over the place.
const Shortest = 4

// Longest is how many bytes a secret has at most.
const Longest = 1 << 20

// A Keeper knows secrets. It is safe for use by several goroutines.
type Keeper struct {
	any atomic.Bool // there is a secret

	mu sync.RWMutex
	// values are the secrets, each once.
	values map[string]bool
	// begin has the forms of secrets by their first four bytes, the longest first;
	// first has a bit for each pair of bytes with which one begins.
	begin map[string][]form
	first [1 << 10]uint64
	// sorted are the forms in the order of bytes, once somebody has asked.
	sorted  []string
	longest int

	key key
}

// A form is a secret as it may be written.
type form struct {
	text string
	of   string // what the mask shows the digest of
	// value is the secret that it is a form or a line of.
	value string
}

// New returns a Keeper without secrets. Read returns the key of digests; if it is
// nil or fails, the key is one of this process.
func New(read func() ([]byte, error)) *Keeper {
	return &Keeper{key: key{read: read}}
}

// Errors of Add.
var (
	ErrEmpty = errors.New("it is empty")
	ErrShort = fmt.Errorf("it has less than %d bytes, and to hide them would hide other text", Shortest)
	ErrLong  = fmt.Errorf("it has more than %d bytes", Longest)
	ErrBlank = errors.New("it is nothing but white space")
)

// Any reports whether there are secrets.
func (k *Keeper) Any() bool { return k != nil && k.any.Load() }

// Add makes a value a secret.
func (k *Keeper) Add(value string) error {
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
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values[value] {
		return nil
	}
	if k.values == nil {
		k.values, k.begin = make(map[string]bool), make(map[string][]form)
	}
	k.values[value] = true
	for _, f := range formsOf(value) {
		k.add(f)
	}
	k.sorted = nil
	k.any.Store(true)
	return nil
}

// Keep is Add; a nil Keeper forgets.
func (k *Keeper) Keep(value string) error {
	if k == nil {
		return nil
	}
	return k.Add(value)
}

// add adds a form. The first secret that has it keeps it.
func (k *Keeper) add(f form) {
	head := f.text[:Shortest]
	list := k.begin[head]
	at, known := slices.BinarySearchFunc(list, f, func(a, b form) int {
		if len(a.text) != len(b.text) {
			return len(b.text) - len(a.text)
		}
		return strings.Compare(a.text, b.text)
	})
	if known {
		return
	}
	k.begin[head] = slices.Insert(list, at, f)
	n := pair(head)
	k.first[n>>6] |= 1 << (n & 63)
	k.longest = max(k.longest, len(f.text))
}

func pair(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

// A span is a part of a text that is secret.
type span struct {
	from, to int
	of       string
}

// spans returns the parts of a text that are secret, in order and apart. With
// one set, it returns the first only.
func (k *Keeper) spans(text string, one bool) (out []span) {
	widest := 0 // the length of the form that the last span shows
	for i := 0; i+Shortest <= len(text); i++ {
		n := pair(text[i:])
		if k.first[n>>6]&(1<<(n&63)) == 0 && text[i] != mask[0] {
			continue
		}
		if text[i] == mask[0] && isMask(text[i:]) {
			i += maskLength - 1 // what was masked already stays as it is
			continue
		}
		for _, f := range k.begin[text[i:i+Shortest]] {
			if !strings.HasPrefix(text[i:], f.text) {
				continue
			}
			end := i + len(f.text)
			last := len(out) - 1
			switch {
			case last < 0 || i >= out[last].to:
				out = append(out, span{i, end, f.of})
				widest = len(f.text)
			default: // they overlap: what is of either is secret
				if len(f.text) > widest {
					out[last].of, widest = f.of, len(f.text)
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
		b.WriteString(k.Mask(s.of))
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

// Replace returns a text with each secret replaced by what with returns for it.
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

// Within returns the secrets that appear in the texts, in the order of bytes.
func (k *Keeper) Within(texts ...string) []string {
	if !k.Any() {
		return nil
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	found := make(map[string]bool)
	for _, text := range texts {
		for i := 0; i+Shortest <= len(text); i++ {
			for _, f := range k.begin[text[i:i+Shortest]] {
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

// Starred returns a text with stars in the place of secrets, a star for each byte,
// so that everything else keeps its place.
func (k *Keeper) Starred(text string) string {
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
