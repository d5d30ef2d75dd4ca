package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// A Holder is the process that holds a lock.
type Holder struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// A LockedError says that another run holds the lock.
type LockedError struct {
	Dir    string
	Holder Holder // zero if it is not known
	// Waits is set if the holder started this process, and so waits for it.
	Waits bool
}

// Error names the holder.
func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return "another run holds the lock of " + e.Dir
	}
	text := fmt.Sprintf("another run holds the lock of %s: pid %d (%s), since %s",
		e.Dir, e.Holder.PID, e.Holder.Command, e.Holder.Since.Local().Format(time.DateTime))
	if e.Waits {
		text += "; it started this command, and each would wait for the other"
	}
	return text
}

// holderOf returns what the holder of a lock says of itself. It does so right
// after it has got the lock, so that who comes in between waits a moment for it,
// and does not take the word of one that died.
func holderOf(path string) (h Holder) {
	for range 20 {
		h = Holder{}
		text, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(text, &h) == nil && h.PID > 0 && !errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
			return h
		}
		time.Sleep(5 * time.Millisecond)
	}
	return h
}

// startedBy reports whether a process started this one, or one that did.
func startedBy(pid int) bool {
	for at := os.Getppid(); at > 1; {
		if at == pid {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", at))
		if err != nil {
			return false
		}
		// The name of the command, in brackets, may hold anything.
		rest := string(stat[bytes.LastIndexByte(stat, ')')+1:])
		var state string
		if _, err := fmt.Sscan(rest, &state, &at); err != nil {
			return false
		}
	}
	return false
}

// A Held is a lock that this process holds.
type Held struct {
	// First says that nobody has held the lock before.
	First bool

	path  string
	flock *flock.Flock
}

// Unlock gives the lock back, and names no holder any more.
func (h *Held) Unlock() error {
	return errors.Join(writeHolder(h.path, nil), h.flock.Unlock())
}

// writeHolder writes who holds the lock into its file, over what was there, and fills
// the rest with blanks. To make the file shorter instead would take a millisecond: ext4
// writes a file that was truncated and written anew to the disk when it is closed
// (auto_da_alloc in ext4(5)).
func writeHolder(path string, holder []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err == nil {
		blanks := max(0, int(fi.Size())-len(holder))
		_, err = f.WriteAt(append(holder, bytes.Repeat([]byte{' '}, blanks)...), 0)
	}
	return errors.Join(err, f.Close())
}

// Lock makes this process the only one that runs in the state directory, which
// is created with mode 0700 if it is missing and gets that mode if it has a wider
// one. If another run holds the lock, it waits for it as long as wait; 0 means not
// at all. It does not wait for a run that started it, which waits for it. The lock
// ends with the process at the latest, so that a run that died leaves none
// (flock(2)). Others are told the command.
func Lock(ctx context.Context, dir, command string, wait time.Duration, now time.Time) (*Held, error) {
	h, err := lock(ctx, dir, command, wait, now)
	if _, locked := errors.AsType[*LockedError](err); err != nil && !locked {
		err = fmt.Errorf("state directory: %w", err)
	}
	return h, err
}

func lock(ctx context.Context, dir, command string, wait time.Duration, now time.Time) (*Held, error) {
	holder, err := json.Marshal(Holder{os.Getpid(), command, now})
	if err != nil {
		return nil, err
	}
	if err := claim(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockFile)
	if h := lockFirst(path, holder); h != nil {
		return h, nil
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Nanosecond))
	defer cancel()
	ok, err := l.TryLock()
	if err == nil && !ok && wait > 0 {
		if h := holderOf(path); startedBy(h.PID) {
			return nil, &LockedError{Dir: dir, Holder: h, Waits: true}
		}
		if ok, err = l.TryLockContext(ctx, 100*time.Millisecond); ctx.Err() != nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &LockedError{Dir: dir, Holder: holderOf(path)}
	}
	if err := writeHolder(path, holder); err != nil {
		return nil, err
	}
	return &Held{path: path, flock: l}, nil
}

// lockFirst takes a lock that nobody has held before: its file is made under
// another name, and gets its own when it is locked, so that nobody can come in
// between. It returns nil if there is a file, or if it cannot be made so.
func lockFirst(path string, holder []byte) *Held {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%s-%d", tempPrefix, lockFile, os.Getpid()))
	defer os.Remove(temp)
	if os.WriteFile(temp, holder, 0o600) != nil {
		return nil
	}
	l := flock.New(temp)
	if ok, err := l.TryLock(); err != nil || !ok {
		return nil
	}
	if os.Link(temp, path) != nil {
		_ = l.Unlock()
		return nil
	}
	return &Held{First: true, path: path, flock: l}
}
