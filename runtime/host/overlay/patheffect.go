package overlay

import (
	"errors"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A PathEffect is what a plan assumes at a path once an earlier resource was converged. If
// something will be there, so will the directories above it.
type PathEffect struct {
	Path string
	// OfSystem is set if the path is one of the operating system, as commands use them. The
	// machine itself may be only a directory below it.
	OfSystem bool
	Kind     safepath.FileKind
	// Content is the content that a file will have. It is nil if unknown, or if Source or Kept is
	// set.
	Content *string
	// Source is the file of the user that will be copied to the path (see [View.OpenSource]).
	Source string
	// Size is the number of bytes that are written at the path and below it; 0 if it is unknown, or
	// that of Content or Source.
	Size int64
	// Kept is set if a file keeps its content.
	Kept bool
	// KeepsHardLinks is set if a file with other names is written in place, so that they keep its
	// content too.
	KeepsHardLinks bool
	// Attr is the owner, group and mode; nil if they are unknown, or stay.
	Attr *safepath.Attr
	// SetsCapabilities is set if the file gets file capabilities or loses them by more than a write.
	SetsCapabilities bool
	// Target is the target of a symbolic link.
	Target string
	// Vague is set if the path will exist with an unknown Kind. With the Kind Regular it is a file or
	// a link, of which nothing else is known.
	Vague bool
	// Unsure is set if nobody knows whether anything will be at the path, or below it.
	Unsure bool
	// Open is set if nobody knows what will be in a directory.
	Open bool
	// Keeps has the entries of a removed directory that no run has made, by their paths relative to
	// it: they stay, unless data may be removed. It is nil if the type does not know them, and not nil
	// but empty if there are none.
	Keeps []string
	// KeepReason is the reason why all of a removed directory stays, unless data may be removed; ""
	// for none.
	KeepReason string
	// Account is a user or group that will exist, or be removed. Then the effect is not about a
	// path.
	Account *Account
}

// Removes reports whether nothing will be at the path any longer, nor below it.
func (p *PathEffect) Removes() bool {
	return p.Account == nil && p.Kind == safepath.Missing && !p.Vague && !p.Unsure
}

// An Account is a user or a group.
type Account struct {
	Kind LookKind // UserLook or GroupLook
	Name string
	ID   uint32 // NoAccount if unknown
	// Group is the name of a user's own group, Home the path of the home directory; "" if unknown.
	Group, Home string
	// Absent is set if the account is removed.
	Absent bool
	// Unsure is set if the account may be removed.
	Unsure bool
	// Members are users that are added to a group.
	Members []string
}

// NoAccount is the number of an account whose number is unknown.
const NoAccount = 1<<32 - 2

// Numbers from firstPlaceholder on, and below NoAccount, are placeholders: so many accounts without a
// number are distinguished.
const (
	mostPlaceholders        = 1 << 16
	firstPlaceholder uint32 = NoAccount - mostPlaceholders
)

// IsPlaceholder reports whether a number represents a user or group that gets its number only when
// it is made. Each has its own placeholder, so that a plan can compare owners.
func IsPlaceholder(id uint32) bool { return id < NoAccount && id >= firstPlaceholder }

// ErrNotKnown means that nobody knows yet what a look will find, because a pending resource is
// going to bring or change it.
var ErrNotKnown = errors.New("its content is unknown until it is written")

// A NotKnownError is an [ErrNotKnown] about one path.
type NotKnownError struct {
	Path   string
	Author any // the author, as given to Assume
}

// Error names the path.
func (e *NotKnownError) Error() string { return e.Path + ": " + ErrNotKnown.Error() }

// Unwrap returns ErrNotKnown.
func (e *NotKnownError) Unwrap() error { return ErrNotKnown }
