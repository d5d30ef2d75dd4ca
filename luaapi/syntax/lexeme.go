package syntax

import (
	"slices"
	"strings"
)

// Keywords are the reserved words of Lua 5.1 (Reference Manual, section 2.1), and goto of LuaJIT and Lua 5.2, in order.
var Keywords = []string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
	"local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
}

// A Kind is the kind of a lexeme.
type Kind uint8

// The kinds of lexemes.
const (
	Space Kind = iota
	Comment
	Name
	Keyword
	Number
	String
	Symbol
)

// A Lexeme is a part of a text that may be unfinished, such as one that is being typed.
type Lexeme struct {
	Kind       Kind
	Start, End int // bytes
	// Open is set if the end of a string or long comment is missing.
	Open bool
}

// Lexemes reads a text that may be unfinished. It never fails: the lexemes cover the whole text,
// whatever that is.
func Lexemes(text string) []Lexeme {
	var out []Lexeme
	for at := 0; at < len(text); {
		t := lexemeAt(text, at)
		out = append(out, t)
		at = t.End
	}
	return out
}

// symbols are the signs of more than one character, the longest first.
var symbols = []string{"...", "..", "==", "~=", "<=", ">=", "::"}

// lexemeAt returns the lexeme that begins at a byte.
func lexemeAt(text string, at int) Lexeme {
	rest := text[at:]
	switch c := rest[0]; {
	case isSpace(c):
		return Lexeme{Kind: Space, Start: at, End: at + lengthOf(rest, isSpace)}
	case isLetter(c):
		n := lengthOf(rest, func(c byte) bool { return isLetter(c) || isDigit(c) })
		kind := Name
		if slices.Contains(Keywords, rest[:n]) {
			kind = Keyword
		}
		return Lexeme{Kind: kind, Start: at, End: at + n}
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return Lexeme{Kind: Number, Start: at, End: at + numberLength(rest)}
	case c == '"' || c == '\'':
		n, open := typedString(rest)
		return Lexeme{Kind: String, Start: at, End: at + n, Open: open}
	case strings.HasPrefix(rest, "--"):
		if end, _, closed := bracketEnd(text, at+2); end > at+3 {
			return Lexeme{Kind: Comment, Start: at, End: end, Open: !closed}
		}
		return Lexeme{Kind: Comment, Start: at, End: at + lengthOf(rest, func(c byte) bool { return c != '\n' })}
	case c == '[':
		if end, _, closed := bracketEnd(text, at); end > at+1 {
			return Lexeme{Kind: String, Start: at, End: end, Open: !closed}
		}
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			return Lexeme{Kind: Symbol, Start: at, End: at + len(s)}
		}
	}
	return Lexeme{Kind: Symbol, Start: at, End: at + 1}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// lengthOf returns the number of bytes of a class at the beginning of s.
func lengthOf(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// numberLength returns the length of the number that s begins with.
func numberLength(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		switch {
		case isDigit(c), c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == 'x', c == 'X':
		case c == '.' && !strings.HasPrefix(s[n:], ".."):
		case (c == '+' || c == '-') && n > 0 && (s[n-1] == 'e' || s[n-1] == 'E') && !strings.HasPrefix(strings.ToLower(s), "0x"):
		default:
			return n
		}
		n++
	}
	return n
}

// typedString returns the length of the quoted string at the beginning of s. The string ends at the end
// of its line, unless the line break is escaped.
func typedString(s string) (n int, open bool) {
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
