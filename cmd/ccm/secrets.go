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
)

// protocol is what is not masked in the JSON of events and of the past.
var protocol = sync.OnceValue(func() *secret.Protocol {
	return secret.NewProtocol(append(slices.Clone(report.Fixed), "path", "object", "kind", "run", "resource", "root", "site"),
		report.Event{}, report.Summary{}, state.Record{}, state.Pending{}, session.Record{}, response{}, pathDiff{})
})

// documents returns a writer for whole JSON documents, which stay JSON whatever is
// taken out of them. P is what is not masked; it may be nil.
func documents(w io.Writer, p *secret.Protocol) io.Writer {
	if s, ok := w.(*secret.Writer); ok {
		return s.JSON(p)
	}
	return w
}

// encoder returns what writes values as JSON, one a line.
func encoder(w io.Writer, p *secret.Protocol) *json.Encoder {
	enc := json.NewEncoder(documents(w, p))
	enc.SetEscapeHTML(false)
	return enc
}

// underneath returns where w writes to when it has taken out the secrets.
func underneath(w io.Writer) io.Writer {
	if s, ok := w.(*secret.Writer); ok {
		_ = s.Flush()
		return s.Unwrap()
	}
	return w
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
