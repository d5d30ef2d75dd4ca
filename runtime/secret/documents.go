package secret

import (
	"encoding/json"
	"io"

	"github.com/luaccm/ccm/runtime/terminal"
)

// Documents returns a writer for whole JSON documents, which stay valid JSON after masking. P has
// the fields that are not masked; it may be nil. On a terminal, control characters are escaped with
// the same meaning.
func Documents(w *terminal.Writer, p *Protocol) io.Writer {
	s, ok := w.Unwrap().(*Writer)
	if !ok {
		return terminal.JSON(w.Unwrap())
	}
	if terminal.IsTerminal(s) {
		_ = s.Flush()
		s = s.To(terminal.JSON(s.Unwrap()))
	}
	return s.JSON(p)
}

// DocumentsTo is Documents for output that is collected in out before it goes to [Underneath] of w.
func DocumentsTo(w *terminal.Writer, out io.Writer) io.Writer {
	if s, ok := w.Unwrap().(*Writer); ok {
		return s.To(out).JSON(nil)
	}
	return out
}

// NewEncoder returns an encoder that writes values as JSON to w, one a line. P is as for
// [Documents].
func NewEncoder(w *terminal.Writer, p *Protocol) *json.Encoder {
	enc := json.NewEncoder(Documents(w, p))
	enc.SetEscapeHTML(false)
	return enc
}

// Underneath returns the writer behind w for JSON documents whose secrets were masked already.
func Underneath(w *terminal.Writer) io.Writer {
	out := w.Unwrap()
	if s, ok := out.(*Writer); ok {
		_ = s.Flush()
		out = s.Unwrap()
	}
	if terminal.IsTerminal(out) {
		return terminal.JSON(out)
	}
	return out
}
