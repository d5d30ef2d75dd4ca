package site

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Messages prints mistakes and warnings for the user.
type Messages struct {
	W *terminal.Writer
	// Sources finds the texts of positions. May be nil.
	Sources diag.Sources
	// Warning takes warnings instead of W. May be nil.
	Warning func(*diag.Error)
}

// Explain prints every mistake in an error, with its source line.
func (m *Messages) Explain(err error) {
	var list diag.List
	list.Add(err)
	for i, d := range list {
		d = withoutCall(d)
		if i == diag.MaxShown {
			terminal.Fprintf(m.W, "ccm: and %d more mistakes\n", len(list)-i)
			return
		}
		prefix := ""
		if d.Pos.IsZero() {
			prefix = "ccm: "
		}
		diag.Render(m.W, prefix, d, m.Sources)
	}
}

// withoutCall returns a mistake without the name of the system call that did not find a file: which of open, stat and
// lstat it was does not matter to the user.
func withoutCall(d *diag.Error) *diag.Error {
	found, ok := errors.AsType[*fs.PathError](d.Err)
	if !ok || !errors.Is(found, fs.ErrNotExist) {
		return d
	}
	plain := *d
	plain.Err = errors.New(strings.Replace(d.Err.Error(), found.Error(), found.Path+": "+found.Err.Error(), 1))
	return &plain
}

// Warn prints a problem that does not stop ccm.
func (m *Messages) Warn(message string) {
	if m.Warning != nil {
		m.Warning(&diag.Error{Err: errors.New(message)})
		return
	}
	terminal.Fprintf(m.W, "%s\n", terminal.Prose(m.W, terminal.LineText("ccm: warning: "), terminal.IndentedText(message, "    "), nil))
}

// warnOf prints mistakes as warnings. With strict it returns them as an error.
func (m *Messages) warnOf(list diag.List, strict bool) error {
	if strict {
		return list.Err()
	}
	for i, d := range list {
		d = withoutCall(d)
		if i == diag.MaxShown {
			m.Warn(fmt.Sprintf("and %d similar ones", len(list)-i))
			break
		}
		m.warn(d, m.Sources)
	}
	return nil
}

// warnAt prints a warning of a script or manifest.
func (m *Messages) warnAt(pos diag.Pos, message string) {
	m.warn(&diag.Error{Pos: pos, Err: errors.New(message)}, nil)
}

// warn prints a warning with a place.
func (m *Messages) warn(d *diag.Error, sources diag.Sources) {
	if m.Warning != nil {
		m.Warning(d)
		return
	}
	diag.Render(m.W, "warning: ", d, sources)
}
