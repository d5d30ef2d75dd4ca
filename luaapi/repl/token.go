package repl

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/luadata"
)

// A Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	Space Kind = iota
	Comment
	Name
	Keyword
	Number
	String
	Symbol
)

// A Token is a part of a text that is being typed.
type Token struct {
	Kind       Kind
	Start, End int // bytes
	// Open is set if the end of a string or long comment is missing.
	Open bool
}

// Tokens reads a text that is being typed. It never fails: the tokens cover the whole text,
// whatever that is.
func Tokens(text string) []Token {
	var out []Token
	for at := 0; at < len(text); {
		t := next(text, at)
		out = append(out, t)
		at = t.End
	}
	return out
}

// symbols are the signs of more than one character, the longest first.
var symbols = []string{"...", "..", "==", "~=", "<=", ">=", "::"}

// next returns the token that begins at a byte.
func next(text string, at int) Token {
	rest := text[at:]
	switch c := rest[0]; {
	case isSpace(c):
		return Token{Kind: Space, Start: at, End: at + span(rest, isSpace)}
	case letter(c):
		n := span(rest, func(c byte) bool { return letter(c) || digit(c) })
		kind := Name
		if slices.Contains(luadata.Keywords, rest[:n]) {
			kind = Keyword
		}
		return Token{Kind: kind, Start: at, End: at + n}
	case digit(c) || c == '.' && len(rest) > 1 && digit(rest[1]):
		return Token{Kind: Number, Start: at, End: at + number(rest)}
	case c == '"' || c == '\'':
		n, open := quoted(rest)
		return Token{Kind: String, Start: at, End: at + n, Open: open}
	case strings.HasPrefix(rest, "--"):
		n, open := comment(rest)
		return Token{Kind: Comment, Start: at, End: at + n, Open: open}
	case c == '[':
		if n, open := long(rest); n > 0 {
			return Token{Kind: String, Start: at, End: at + n, Open: open}
		}
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			return Token{Kind: Symbol, Start: at, End: at + len(s)}
		}
	}
	return Token{Kind: Symbol, Start: at, End: at + 1}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
func digit(c byte) bool { return c >= '0' && c <= '9' }

// span returns the number of bytes of a class at the beginning of s.
func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// number returns the length of the number that s begins with.
func number(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		switch {
		case digit(c), c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == 'x', c == 'X':
		case c == '.' && !strings.HasPrefix(s[n:], ".."):
		case (c == '+' || c == '-') && n > 0 && (s[n-1] == 'e' || s[n-1] == 'E') && !strings.HasPrefix(strings.ToLower(s), "0x"):
		default:
			return n
		}
		n++
	}
	return n
}

// quoted returns the length of the quoted string at the beginning of s. The string ends at the end
// of its line, unless the line break is escaped.
func quoted(s string) (n int, open bool) {
	for n = 1; n < len(s); n++ {
		switch s[n] {
		case '\\':
			n++
		case '\n':
			return n, true
		case s[0]:
			return n + 1, false
		}
	}
	return len(s), true
}

// comment returns the length of the comment that s begins with.
func comment(s string) (n int, open bool) {
	if n, open := long(s[2:]); n > 0 {
		return n + 2, open
	}
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n, false
	}
	return len(s), false
}

// long returns the length of the text in long brackets at the beginning of s, 0 if there is none.
func long(s string) (n int, open bool) {
	if !strings.HasPrefix(s, "[") {
		return 0, false
	}
	level := span(s[1:], func(c byte) bool { return c == '=' })
	if len(s) < level+2 || s[level+1] != '[' {
		return 0, false
	}
	closing := "]" + s[1:level+1] + "]"
	if end := strings.Index(s[level+2:], closing); end >= 0 {
		return level + 2 + end + len(closing), false
	}
	return len(s), true
}
