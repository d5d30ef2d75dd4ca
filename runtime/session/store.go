// Package session lets processes that belong together know of each other. Each
// deals with one resource, as the commands of a shell script do; the session
// tells the later ones what became of the earlier ones, so that they can require
// them and be refreshed by them.
//
// A session is a directory with one file, to which every process appends what it
// did, one JSON object a line. Begin with [Open] and [Session.Settle].
package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// Variable is the environment variable that names the directory of a session.
const Variable = "CCM_SESSION_STORE"

// FileName is the name of the file in the directory of a session.
const FileName = "events.jsonl"

// beginProtocol marks the entry of an action that is about to begin. If no event follows, the
// process died during the action.
const beginProtocol = "io.choria.ccm.v1.session.begin"

// An Entry is one line of a session: an event, or the beginning of an action.
type Entry struct {
	report.Event
	// Subscribe lists the resources that the resource subscribes to, by name or alias.
	Subscribe []string `json:"subscribe,omitempty"`
}

// isBegin reports whether r says only that an action begins.
func (r Entry) isBegin() bool { return r.Protocol == beginProtocol }

// id returns the resource that r is about.
func (r Entry) id() resource.ID { return resource.ID{Type: r.Type, Name: r.Name} }

// A Session has the entries of related processes. It is not safe for concurrent use; other
// processes may append at any time.
type Session struct {
	dir     string // "" if the session is only in memory
	entries []Entry
	offset  int64 // the length of the file's part that is in entries
	// Secrets are masked in appended entries. May be nil.
	Secrets *secret.Keeper
	compact int // the number of entries from which a session in memory is compacted
}

// Memory returns a session that ends with the process. However long it lasts, it stores only the
// entries that [Session.Settle] needs.
func Memory() *Session { return &Session{compact: 1000} }

// New makes the directory of a new session: dir or, if that is empty, a new one in the directory
// for temporary files. It is an error if dir exists.
func New(dir string) (*Session, error) {
	if dir == "" {
		dir, err := os.MkdirTemp("", "ccm-session-")
		return &Session{dir: dir}, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	err = os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil, diag.At(diag.Pos{}, diag.Exists(fmt.Sprintf("session store %s", dir), "")).
			WithHint("continue it with: export %s=%s", Variable, dir)
	}
	return &Session{dir: dir}, err
}

// Open opens the session in a directory. The directory has to be there, and may
// be empty.
func Open(dir string) (*Session, error) {
	fi, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, diag.At(diag.Pos{}, diag.Missing(fmt.Sprintf("session store %s", dir), "")).
			WithHint(`start one with: eval "$(ccm session new)"; leave it with: unset %s`, Variable)
	case err != nil:
		return nil, fmt.Errorf("session store: %w", err)
	case !fi.IsDir():
		return nil, fmt.Errorf("session store %s: %w", dir, diag.Expected("a directory").Found("a file"))
	}
	return &Session{dir: dir}, nil
}

// Dir returns the directory of s, or "".
func (s *Session) Dir() string { return s.dir }

// Append adds an entry to the session, after all that are there.
func (s *Session) Append(r Entry) error {
	text, err := encode(r)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	text = s.Secrets.JSON(text, protocol())
	if s.dir == "" {
		err := s.take(text)
		s.forget()
		return err
	}
	f, err := s.open(os.O_WRONLY|os.O_APPEND|os.O_CREATE, filelock.Exclusive)
	if err != nil {
		return err
	}
	defer filelock.Close(f)
	before, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if _, err := f.Write(text); err != nil {
		// Half a line would spoil the session for all.
		return fmt.Errorf("session: %w", errors.Join(err, f.Truncate(before)))
	}
	return nil
}

// protocol has the names and values that later processes rely on.
var protocol = sync.OnceValue(func() *secret.Protocol {
	return secret.NewProtocol(report.FixedFields, Entry{})
})

// encode returns an entry as a line.
func encode(record Entry) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(record)
	return b.Bytes(), err
}

// open opens the file of the session and waits until it has the lock. A link in its place is not followed.
func (s *Session) open(flags int, lock filelock.Kind) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, FileName), flags|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	if err := filelock.Lock(f, lock); err != nil {
		f.Close()
		return nil, fmt.Errorf("session: lock of %s: %w", f.Name(), err)
	}
	return f, nil
}

// Entries returns the entries of all processes so far.
func (s *Session) Entries() ([]Entry, error) {
	if s.dir == "" {
		return s.entries, nil
	}
	f, err := s.open(os.O_RDONLY, filelock.Shared)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer filelock.Close(f)
	if _, err := f.Seek(s.offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	err = s.take(text)
	return s.entries, err
}

// take adds whole lines of the file to the entries.
func (s *Session) take(text []byte) error {
	for line := range bytes.Lines(text) {
		var r Entry
		if err := json.Unmarshal(line, &r); err != nil {
			return diag.At(diag.Pos{File: filepath.Join(s.dir, FileName), Line: len(s.entries) + 1},
				diag.Not("", "a record of a session: %w", err))
		}
		s.entries = append(s.entries, r)
		s.offset += int64(len(line))
	}
	return nil
}

// forget drops entries of a session in memory that a later entry of the same resource replaces.
func (s *Session) forget() {
	if len(s.entries) < s.compact {
		return
	}
	type trait struct {
		typ, name string
		owner     string
	}
	seen := make(map[trait]bool)
	kept := s.entries[:0:0]
	for _, r := range slices.Backward(s.entries) {
		needed := false
		for of, has := range map[string]bool{
			"done":           !r.Noop,
			"planned":        r.Noop,
			"changed":        r.isBegin() || r.Changed && !r.Noop,
			"change planned": r.Changed && r.Noop,
			"up to date with " + strings.Join(r.Subscribe, " "): !r.Noop && inOrder(r) && len(r.Subscribe) > 0,
		} {
			if t := (trait{r.Type, r.Name, of}); has && !seen[t] {
				seen[t], needed = true, true
			}
		}
		if needed {
			kept = append(kept, r)
		}
	}
	slices.Reverse(kept)
	s.entries = kept
	s.compact = max(1000, 2*len(kept))
}

// Remove removes the session. It leaves a directory with other files, and does nothing for a
// session in memory.
func (s *Session) Remove() error {
	if s.dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(s.dir, FileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("session: %w", err)
	}
	err := os.Remove(s.dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return diag.At(diag.Pos{}, diag.Contains("session store "+s.dir, "other files, so it was kept"))
	}
	return err
}
