package state

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
}

// Error names the holder.
func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return "another run holds the lock of " + e.Dir
	}
	return fmt.Sprintf("another run holds the lock of %s: pid %d (%s), since %s",
		e.Dir, e.Holder.PID, e.Holder.Command, e.Holder.Since.Local().Format(time.DateTime))
}

// Lock makes this process the only one that runs in the state directory, which
// is created with mode 0700 if it is missing. If another run holds the lock, it
// waits for it as long as wait; 0 means not at all. The lock ends with the
// process at the latest, so that a run that died leaves none (flock(2)). Others
// are told the command.
func Lock(ctx context.Context, dir, command string, wait time.Duration, now time.Time) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	path := filepath.Join(dir, "lock")
	l := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Nanosecond))
	defer cancel()
	ok, err := l.TryLock()
	if err == nil && !ok && wait > 0 {
		if ok, err = l.TryLockContext(ctx, 100*time.Millisecond); ctx.Err() != nil {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if !ok {
		e := &LockedError{Dir: dir}
		if text, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(text, &e.Holder)
		}
		return nil, e
	}
	holder, err := json.Marshal(Holder{os.Getpid(), command, now})
	if err == nil {
		err = os.WriteFile(path, holder, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return func() error {
		_ = os.Truncate(path, 0)
		return l.Unlock()
	}, nil
}
