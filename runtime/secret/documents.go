package secret

import (
	"encoding/json"
	"io"

	"github.com/luaccm/ccm/runtime/terminal"
)

// Documents returns a writer for whole JSON documents, which stay JSON whatever is
// taken out of them. P is what is not masked; it may be nil. On a terminal they mean
// the same, and hold nothing that it would act on.
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

// DocumentsTo is Documents for what is collected in out before it goes to [Underneath] of w.
func DocumentsTo(w *terminal.Writer, out io.Writer) io.Writer {
	if s, ok := w.Unwrap().(*Writer); ok {
		return s.To(out).JSON(nil)
	}
	return out
}

// NewEncoder returns what writes values as JSON to w, one a line. P is as for
// [Documents].
func NewEncoder(w *terminal.Writer, p *Protocol) *json.Encoder {
	enc := json.NewEncoder(Documents(w, p))
	enc.SetEscapeHTML(false)
	return enc
}

// Underneath returns where JSON documents go that w is to write, when the secrets
// have been taken out.
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
