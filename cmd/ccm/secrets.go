package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/converge"
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

// data returns where data goes that programs read. A pipe or a file gets its bytes
// as they are, a terminal gets text that people can look at.
func (e *env) data() io.Writer {
	if isTerminal(e.stdout) {
		return e.stdout
	}
	return e.stdout.Unwrap()
}

// documents returns a writer for whole JSON documents, which stay JSON whatever is
// taken out of them. P is what is not masked; it may be nil. On a terminal they mean
// the same, and hold nothing that it would act on.
func documents(w *terminal.Writer, p *secret.Protocol) io.Writer {
	s, ok := w.Unwrap().(*secret.Writer)
	if !ok {
		return terminal.JSON(w.Unwrap())
	}
	if isTerminal(s) {
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
	if isTerminal(out) {
		return terminal.JSON(out)
	}
	return out
}

// logInputs logs what a script has looked at since the last time. That waits until
// the script was evaluated: what in it is secret is known only then.
func (e *env) logInputs(log *slog.Logger) {
	for _, in := range e.recorded(e.inputs[e.logged:]) {
		log.Debug("input", "kind", in.Kind, "name", in.Name, "value", in.Value)
	}
	e.logged = len(e.inputs)
}

// recorded returns what the script of the run looked at, as it is recorded: what
// was a secret then, or is one now, by a keyed digest.
func (e *env) recorded(inputs []std.Input) (list []state.Input) {
	for _, in := range inputs {
		x := state.Input{Kind: in.Kind, Name: e.secrets.Redact(in.Name), Value: e.secrets.Redact(in.Value)}
		if in.Secret || e.secrets.Contains(in.Text) {
			x.Value = e.secrets.Mask(in.Text)
		}
		list = append(list, x)
	}
	return list
}

// conceal has an engine tell no secrets, nor what has held some.
func (e *env) conceal(engine *converge.Engine, store *state.Store) (err error) {
	engine.Secrets = e.secrets
	if engine.Past, err = store.Past(); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}
