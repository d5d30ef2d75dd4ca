package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
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

// None returns the message "no recipients in a.yaml", about things of which there are none.
func None(format string, args ...any) error { return fmt.Errorf("no "+format, args...) }

// OfKind returns the message "a.txt is a symbolic link", about something of a kind that cannot be used there. The kind
// has its article. The subject is "" if it is before the message: "is a symbolic link".
func OfKind(subject, kind string, args ...any) error { return about(subject, "is ", "is ", kind, args) }

// Contains returns the message "address contains a password", about something that must not be in it. The subject is
// "" if it is before the message.
func Contains(subject, format string, args ...any) error {
	return about(subject, "contains ", "contains ", format, args)
}

// Mismatch returns the message "signature does not match the content".
func Mismatch(subject, format string, args ...any) error {
	return about(subject, "does not match ", "does not match ", format, args)
}

// Too returns the message "the pattern is too complex". The subject is "" if it is before the message: "too long".
func Too(subject, format string, args ...any) error {
	return about(subject, "is too ", "too ", format, args)
}

// AppliesOnly returns the message "--user applies only to services". The subject is "" if it is before the message.
func AppliesOnly(subject, format string, args ...any) error {
	return about(subject, "applies only to ", "applies only to ", format, args)
}

// ProgramNotFound returns the message "git not found", about a program that is not installed.
func ProgramNotFound(format string, args ...any) error {
	return fmt.Errorf(format+" not found", args...)
}

// OthersCanRead returns a message about a file with a secret whose mode lets other users read it, such as "this private
// key", and what to do.
func OthersCanRead(what string, mode fs.FileMode) error {
	return fmt.Errorf("others can read %s (mode %04o); run chmod 600, and replace it if others may have read it", what, mode.Perm())
}

// Unexpected returns the message "unexpected data at its end".
func Unexpected(format string, args ...any) error { return fmt.Errorf("unexpected "+format, args...) }

// TooMany returns the message "too many local variables".
func TooMany(format string, args ...any) error { return fmt.Errorf("too many "+format, args...) }

// Not returns the message "a.txt is not a directory". The subject is "" if it is before the message: "not a directory".
func Not(subject, format string, args ...any) error {
	return about(subject, "is not ", "not ", format, args)
}

// Missing returns the message "a.txt does not exist". The place is "" or where it was looked for. The
// subject is "" if it is before the message: "does not exist in v2".
func Missing(subject, place string, args ...any) error {
	return about(subject, "does not exist", "does not exist", spaced(place), args)
}

// Exists returns the message "a.txt already exists". The detail is "" or which: "already exists with other content".
func Exists(subject, detail string, args ...any) error {
	return fmt.Errorf("%s already exists"+spaced(detail), append([]any{subject}, args...)...)
}

// Gone returns the message "bundle 3 no longer exists".
func Gone(subject string) error { return errors.New(subject + " no longer exists") }

// InUse returns the message "a.txt is in use by another process". The subject is "" if it is before the message.
func InUse(subject, user string) error {
	return about(subject, "is in use by ", "in use by ", "%s", []any{user})
}

// Already returns the message "node1 is already revoked".
func Already(subject, format string, args ...any) error {
	return about(subject, "is already ", "is already ", format, args)
}

// Duplicate returns the message `duplicate key "a"`.
func Duplicate(format string, args ...any) error { return fmt.Errorf("duplicate "+format, args...) }

// Requires returns the message "--out requires --output json". The subject is "" if it is before the message.
func Requires(subject, format string, args ...any) error {
	return about(subject, "requires ", "requires ", format, args)
}

// Exceeds returns the message "text exceeds the limit of 16 MiB". The subject is "" if it is before the message.
func Exceeds(subject, format string, args ...any) error {
	return about(subject, "exceeds the limit of ", "exceeds the limit of ", format, args)
}

// Exceeded returns the message "run exceeded the time limit of 1s".
func Exceeded(subject, kind, limit string) error {
	return fmt.Errorf("%s exceeded the %s limit of %s", subject, kind, limit)
}

// Cannot returns the message "cannot lock the file: permission denied", or without a reason "cannot lock the file".
func Cannot(verb, object string, reason error) error {
	return because("cannot "+verb+" "+object, reason)
}

// SubjectCannot returns the message "a job cannot span environments".
func SubjectCannot(subject, format string, args ...any) error {
	return about(subject, "cannot ", "cannot ", format, args)
}

// Damaged returns the message "backup is damaged: unexpected EOF", or without a reason "backup is damaged".
func Damaged(subject string, reason error) error { return because(subject+" is damaged", reason) }

// Truncated returns the message "archive is truncated".
func Truncated(subject string) error { return errors.New(subject + " is truncated") }

// Empty returns the message "archive is empty".
func Empty(subject string) error { return errors.New(subject + " is empty") }

// Invalid returns the message "invalid condition: unexpected token", or without a reason "invalid condition".
func Invalid(subject string, reason error) error { return because("invalid "+subject, reason) }

// Meanwhile returns the message "a.txt was replaced meanwhile", about what another program did to something. The subject
// is "" if it is before the message: "replaced meanwhile".
func Meanwhile(subject, did string) error { return about(subject, "was ", "", did+" meanwhile", nil) }

// OnlyRoot returns the message "only root can change the owner of a.txt".
func OnlyRoot(format string, args ...any) error { return fmt.Errorf("only root can "+format, args...) }

// Lacks returns the message "tag lacks a date".
func Lacks(subject, what string) error { return errors.New(subject + " lacks " + what) }

// Unterminated returns the message "unterminated string", about a text that ends too early.
func Unterminated(format string, args ...any) error {
	return fmt.Errorf("unterminated "+format, args...)
}

// InExpression returns a message of the parser of expressions without its words for tokens: unexpected ")", not
// unexpected token Bracket(")").
func InExpression(message string) error {
	message = strings.TrimSpace(message)
	token, unexpected := strings.CutPrefix(message, "unexpected token ")
	_, text, quoted := strings.Cut(token, "(")
	switch {
	case token == "EOF", message == "unexpected end of expression":
		message = "unexpected end of the expression"
	case message == "literal not terminated":
		return Unterminated("text")
	case unexpected && quoted:
		message = "unexpected " + strings.TrimSuffix(text, ")")
	}
	return errors.New(message)
}

// OtherFormat returns the message "lock file has format 3, but this ccm supports 2".
func OtherFormat(subject string, have, supported int) error {
	return fmt.Errorf("%s has format %d, but this ccm supports %d", subject, have, supported)
}

// OfAnother returns the message "response belongs to another key". The subject is "" if it is before the message.
func OfAnother(subject, kind string) error {
	return about(subject, "belongs to another ", "belongs to another ", kind, nil)
}

// Failed returns the message "evaluation failed: out of memory", or without a reason "evaluation failed".
func Failed(subject string, reason error) error { return because(subject+" failed", reason) }

// ExitStatus returns the message "exit status 1", about a command. Its last output may follow.
func ExitStatus(code int) error { return fmt.Errorf("exit status %d", code) }

// Rejected returns the message "server rejected the credentials".
func Rejected(by, what string) error { return errors.New(by + " rejected " + what) }

// Interrupted returns the message "interrupted while waiting for another run". The detail may be "".
func Interrupted(detail string) error { return errors.New("interrupted" + spaced(detail)) }

// TimedOut returns the message "evaluation timed out after 10s". The subject is "" if it is before the message. The
// limit is a duration, or its text.
func TimedOut(subject string, limit any) error {
	return about(subject, "timed out after ", "timed out after ", "%v", []any{limit})
}

// NoResponse returns the message "no response within 10s". The limit is a duration, or its text.
func NoResponse(limit any) error { return fmt.Errorf("no response within %v", limit) }

// With returns the message "the text exceeds the limit of 16 MiB": a subject and an error that lacks one.
func With(subject string, err error) error { return fmt.Errorf("%s %w", subject, err) }

// about returns a message that begins with its subject and a relation, or with the short relation if the subject is "".
func about(subject, relation, short, format string, args []any) error {
	if subject == "" {
		return fmt.Errorf(short+format, args...)
	}
	return fmt.Errorf("%s "+relation+format, append([]any{subject}, args...)...)
}

// spaced returns a detail with a blank before it, "" if there is none.
func spaced(detail string) string {
	if detail == "" {
		return ""
	}
	return " " + detail
}

// because adds a reason, which may be nil, to a message.
func because(message string, reason error) error {
	if reason == nil {
		return errors.New(message)
	}
	return fmt.Errorf("%s: %w", message, reason)
}

// At returns an error as a mistake at a position, which may be zero. It keeps the hint of the error.
func At(pos Pos, err error) *Error { return &Error{Pos: pos, Err: err, Hint: HintOf(err)} }
