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
	// unfinished is set if the text is the beginning of something: more of it
	// could make it right.
	unfinished bool
}

// Error returns the wanted and the found token.
func (e *syntaxError) Error() string { return e.text }

// syntaxMistake returns the mistake for a text that the parser refused with
// err. The parser names only the token at which it failed, so a [checker] parses
// the text again and names what the grammar wants.
func syntaxMistake(file, text string, err error) *diag.Error {
	if e, ok := errors.AsType[*diag.Error](err); ok {
		e.Pos.File = file
		return e
	}
	tokens, lexical := tokenize(text)
	if lexical != nil {
		return lexicalMistake(file, text, tokens[len(tokens)-1], lexical)
	}
	c := checker{tokens: tokens}
	if m := c.check(); m != nil {
		m.Pos.File = file
		return m
	}
	// The checker found no mistake: use the message of the parser.
	e := &diag.Error{Pos: diag.Pos{File: file}, Err: &syntaxError{text: "syntax error"}}
	if p, ok := errors.AsType[*parse.Error](err); ok {
		e.Err = &syntaxError{text: fmt.Sprintf("%s near %q", strings.TrimSpace(p.Message), p.Token), unfinished: p.Pos.Line == parse.EOF}
		if p.Pos.Line > 0 {
			e.Pos.Line, e.Pos.Col = p.Pos.Line, p.Pos.Column
		}
	}
	return e
}

// lexicalMistake is about a token that cannot be read.
func lexicalMistake(file, text string, t token, err error) *diag.Error {
	e := &diag.Error{Pos: diag.Pos{File: file, Line: t.line, Col: t.col, Len: 1}}
	p, _ := errors.AsType[*parse.Error](err)
	message := func(unfinished bool, format string, args ...any) {
		e.Err = &syntaxError{text: fmt.Sprintf(format, args...), unfinished: unfinished}
	}
	switch p.Message {
	case "unterminated string":
		message(false, "want a quote to end the string that begins here")
	case "unterminated multiline string":
		message(true, "want %s to end the long string that begins here", closing(text, t))
	case "invalid multiline comment":
		message(true, "want %s to end the comment that begins here", closing(text, t))
	case "invalid multiline string":
		message(false, "want [[ or [=[ to begin a long string")
	case "illegal hexadecimal number":
		message(false, "want digits after 0x")
	default:
		ch := charAt(text, t)
		message(false, "unexpected %q", ch)
		switch ch {
		case "~", "!":
			e.Hint = "not equal is written ~=, and negation not"
		case "&":
			e.Hint = "write and"
		case "|":
			e.Hint = "write or"
		case "“", "”", "‘", "’", "„", "«", "»":
			e.Hint = `strings stand in plain quotes: "..."`
		}
	}
	return e
}

// closing returns the brackets that end the long string or comment at t.
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
