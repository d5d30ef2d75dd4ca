package diag

import (
	"errors"
	"fmt"
)

// This file has the messages of the kinds that recur everywhere, so that their words stand in one place. A name or a
// place is put before them in the usual way: fmt.Errorf("%s: %w", name, diag.Expected("a list").Got("%s", v)).

// An Expectation is a mistake: what was expected. [Expectation.Got] and [Expectation.Found] add what was there instead.
type Expectation struct {
	relation string
	want     error
}

// Expected returns the message "expected a list". The format describes a value or a state, as for [fmt.Errorf].
func Expected(format string, args ...any) Expectation {
	return Expectation{"expected ", fmt.Errorf(format, args...)}
}

// MustBe returns the message "must be at least 1", about a value that is out of range. The name of the value goes
// before it.
func MustBe(format string, args ...any) Expectation {
	return Expectation{"must be ", fmt.Errorf(format, args...)}
}

// Error returns the message.
func (x Expectation) Error() string { return x.relation + x.want.Error() }

// Unwrap returns the error that the description wraps with %w, or nil.
func (x Expectation) Unwrap() error { return errors.Unwrap(x.want) }

// Got adds a value that was given: "expected a list, got the number 1".
func (x Expectation) Got(format string, args ...any) error {
	return &contrast{x, ", got ", fmt.Errorf(format, args...)}
}

// Found adds what is on the machine, or in a file: "expected a file, found a directory".
func (x Expectation) Found(format string, args ...any) error {
	return &contrast{x, ", found ", fmt.Errorf(format, args...)}
}

// contrast is an expectation and what was there instead.
type contrast struct {
	expected Expectation
	relation string
	have     error
}

func (c *contrast) Error() string { return c.expected.Error() + c.relation + c.have.Error() }

// Unwrap returns the error that is a part of the message, or nil.
func (c *contrast) Unwrap() error {
	if err := c.expected.Unwrap(); err != nil {
		return err
	}
	return errors.Unwrap(c.have)
}

// Unknown returns the message `unknown property "mdoe"`, about a name in a text of the user. Its [HintOf] is
// `did you mean "mode"?` if one of the known names is near.
func Unknown(kind, name string, known []string) error {
	return &nameError{fmt.Sprintf("unknown %s %q", kind, name), name, known}
}

// NotFound returns the message `no such user "app"`, about something that does not exist, with the hint of [Unknown].
// The name is "" if it is evident: "no such page".
func NotFound(kind, name string, known []string) error {
	if name == "" {
		return errors.New("no such " + kind)
	}
	return &nameError{fmt.Sprintf("no such %s %q", kind, name), name, known}
}

// A nameError is about a name that is none of those that are known.
type nameError struct {
	text, name string
	known      []string
}

func (e *nameError) Error() string { return e.text }

// Hint returns the nearest name, or "".
func (e *nameError) Hint() string { return DidYouMean(e.name, e.known) }

// Required returns the message "source is required". The name is "" if it is before the message already.
func Required(name string) error { return required(name, "") }

// RequiredUnless returns the message "source is required unless ensure is absent".
func RequiredUnless(name, exception string) error { return required(name, " unless "+exception) }

func required(name, exception string) error {
	if name != "" {
		name += " "
	}
	return fmt.Errorf("%sis required%s", name, exception)
}

// Conflicting returns the message "--target and --tags cannot be used together". The first name is "" if it is
// before the message already: "cannot be used together with url".
func Conflicting(name, other string) error {
	if name == "" {
		return fmt.Errorf("cannot be used together with %s", other)
	}
	return fmt.Errorf("%s and %s cannot be used together", name, other)
}

// At returns an error as a mistake at a position, which may be zero. It keeps the hint of the error.
func At(pos Pos, err error) *Error { return &Error{Pos: pos, Err: err, Hint: HintOf(err)} }
