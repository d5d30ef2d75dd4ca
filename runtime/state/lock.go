package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/atomicfile"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A Holder is the process that holds a lock.
type Holder struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// A LockedError reports that another run holds the lock.
type LockedError struct {
	Dir    string
	Holder Holder // zero if unknown
	// Waits is set if the holder started this process and waits for it.
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
		text += "; it started this command, so this would be a deadlock"
	}
	return text
}

// holderOf reads the holder. A holder writes its name right after it took the lock, so an early
// reader waits a moment for it. It does not return an earlier holder.
func holderOf(d *statedir.Dir) (h Holder) {
	for range 20 {
		h = Holder{}
		text, err := d.ReadFile(lockFile)
		if err == nil && json.Unmarshal(text, &h) == nil && h.PID > 0 && !errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
			return h
		}
		time.Sleep(5 * time.Millisecond)
	}
	return h
}

// A LockHandle is a lock that this process holds.
type LockHandle struct {
	// First is set if there was no lock file before.
	First bool

	file *os.File
}

// Unlock releases the lock and clears the name of the holder.
func (h *LockHandle) Unlock() error {
	return errors.Join(writeHolder(h.file, nil), filelock.Close(h.file))
}

// writeHolder overwrites the lock file with the holder and fills the rest with blanks. To
// truncate the file instead would take a millisecond: ext4 writes a file that was truncated and
// rewritten to the disk when it is closed (auto_da_alloc in ext4(5)).
func writeHolder(f *os.File, holder []byte) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	blanks := max(0, int(fi.Size())-len(holder))
	_, err = f.WriteAt(append(holder, bytes.Repeat([]byte{' '}, blanks)...), 0)
	return err
}

// Lock makes this process the only one that runs in the state directory. A missing directory is
// made with mode 0700, and a wider mode is narrowed to that. If another run holds the lock, Lock
// waits for at most wait; 0 means not at all. It does not wait for a run that started this
// process, which would wait for ever. The lock ends with the process, so that a dead run leaves
// none. Command names the holder for others.
func Lock(ctx context.Context, dir, command string, wait time.Duration, now time.Time) (*LockHandle, error) {
	h, err := lock(ctx, dir, command, wait, now)
	if _, locked := errors.AsType[*LockedError](err); err != nil && !locked {
		err = diag.About("state directory", err)
	}
	return h, err
}

func lock(ctx context.Context, dir, name string, wait time.Duration, now time.Time) (*LockHandle, error) {
	holder, err := json.Marshal(Holder{os.Getpid(), name, now})
	if err != nil {
		return nil, err
	}
	d := statedir.New(dir, nil, nil)
	if err := claim(d); err != nil {
		return nil, err
	}
	if h := lockFirst(d, holder); h != nil {
		return h, nil
	}
	f, err := d.Open(lockFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Nanosecond))
	defer cancel()
	ok, err := tryLock(f)
	if err == nil && !ok && wait > 0 {
		if h := holderOf(d); command.IsAncestor(h.PID) {
			return nil, errors.Join(&LockedError{Dir: dir, Holder: h, Waits: true}, f.Close())
		}
		ok, err = waitForLock(ctx, f)
	}
	if err == nil && ok {
		err = writeHolder(f, holder)
	}
	switch {
	case err != nil:
		return nil, errors.Join(err, f.Close())
	case !ok:
		return nil, errors.Join(&LockedError{Dir: dir, Holder: holderOf(d)}, f.Close())
	}
	return &LockHandle{file: f}, nil
}

// tryLock tries to take the lock on an open file, and reports whether it did.
func tryLock(f *os.File) (bool, error) {
	err := filelock.TryLock(f, filelock.Exclusive)
	if errors.Is(err, filelock.ErrLocked) {
		return false, nil
	}
	return err == nil, err
}

// waitForLock tries to take the lock until the context ends.
func waitForLock(ctx context.Context, f *os.File) (bool, error) {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		if ok, err := tryLock(f); ok || err != nil {
			return ok, err
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-again.C:
		}
	}
}

// lockFirst takes a lock that has no file yet. It makes the file under another name and renames
// it once it is locked, so that no other process can lock it in between. It returns nil if there
// is a file already, or on an error.
func lockFirst(d *statedir.Dir, holder []byte) *LockHandle {
	if _, err := d.Stat(lockFile); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	temp := fmt.Sprintf("%s%s-%d", atomicfile.Prefix, lockFile, os.Getpid())
	f, err := d.Open(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Remove(temp) }()
	if ok, err := tryLock(f); err == nil && ok {
		if _, err = f.Write(holder); err == nil && d.Link(temp, lockFile) == nil {
			return &LockHandle{First: true, file: f}
		}
	}
	_ = f.Close()
	return nil
}
