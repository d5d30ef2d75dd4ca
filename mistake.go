package ccm

import (
	"errors"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/secret"
)

// A Mistake is an error in a script or manifest, with its position.
//
//	var m *ccm.Mistake
//	if errors.As(err, &m) {
//		fmt.Println(m.File, m.Line, m.Message)
//	}
type Mistake struct {
	// File is the script or manifest; "" if the mistake is in none.
	File string
	// Line and Column count from 1, in bytes. 0 is unknown.
	Line, Column int
	// Subject is the resource, as TYPE#NAME; "" if the mistake is in none.
	Subject string
	// Message is what is wrong.
	Message string
	// Hint is advice; "" for none.
	Hint string

	err  *diag.Error
	text string
}

// Error returns the mistake on one line: FILE:LINE:COLUMN: SUBJECT: MESSAGE (HINT). Further positions, such
// as that of another declaration, are on lines of their own.
func (m *Mistake) Error() string { return m.text }

// Unwrap returns the error below the mistake.
func (m *Mistake) Unwrap() error { return m.err }

// Mistakes returns all mistakes in an error, in order of their positions. It is nil if there are none.
func Mistakes(err error) []*Mistake {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []*Mistake
		for _, e := range joined.Unwrap() {
			list = append(list, Mistakes(e)...)
		}
		return list
	}
	if m, ok := errors.AsType[*Mistake](err); ok {
		return []*Mistake{m}
	}
	return nil
}

func mistake(d *diag.Error, secrets *secret.Keeper) *Mistake {
	return &Mistake{
		File: d.Pos.File, Line: d.Pos.Line, Column: d.Pos.Col, Subject: d.Subject,
		Message: secrets.Redact(d.Err.Error()), Hint: secrets.Redact(d.Hint), err: d, text: secrets.Redact(d.Error()),
	}
}

// placed returns err with each [diag.Error] in it as a [Mistake].
func placed(err error, secrets *secret.Keeper) error {
	if _, ok := errors.AsType[*diag.Error](err); !ok {
		if text := secrets.Redact(err.Error()); text != err.Error() {
			return &redactedError{text, err}
		}
		return err
	}
	var list diag.List
	list.Add(err)
	if len(list) == 1 {
		return mistake(list[0], secrets)
	}
	errs := make([]error, len(list))
	for i, d := range list {
		errs[i] = mistake(d, secrets)
	}
	return errors.Join(errs...)
}

// A redactedError is an error without the secrets in its text.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Unwrap() error { return e.err }
