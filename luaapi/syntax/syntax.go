// Package syntax reads Lua without running it: tokens, the syntax tree with the places of its nodes, and the mistakes
// in a text. The interpreter, lint and the editor of Studio share it.
package syntax

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Error is a mistake in the syntax of a text.
type Error struct {
	Text string
	// Unfinished is set if more text could make the text valid.
	Unfinished bool
}

// Error returns the wanted and the found token.
func (e *Error) Error() string { return e.Text }

// Mistake returns the mistake for a text that the parser refused with err. The parser names
// only the token at which it failed. So a [checker] parses the text again to find what the
// grammar wants.
func Mistake(file, text string, err error) *diag.Error {
	if e, ok := errors.AsType[*diag.Error](err); ok {
		e.Pos.File = file
		return e
	}
	refused, _ := errors.AsType[*parse.Error](err)
	if m := checkTokens(file, text, refused); m != nil {
		m.Pos.File = file
		return m
	}
	// The checker found no mistake: use the message of the parser.
	e := &diag.Error{Pos: diag.Pos{File: file}, Err: &Error{Text: "syntax error"}}
	if p := refused; p != nil {
		e.Err = &Error{Text: fmt.Sprintf("%s near %q", strings.TrimSpace(p.Message), p.Token), Unfinished: p.Pos.Line == parse.EOF}
		if p.Pos.Line > 0 {
			e.Pos.Line, e.Pos.Col = p.Pos.Line, p.Pos.Column
		}
	}
	return e
}

// checkedTokens is the number of tokens after the refused one that are checked at first.
const checkedTokens = 1000

// checkTokens returns the mistake in the tokens of text, nil if it finds none. The parser refused
// the text at p, which may be nil. A token that cannot be read comes first, wherever it is.
func checkTokens(file, text string, p *parse.Error) *diag.Error {
	var tokens []Token
	r := NewTokenReader(text)
	var number Token
	left := checkedTokens // number of further tokens to keep; those of a large text take much memory
	for {
		t, err := r.Read()
		if err != nil {
			return lexicalMistake(file, text, t, err)
		}
		if t.Typ == parse.EOF {
			break
		}
		if number.len > 0 && t.Line == number.Line && t.Col == number.Col+number.len && wordLike(t) {
			return &diag.Error{Pos: diag.Pos{Line: number.Line, Col: number.Col, Len: number.len + t.len},
				Err: &Error{Text: fmt.Sprintf("malformed number near %q", number.text+t.text)}}
		}
		if number = (Token{}); t.Typ == parse.TNumber {
			number = t
		}
		if p != nil && p.Pos.Line > 0 && t.Line > p.Pos.Line {
			left--
		}
		if left > 0 {
			tokens = append(tokens, t)
		}
	}
	c := checker{tokens: tokens}
	m := c.check()
	if left > 0 || m != nil && c.at < len(tokens) {
		return m
	}
	tokens, _ = Tokenize(text)
	return (&checker{tokens: tokens}).check()
}

// wordLike reports whether a token right behind a number would be part of it.
func wordLike(t Token) bool { return t.Typ == parse.TNumber || t.Typ == parse.TIdent || t.keyword() }

// lexicalMistake returns the mistake for a token that cannot be read.
func lexicalMistake(file, text string, t Token, err error) *diag.Error {
	e := &diag.Error{Pos: diag.Pos{File: file, Line: t.Line, Col: t.Col, Len: 1}}
	p, _ := errors.AsType[*parse.Error](err)
	message := func(unfinished bool, format string, args ...any) {
		e.Err = &Error{Text: fmt.Sprintf(format, args...), Unfinished: unfinished}
	}
	switch p.Message {
	case "unterminated string":
		message(false, "%v", diag.Expected("a quote to end the string that begins here"))
	case "unterminated multiline string":
		message(true, "%v", diag.Expected("%s to end the long string that begins here", closing(text, t)))
	case "invalid multiline comment":
		message(true, "%v", diag.Expected("%s to end the comment that begins here", closing(text, t)))
	case "invalid multiline string":
		message(false, "%v", diag.Expected("[[ or [=[ to begin a long string"))
	case "illegal hexadecimal number":
		message(false, "%v", diag.Expected("digits after 0x"))
	default:
		ch := charAt(text, t)
		message(false, "unexpected %q", ch)
		switch ch {
		case "~", "!":
			e.Hint = "use ~= for not equal, and not for negation"
		case "&":
			e.Hint = "use and"
		case "|":
			e.Hint = "use or"
		case "“", "”", "‘", "’", "„", "«", "»":
			e.Hint = `use plain quotes for strings: "..."`
		}
	}
	return e
}

// closing returns the closing brackets of the long string or comment at t.
func closing(text string, t Token) string {
	line := sourceLine(text, t.Line)
	level := 0
	for _, c := range line[min(len(line), t.Col-1):] {
		if c == '=' {
			level++
		} else if level > 0 {
			break
		}
	}
	return "]" + strings.Repeat("=", level) + "]"
}

// charAt returns the character at t.
func charAt(text string, t Token) string {
	line := sourceLine(text, t.Line)
	if t.Col < 1 || t.Col > len(line) {
		return ""
	}
	for _, r := range line[t.Col-1:] {
		return string(r)
	}
	return ""
}

// sourceLine returns line n of text, from 1, or "".
func sourceLine(text string, n int) string {
	for line := range strings.SplitSeq(text, "\n") {
		if n--; n == 0 {
			return line
		}
	}
	return ""
}
