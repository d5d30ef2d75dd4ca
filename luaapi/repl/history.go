package repl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/atomicfile"
)

// maxHistory is the maximum number of entries.
const maxHistory = 10000

// A History has the typed texts of this session and of earlier ones. Its file can be read only by
// its user, and has one JSON object a line, so that an entry of several lines stays one entry.
type History struct {
	path   string // "" without a file
	list   []record
	now    func() time.Time
	redact func(text string) string
	mute   bool
	hold   bool
	queue  []string // entries that wait for Release
	torn   bool     // the last line of the file has no end
}

// A record is a line of the file.
type record struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// OpenHistory reads the history in a file. The file may be missing; lines that are no entries are
// skipped. If the file cannot be written, the error is the reason, and the history lasts for this
// session only.
func OpenHistory(path string, now func() time.Time, redact func(text string) string) (*History, error) {
	h := &History{now: now, redact: redact}
	if path == "" {
		return h, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return h, fmt.Errorf("history: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		h.path = path
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("history: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().Perm() != 0o600 {
		if err := f.Chmod(0o600); err != nil {
			return h, fmt.Errorf("history: %w", err)
		}
	}
	h.path = path
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var r record
		if json.Unmarshal(line, &r) == nil && r.Text != "" {
			h.list = append(h.list, r)
		}
		if err != nil {
			h.torn = len(line) > 0
			break
		}
	}
	if over := len(h.list) - maxHistory; over > 0 {
		h.list = slices.Clone(h.list[over:])
		return h, h.rewrite()
	}
	return h, nil
}

// rewrite rewrites the whole file.
func (h *History) rewrite() error {
	err := atomicfile.Write(h.path, atomicfile.Options{Shared: true}, func(f *os.File) error {
		w := bufio.NewWriter(f)
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, r := range h.list {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

// Hold makes Add keep entries back, because secrets in a text may be known only after its
// evaluation. Each Release stores them.
func (h *History) Hold() { h.hold = true }

// Release stores the entries that Add has kept back.
func (h *History) Release() error {
	list := h.queue
	h.queue = nil
	var errs []error
	for _, text := range list {
		errs = append(errs, h.keep(text))
	}
	return errors.Join(errs...)
}

// Add adds an entry, without its secrets. An entry that begins with a space or equals the last one
// is not added.
func (h *History) Add(text string) error {
	if h.mute || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") {
		return nil
	}
	text = strings.TrimRight(text, " \t\r\n")
	if text == "" {
		return nil
	}
	if h.hold {
		h.queue = append(h.queue, text)
		return nil
	}
	return h.keep(text)
}

// keep stores an entry in the list and in the file.
func (h *History) keep(text string) error {
	text = h.redact(text)
	if n := len(h.list); n > 0 && h.list[n-1].Text == text {
		return nil
	}
	r := record{h.now(), text}
	h.list = append(h.list, r)
	if over := len(h.list) - maxHistory; over > 0 {
		h.list = slices.Delete(h.list, 0, over)
	}
	if h.path == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	// A single write to the end of the file lets several sessions share it.
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	line = append(line, '\n')
	if h.torn {
		line, h.torn = append([]byte{'\n'}, line...), false
	}
	_, err = f.Write(line)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

// Mute turns Add off or on again.
func (h *History) Mute(mute bool) { h.mute = mute }

// Len returns the number of entries.
func (h *History) Len() int { return len(h.list) }

// Entry returns an entry; 0 is the oldest.
func (h *History) Entry(i int) string { return h.list[i].Text }
