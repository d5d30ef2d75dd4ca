// Package diag is about mistakes in what the user wrote: errors with a position in a text. A message has what was
// wanted, what was found and where, in one form for all front ends:
//
//	site.lua:2:3: file#/etc/motd: unknown property "mdoe" (did you mean "mode"?)
//	  2 |   mdoe = "0644",
//	    |   ^^^^
//
// Begin with [Error], collect with [List], print with [Render].
package diag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Pos is a position in a script or a manifest. The zero Pos is unknown.
type Pos struct {
	File string
	// Line and Col count from 1; 0 means unknown. Col counts bytes.
	Line, Col int
	// Len is the length of the part of the line that is meant, in bytes; 0 if unknown.
	Len int
}

// IsZero reports whether the position is unknown.
func (p Pos) IsZero() bool { return p == Pos{} }

// String returns file:line:col without the unknown parts.
func (p Pos) String() string {
	switch {
	case p.File == "":
		return "-"
	case p.Line <= 0:
		return p.File
	case p.Col > 0:
		return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
	default:
		return p.File + ":" + strconv.Itoa(p.Line)
	}
}

// Compare orders positions by file, line and column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// A Note is a second position that belongs to an error, such as another declaration, or the call on the way there.
type Note struct {
	Pos  Pos
	Text string // "declared here", "called from here"
}

// An Error is a mistake in a text of the user.
type Error struct {
	Pos     Pos
	Subject string // the resource, as type#name, or ""
	Err     error  // what was wanted and what was found
	Hint    string // advice, or ""
	Notes   []Note
}

// Error returns the message on one line, and its notes on further lines.
func (e *Error) Error() string {
	var b strings.Builder
	if !e.Pos.IsZero() {
		b.WriteString(e.Pos.String())
		b.WriteString(": ")
	}
	b.WriteString(e.Message())
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "\n  %s: %s", n.Pos, n.Text)
	}
	return b.String()
}

// Message returns the message without its position: subject, error and hint.
func (e *Error) Message() string {
	var b strings.Builder
	if e.Subject != "" {
		b.WriteString(e.Subject)
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	if e.Hint != "" {
		b.WriteString(" (")
		b.WriteString(e.Hint)
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap returns the error without its position.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error at a position. It keeps the hint of an error among args.
func Errorf(pos Pos, format string, args ...any) *Error { return At(pos, fmt.Errorf(format, args...)) }

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// About prefixes an error with the name of its subject, unless it is an [Error], which has one already.
func About(name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// HintOf returns the result of the method Hint of an error or of one that it wraps, "" if there is none.
func HintOf(err error) string {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return h.Hint()
	}
	return ""
}

// A List is several mistakes, in the order in which they were found.
type List []*Error

// Add adds an error: all mistakes of a List or of joined errors, any other error as a mistake without a position. Nil
// adds nothing.
func (l *List) Add(err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			l.Add(e)
		}
		return
	}
	if list, ok := errors.AsType[List](err); ok {
		*l = append(*l, list...)
		return
	}
	if e, ok := errors.AsType[*Error](err); ok {
		*l = append(*l, e.within(err))
		return
	}
	*l = append(*l, &Error{Err: err})
}

// within returns e with the text that a wrapping error puts around its message, such as a file name.
func (e *Error) within(outer error) *Error {
	before, after, ok := strings.Cut(outer.Error(), e.Error())
	if !ok || before == "" && after == "" {
		return e
	}
	all := *e
	message := e.Err.Error()
	if e.Subject != "" {
		message = e.Subject + ": " + message
	}
	all.Subject, all.Err = "", &messageError{before + message + after, e.Err}
	return &all
}

// messageError is an error with another text.
type messageError struct {
	text string
	err  error
}

func (w *messageError) Error() string { return w.text }

func (w *messageError) Unwrap() error { return w.err }

// Err returns nil for an empty list, else the list sorted by position, without repetitions.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(a, b *Error) int { return a.Pos.Compare(b.Pos) })
	return List(slices.CompactFunc(sorted, func(a, b *Error) bool {
		return a.Pos == b.Pos && a.Message() == b.Message()
	}))
}

// Error returns the messages, one a line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes.
func (l List) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}
