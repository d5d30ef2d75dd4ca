// Package pattern matches Lua patterns with a bound on the work of a call.
//
// The matcher of gopher-lua cannot be interrupted: a pattern such as
// ("a?"):rep(28) keeps it busy for half a minute, whatever the deadline. Here
// every step counts against a [Budget], so that a call ends.
//
// Begin with [Compile] and [Pattern.Find].
package pattern

import (
	"errors"
	"fmt"

	"github.com/luaccm/ccm/runtime/diag"
)

// maxCaptures is the maximum number of a pattern's captures, as in Lua.
const maxCaptures = 32

// maxItems bounds the depth of the matcher's recursion, which is at most one for each item.
const maxItems = 10_000

// A Pattern is a compiled Lua pattern.
type Pattern struct {
	items    []item
	captures int
	anchored bool
}

type kind uint8

const (
	single   kind = iota // one byte of a set, repeated as rep says
	open                 // begins capture n
	shut                 // ends capture n
	position             // capture n is the position
	balance              // %bxy
	frontier             // %f[set]
	back                 // %1
	end                  // $ at the end of the pattern
)

type item struct {
	kind kind
	rep  byte // 0, '?', '*', '+' or '-'
	n    int  // number of a capture, from 0
	x, y byte // of a balance
	set  set
}

// A set is a set of bytes.
type set [4]uint64

func (s *set) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *set) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }
func (s *set) union(t set) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s set) inverse() set {
	for i := range s {
		s[i] = ^s[i]
	}
	return s
}

// class returns the set that %c stands for. Letters that are no class, and all
// other bytes, stand for themselves.
func class(c byte) set {
	var in func(b byte) bool
	switch c | 0x20 {
	case 'a':
		in = alpha
	case 'c':
		in = func(b byte) bool { return b < 0x20 || b == 0x7f }
	case 'd':
		in = digit
	case 'g':
		in = func(b byte) bool { return b > 0x20 && b < 0x7f }
	case 'l':
		in = func(b byte) bool { return b >= 'a' && b <= 'z' }
	case 'p':
		in = func(b byte) bool { return b > 0x20 && b < 0x7f && !alpha(b) && !digit(b) }
	case 's':
		in = func(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }
	case 'u':
		in = func(b byte) bool { return b >= 'A' && b <= 'Z' }
	case 'w':
		in = func(b byte) bool { return alpha(b) || digit(b) }
	case 'x':
		in = func(b byte) bool { return digit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }
	case 'z':
		in = func(b byte) bool { return b == 0 }
	}
	var s set
	if in == nil || !alpha(c) {
		s.add(c)
		return s
	}
	for b := range 256 {
		if in(byte(b)) {
			s.add(byte(b))
		}
	}
	if c&0x20 == 0 {
		return s.inverse()
	}
	return s
}

func alpha(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func digit(b byte) bool { return b >= '0' && b <= '9' }

// Compile reads a pattern. With anchor, a ^ at the beginning ties the pattern to the place where
// the search begins; else ^ is a normal character, as in gmatch.
func Compile(text string, anchor bool) (*Pattern, error) {
	p := new(Pattern)
	c := compiler{text: text}
	if anchor && len(text) > 0 && text[0] == '^' {
		p.anchored = true
		c.at = 1
	}
	for c.at < len(text) {
		it, err := c.next()
		if err != nil {
			return nil, fmt.Errorf("malformed pattern %q: %w", brief(text), err)
		}
		p.items = append(p.items, it)
		if len(p.items) > maxItems {
			return nil, diag.Exceeds("pattern", "%d items", maxItems)
		}
	}
	if len(c.open) > 0 {
		return nil, fmt.Errorf("malformed pattern %q: %w", brief(text), diag.Expected(") to end a capture"))
	}
	p.captures = c.captures
	return p, nil
}

func brief(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}

type compiler struct {
	text     string
	at       int
	captures int
	open     []int
	done     [maxCaptures]bool
}

// next reads one item.
func (c *compiler) next() (item, error) {
	ch := c.text[c.at]
	rest := c.text[c.at+1:]
	switch {
	case ch == '(':
		if c.captures == maxCaptures {
			return item{}, diag.Exceeds("pattern", "%d captures", maxCaptures)
		}
		n := c.captures
		c.captures++
		if rest != "" && rest[0] == ')' {
			c.at += 2
			c.done[n] = true
			return item{kind: position, n: n}, nil
		}
		c.at++
		c.open = append(c.open, n)
		return item{kind: open, n: n}, nil
	case ch == ')':
		if len(c.open) == 0 {
			return item{}, diag.Unexpected(")")
		}
		n := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		c.done[n] = true
		c.at++
		return item{kind: shut, n: n}, nil
	case ch == '$' && rest == "":
		c.at++
		return item{kind: end}, nil
	case ch == '%' && rest != "":
		switch e := rest[0]; {
		case e == 'b':
			if len(rest) < 3 {
				return item{}, diag.Expected("two characters after %%b")
			}
			c.at += 4
			return item{kind: balance, x: rest[1], y: rest[2]}, nil
		case e == 'f':
			if len(rest) < 2 || rest[1] != '[' {
				return item{}, diag.Expected("[ after %%f")
			}
			c.at += 2
			s, err := c.set()
			return item{kind: frontier, set: s}, err
		case digit(e):
			n := int(e) - '1'
			if n < 0 || !c.done[n] {
				return item{}, diag.Invalid(fmt.Sprintf("capture index %%%c", e), nil)
			}
			c.at += 2
			return item{kind: back, n: n}, nil
		}
	}
	s, err := c.single()
	if err != nil {
		return item{}, err
	}
	it := item{kind: single, set: s}
	if c.at < len(c.text) {
		switch r := c.text[c.at]; r {
		case '*', '+', '-', '?':
			it.rep = r
			c.at++
		}
	}
	return it, nil
}

// single reads an element of the pattern that matches one byte.
func (c *compiler) single() (set, error) {
	ch := c.text[c.at]
	c.at++
	switch ch {
	case '.':
		return set{}.inverse(), nil
	case '[':
		c.at--
		return c.set()
	case '%':
		if c.at == len(c.text) {
			return set{}, errors.New("ends with %")
		}
		c.at++
		return class(c.text[c.at-1]), nil
	}
	var s set
	s.add(ch)
	return s, nil
}

// set reads [...]. A ] that comes first stands for itself.
func (c *compiler) set() (set, error) {
	var s set
	c.at++
	inverse := c.at < len(c.text) && c.text[c.at] == '^'
	if inverse {
		c.at++
	}
	for first := true; ; first = false {
		if c.at >= len(c.text) {
			return s, diag.Expected("] to end the set")
		}
		ch := c.text[c.at]
		c.at++
		switch {
		case ch == ']' && !first:
			if inverse {
				s = s.inverse()
			}
			return s, nil
		case ch == '%':
			if c.at == len(c.text) {
				return s, diag.Expected("] to end the set")
			}
			s.union(class(c.text[c.at]))
			c.at++
		case c.at+1 < len(c.text) && c.text[c.at] == '-' && c.text[c.at+1] != ']':
			for b := int(ch); b <= int(c.text[c.at+1]); b++ {
				s.add(byte(b))
			}
			c.at += 2
		default:
			s.add(ch)
		}
	}
}
