package tabletext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// Kinds of tokens. The kind of a single character is that character, and 0 is the end.
const (
	nameToken   = 'a'
	numberToken = '0'
	stringToken = '"'
)

// A token is one word of a script. Names, numbers and strings have their value.
type token struct {
	kind     byte
	value    string
	from, to int
}

type lexer struct {
	text string
	at   int
}

func (lx *lexer) line(at int) int { return strings.Count(lx.text[:at], "\n") + 1 }

// next returns the next token.
func (lx *lexer) next() (token, error) {
	for lx.at < len(lx.text) {
		c := lx.text[lx.at]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
			lx.at++
		case strings.HasPrefix(lx.text[lx.at:], "--"):
			lx.comment()
		case c == '"' || c == '\'':
			return lx.quoted(c)
		case c == '[':
			if level, ok := lx.longLevel(); ok {
				return lx.long(level)
			}
			return lx.single(), nil
		case isLetter(c):
			from := lx.at
			for lx.at < len(lx.text) && (isLetter(lx.text[lx.at]) || isDigit(lx.text[lx.at])) {
				lx.at++
			}
			return token{nameToken, lx.text[from:lx.at], from, lx.at}, nil
		case isDigit(c):
			from := lx.at
			for lx.at < len(lx.text) && (isLetter(lx.text[lx.at]) || isDigit(lx.text[lx.at]) || lx.text[lx.at] == '.') {
				lx.at++
			}
			return token{numberToken, lx.text[from:lx.at], from, lx.at}, nil
		case strings.HasPrefix(lx.text[lx.at:], "=="):
			from := lx.at
			lx.at += 2
			return token{'~', "==", from, lx.at}, nil
		default:
			return lx.single(), nil
		}
	}
	return token{}, nil
}

// single returns a character as a token. It differs from every name, number and string.
func (lx *lexer) single() token {
	t := token{lx.text[lx.at], "", lx.at, lx.at + 1}
	lx.at++
	return t
}

func (lx *lexer) comment() {
	lx.at += 2
	if level, ok := lx.longLevel(); ok {
		if _, err := lx.long(level); err != nil {
			lx.at = len(lx.text)
		}
		return
	}
	if n := strings.IndexByte(lx.text[lx.at:], '\n'); n >= 0 {
		lx.at += n
		return
	}
	lx.at = len(lx.text)
}

// longLevel reports whether a long bracket opens here, and the number of its =.
func (lx *lexer) longLevel() (level int, ok bool) {
	if lx.at >= len(lx.text) || lx.text[lx.at] != '[' {
		return 0, false
	}
	i := lx.at + 1
	for i < len(lx.text) && lx.text[i] == '=' {
		i++
	}
	return i - lx.at - 1, i < len(lx.text) && lx.text[i] == '['
}

func (lx *lexer) long(level int) (token, error) {
	from := lx.at
	begin := from + level + 2
	n := strings.Index(lx.text[begin:], "]"+strings.Repeat("=", level)+"]")
	if n < 0 {
		return token{}, fmt.Errorf("line %d: %w", lx.line(from), diag.Unterminated("long string"))
	}
	lx.at = begin + n + level + 2
	value := lx.text[begin : begin+n]
	if rest, ok := strings.CutPrefix(value, "\r\n"); ok {
		value = rest
	} else {
		value = strings.TrimPrefix(value, "\n")
	}
	return token{stringToken, value, from, lx.at}, nil
}

var errQuote = diag.Unterminated("string")

func (lx *lexer) quoted(quote byte) (token, error) {
	from := lx.at
	var b strings.Builder
	for i := from + 1; i < len(lx.text); i++ {
		switch c := lx.text[i]; c {
		case quote:
			lx.at = i + 1
			return token{stringToken, b.String(), from, lx.at}, nil
		case '\n':
			return token{}, fmt.Errorf("line %d: %w", lx.line(from), errQuote)
		case '\\':
			if i++; i == len(lx.text) {
				continue
			}
			i += lx.escape(&b, i)
		default:
			b.WriteByte(c)
		}
	}
	return token{}, fmt.Errorf("line %d: %w", lx.line(from), errQuote)
}

// escape writes the character of the escape at i, and returns the length of the escape minus one.
func (lx *lexer) escape(b *strings.Builder, i int) int {
	c := lx.text[i]
	if at := strings.IndexByte("abfnrtv", c); at >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v"[at])
		return 0
	}
	if !isDigit(c) {
		b.WriteByte(c)
		return 0
	}
	n := 1
	for n < 3 && i+n < len(lx.text) && isDigit(lx.text[i+n]) {
		n++
	}
	v, _ := strconv.Atoi(lx.text[i : i+n])
	b.WriteByte(byte(v))
	return n - 1
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
