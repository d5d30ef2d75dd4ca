// Package diag gives errors a place in the text that they complain about.
//
// A message says what was wanted, what was found and where, in one form for
// every front end:
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

// A Pos is a place in a script or a manifest. The zero Pos is "nowhere".
type Pos struct {
	File string
	// Line and Col count from 1; 0 means unknown. Col counts bytes.
	Line, Col int
	// Len is how many bytes of the line are meant, 0 if that is not known.
	Len int
}

// IsZero reports whether p is nowhere.
func (p Pos) IsZero() bool { return p == Pos{} }

// String formats p as file:line:col and leaves out what is not known.
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

// A Note is a second place that belongs to an error: where the other
// declaration stands, or the call that led there.
type Note struct {
	Pos  Pos
	Text string // "declared here", "called from here"
}

// An Error is a mistake in something that the user wrote.
type Error struct {
	Pos     Pos
	Subject string // the resource that it is about, as type#name, or ""
	Err     error  // what was wanted and what was found
	Hint    string // what to do about it, or ""
	Notes   []Note
}

// Error returns the message on one line, its notes on lines of their own.
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

// Message returns the message without its place: subject, error and hint.
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

// Unwrap returns the error without its place.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error at pos.
func Errorf(pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Err: fmt.Errorf(format, args...)}
}

// WithHint sets the advice of e and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// About puts the name of what an error is about before its message, unless it is an [Error], which names it.
func About(name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// HintOf returns the advice that an error has in a method Hint, "" if it has none.
func HintOf(err error) string {
	if h, ok := err.(interface{ Hint() string }); ok {
		return h.Hint()
	}
	return ""
}

// A List is several mistakes, in the order they were found.
type List []*Error

// Add adds err: all the mistakes in it if it is a List or joined, and one
// without a place if it is any other error. Nil adds nothing.
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

// within returns e with what an error that wraps it says around its message: the file, for example.
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
	all.Subject, all.Err = "", &wrapped{before + message + after, e.Err}
	return &all
}

// wrapped is an error with other words.
type wrapped struct {
	text string
	err  error
}

// Error returns the words.
func (w *wrapped) Error() string { return w.text }

// Unwrap returns the error.
func (w *wrapped) Unwrap() error { return w.err }

// Err returns nil if there are no mistakes, and otherwise l sorted by place,
// with repetitions left out.
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
