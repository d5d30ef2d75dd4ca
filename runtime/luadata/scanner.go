package luadata

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// A tokenKind is the kind of a token.
type tokenKind int

const (
	end tokenKind = iota
	name
	text
	number
	sign
)

// A scanner splits a text into tokens.
type scanner struct {
	doc *Document
	at  int // the next byte

	// The current token.
	kind       tokenKind
	text       string // a name, a string without its quotes, or punctuation
	number     float64
	start, end int
}

// mistake returns an error at the current token.
func (s *scanner) mistake(format string, args ...any) *diag.Error {
	return diag.Errorf(s.doc.Pos(s.start, s.end), format, args...)
}

// next reads the next token.
func (s *scanner) next() error {
	if err := s.skip(); err != nil {
		return err
	}
	all := s.doc.Text
	s.start, s.end = s.at, s.at
	if s.at == len(all) {
		s.kind, s.text = end, ""
		return nil
	}
	switch c := all[s.at]; {
	case isLetter(c):
		s.take(name, func(c byte) bool { return isLetter(c) || isDigit(c) })
	case c == '"' || c == '\'':
		return s.quoted(c)
	case c == '[' && longLevel(all[s.at:]) >= 0:
		inner, err := s.long()
		s.kind, s.text, s.end = text, inner, s.at
		return err
	case isDigit(c), c == '-' && s.at+1 < len(all) && isDigit(all[s.at+1]):
		s.take(number, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' })
		n, err := strconv.ParseFloat(s.text, 64)
		if err != nil || strings.ContainsAny(s.text, "_pP") {
			return s.mistake("%s is not a number", words.Shorten(s.text, 43))
		}
		s.number = n
	default:
		_, size := utf8.DecodeRuneInString(all[s.at:])
		s.at += size
		s.kind, s.text, s.end = sign, all[s.start:s.at], s.at
	}
	return nil
}

// take makes a token of the first byte and those after it that belong to it.
func (s *scanner) take(kind tokenKind, belongs func(byte) bool) {
	for s.at++; s.at < len(s.doc.Text) && belongs(s.doc.Text[s.at]); s.at++ {
	}
	s.kind, s.text, s.end = kind, s.doc.Text[s.start:s.at], s.at
}

// skip moves over white space and comments.
func (s *scanner) skip() error {
	for all := s.doc.Text; s.at < len(all); {
		switch {
		case strings.IndexByte(" \t\r\n\v\f", all[s.at]) >= 0:
			s.at++
		case strings.HasPrefix(all[s.at:], "--"):
			s.start, s.end = s.at, s.at+2
			s.at += 2
			if longLevel(all[s.at:]) >= 0 {
				if _, err := s.long(); err != nil {
					return err
				}
				continue
			}
			if nl := strings.IndexByte(all[s.at:], '\n'); nl >= 0 {
				s.at += nl
			} else {
				s.at = len(all)
			}
		default:
			return nil
		}
	}
	return nil
}

// longLevel returns the number of equals signs in the long bracket at the start of a text, -1 if there is no long
// bracket.
func longLevel(t string) int {
	if !strings.HasPrefix(t, "[") {
		return -1
	}
	level := len(t[1:]) - len(strings.TrimLeft(t[1:], "="))
	if !strings.HasPrefix(t[1+level:], "[") {
		return -1
	}
	return level
}

// long returns the text in long brackets, and moves behind them.
func (s *scanner) long() (string, error) {
	all := s.doc.Text
	level := longLevel(all[s.at:])
	inner := all[s.at+level+2:]
	closing := "]" + strings.Repeat("=", level) + "]"
	i := strings.Index(inner, closing)
	if i < 0 {
		return "", s.mistake("%s is missing", closing)
	}
	s.at += level + 2 + i + len(closing)
	inner = strings.TrimPrefix(inner[:i], "\r")
	return strings.TrimPrefix(inner, "\n"), nil
}

// escapes are the escape sequences of one letter.
var escapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '"': '"', '\'': '\'', '\n': '\n'}

// quoted reads a quoted string.
func (s *scanner) quoted(quote byte) error {
	all := s.doc.Text
	var b strings.Builder
	for s.at++; s.at < len(all); s.at++ {
		switch c := all[s.at]; {
		case c == quote:
			s.at++
			s.kind, s.text, s.end = text, b.String(), s.at
			return nil
		case c == '\n':
			s.end = s.at
			return s.mistake("unterminated string in this line")
		case c == '\\' && s.at+1 < len(all):
			s.at++
			if err := s.escape(&b); err != nil {
				return err
			}
		default:
			b.WriteByte(c)
		}
	}
	s.end = len(all)
	return s.mistake("unterminated string")
}

// escape reads the escape sequence behind a backslash, up to its last byte.
func (s *scanner) escape(b *strings.Builder) error {
	all := s.doc.Text
	if plain, ok := escapes[all[s.at]]; ok {
		b.WriteByte(plain)
		return nil
	}
	digits := 0
	for digits < 3 && s.at+digits < len(all) && isDigit(all[s.at+digits]) {
		digits++
	}
	code, err := strconv.ParseUint(all[s.at:s.at+digits], 10, 8)
	if err != nil {
		_, size := utf8.DecodeRuneInString(all[s.at:])
		s.start, s.end = s.at-1, s.at+max(size, digits)
		return s.mistake("unknown token %s", all[s.start:s.end])
	}
	b.WriteByte(byte(code))
	s.at += digits - 1
	return nil
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Quote returns a text as a string literal of Lua 5.1 on one line (Reference Manual, section 2.1).
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c == 0x7f:
			b.WriteString(`\` + strconv.Itoa(1000 + int(c))[1:])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
