package luaapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
)

// A syntaxError is a mistake in the syntax of a text.
type syntaxError struct {
	text string
	// unfinished is set if more text could make the text valid.
	unfinished bool
}

// Error returns the wanted and the found token.
func (e *syntaxError) Error() string { return e.text }

// syntaxMistake returns the mistake for a text that the parser refused with err. The parser names
// only the token at which it failed. So a [checker] parses the text again and tells what the
// grammar wants.
func syntaxMistake(file, text string, err error) *diag.Error {
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
	e := &diag.Error{Pos: diag.Pos{File: file}, Err: &syntaxError{text: "syntax error"}}
	if p := refused; p != nil {
		e.Err = &syntaxError{text: fmt.Sprintf("%s near %q", strings.TrimSpace(p.Message), p.Token), unfinished: p.Pos.Line == parse.EOF}
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
	var tokens []token
	r := newTokenReader(text)
	var number token
	left := checkedTokens // number of further tokens to keep; those of a large text take much memory
	for {
		t, err := r.read()
		if err != nil {
			return lexicalMistake(file, text, t, err)
		}
		if t.typ == parse.EOF {
			break
		}
		if number.len > 0 && t.line == number.line && t.col == number.col+number.len && wordLike(t) {
			return &diag.Error{Pos: diag.Pos{Line: number.line, Col: number.col, Len: number.len + t.len},
				Err: &syntaxError{text: fmt.Sprintf("malformed number near %q", number.text+t.text)}}
		}
		if number = (token{}); t.typ == parse.TNumber {
			number = t
		}
		if p != nil && p.Pos.Line > 0 && t.line > p.Pos.Line {
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
	tokens, _ = tokenize(text)
	return (&checker{tokens: tokens}).check()
}

// wordLike reports whether a token right behind a number would be part of it.
func wordLike(t token) bool { return t.typ == parse.TNumber || t.typ == parse.TIdent || t.keyword() }

// lexicalMistake returns the mistake for a token that cannot be read.
func lexicalMistake(file, text string, t token, err error) *diag.Error {
	e := &diag.Error{Pos: diag.Pos{File: file, Line: t.line, Col: t.col, Len: 1}}
	p, _ := errors.AsType[*parse.Error](err)
	message := func(unfinished bool, format string, args ...any) {
		e.Err = &syntaxError{text: fmt.Sprintf(format, args...), unfinished: unfinished}
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
func closing(text string, t token) string {
	line := sourceLine(text, t.line)
	level := 0
	for _, c := range line[min(len(line), t.col-1):] {
		if c == '=' {
			level++
		} else if level > 0 {
			break
		}
	}
	return "]" + strings.Repeat("=", level) + "]"
}

// charAt returns the character at t.
func charAt(text string, t token) string {
	line := sourceLine(text, t.line)
	if t.col < 1 || t.col > len(line) {
		return ""
	}
	for _, r := range line[t.col-1:] {
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
