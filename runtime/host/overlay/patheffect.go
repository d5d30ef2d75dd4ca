package overlay

import (
	"errors"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A PathEffect is what a plan assumes to stand at a path after something earlier
// in the order has been done. Where something will stand, so will the
// directories above it.
type PathEffect struct {
	Path string
	// OfSystem says that the path is one of the operating system, as commands name them, and not
	// of the machine, which may be a directory.
	OfSystem bool
	Kind     safepath.FileKind
	// Content is what a file will hold; nil if nobody knows, or Source or Kept is
	// set.
	Content *string
	// Source is the file of the user whose content it will hold (see [View.OpenSource]).
	Source string
	// Kept says that a file holds what it did.
	Kept bool
	// Attr is its owner, group and mode; nil if they are not known, or stay.
	Attr *safepath.Attr
	// Target is where a symbolic link will point.
	Target string
	// Vague says that something will stand there, and Kind is not known.
	Vague bool
	// Unsure says that nobody knows whether anything will stand there, or below.
	Unsure bool
	// Open says that nobody knows what will be in a directory.
	Open bool
	// Account is a user or group that there will be, or that is removed; nothing is said of a
	// path then.
	Account *Account
}

// An Account is a user or a group.
type Account struct {
	Kind LookKind // UserLook or GroupLook
	Name string
	ID   uint32 // NoAccount if it is not known
	// Absent says that it is removed.
	Absent bool
	// Unsure says that it may be removed.
	Unsure bool
	// Members are users that are put into a group besides those that are in it.
	Members []string
}

// NoAccount is the number of a user or group that is not there yet.
const NoAccount = 1<<32 - 2

// ErrNotKnown means that nobody knows yet what a look will find: in a plan,
// something earlier in the order is going to bring or change it.
var ErrNotKnown = errors.New("what it will hold is not known before it is written")

// A NotKnownError is an [ErrNotKnown] about one path.
type NotKnownError struct {
	Path string
	By   any // that brings it, as Assume was told
}

// Error names the path.
func (e *NotKnownError) Error() string { return e.Path + ": " + ErrNotKnown.Error() }

// Unwrap returns ErrNotKnown.
func (e *NotKnownError) Unwrap() error { return ErrNotKnown }
