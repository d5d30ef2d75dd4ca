// Package filelock locks open files against other processes, and other openings in this one, with flock(2).
package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// ErrLocked means that another process has the lock.
var ErrLocked = diag.InUse("", "another process")

// A Kind is exclusive, for who writes, or shared.
type Kind int

// The kinds of locks.
const (
	Exclusive Kind = unix.LOCK_EX
	Shared    Kind = unix.LOCK_SH
)

// Lock waits until it has the lock on a file. It ends with Close, or with the process.
func Lock(f *os.File, k Kind) error { return flock(f, int(k)) }

// TryLock takes the lock on a file, or returns ErrLocked at once.
func TryLock(f *os.File, k Kind) error {
	err := flock(f, int(k)|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Close unlocks and closes a file. Closing alone would leave it locked for a moment, if this process is starting a
// command: the child has the descriptor, and with it the lock, until it executes the command.
func Close(f *os.File) error { return errors.Join(flock(f, unix.LOCK_UN), f.Close()) }

func flock(f *os.File, how int) error {
	return safepath.IgnoringEINTR(func() error { return unix.Flock(int(f.Fd()), how) })
}
