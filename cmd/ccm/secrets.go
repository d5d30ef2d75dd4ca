package main

import (
	"encoding/json"
	"io"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
)

// protocol is what is not masked in the JSON of events and of the past.
var protocol = sync.OnceValue(func() *secret.Protocol {
	return secret.NewProtocol(append(slices.Clone(report.FixedFields), "path", "object", "kind", "run", "resource", "root", "site"),
		report.Event{}, report.Summary{}, state.Record{}, state.Pending{}, session.Record{}, response{}, pathDiff{})
})

// documents returns a writer for whole JSON documents, which stay JSON whatever is
// taken out of them. P is what is not masked; it may be nil. On a terminal they mean
// the same, and hold nothing that it would act on.
func documents(w *terminal.Writer, p *secret.Protocol) io.Writer {
	s, ok := w.Unwrap().(*secret.Writer)
	if !ok {
		return terminal.JSON(w.Unwrap())
	}
	if terminal.IsTerminal(s) {
		_ = s.Flush()
		s = s.To(terminal.JSON(s.Unwrap()))
	}
	return s.JSON(p)
}

// encoder returns what writes values as JSON, one a line.
func encoder(w *terminal.Writer, p *secret.Protocol) *json.Encoder {
	enc := json.NewEncoder(documents(w, p))
	enc.SetEscapeHTML(false)
	return enc
}

// underneath returns where JSON documents go that w is to write, when the secrets
// have been taken out.
func underneath(w *terminal.Writer) io.Writer {
	out := w.Unwrap()
	if s, ok := out.(*secret.Writer); ok {
		_ = s.Flush()
		out = s.Unwrap()
	}
	if terminal.IsTerminal(out) {
		return terminal.JSON(out)
	}
	return out
}
