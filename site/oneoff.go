package site

import (
	"context"
	"log/slog"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/session"
)

// OneOffOptions are those of resources that are converged one by one.
type OneOffOptions struct {
	// Kind is what the history calls the runs.
	Kind   string
	Site   *Options
	Record RecordOptions
	Host   HostOptions
	// Plan says what would be done, and does nothing.
	Plan bool
	// Diff is how much a session notes of what differs.
	Diff report.DiffMode
	// Session knows the resources of earlier commands; nil if there is none.
	Session *session.Session
}

// A OneOff converges resources that stand in no file one by one, each as a run of
// its own.
type OneOff struct {
	process  *Process
	options  OneOffOptions
	recorder *Recorder
	host     *host.Host
	facts    *facts.Facts
	environ  map[string]string
	source   manifest.Source // the hierarchy document that data is read from
	data     map[string]any
	sources  diag.Sources // of what was read last
	inputs   *inputLog
	batch    *batchRun // the record that is open; nil if none is
}

// NewOneOff reads the facts and the data that all of the resources see.
func (p *Process) NewOneOff(ctx context.Context, options OneOffOptions) (*OneOff, error) {
	p.Files.beginOnce(ctx)
	o := &OneOff{process: p, options: options, recorder: p.NewRecorder(options.Record), inputs: &inputLog{secrets: p.Secrets}}
	o.host = o.recorder.host(options.Host)
	var err error
	if o.facts, err = p.Facts(ctx, &o.host.View, options.Site.Facts); err != nil {
		return nil, err
	}
	if o.environ, err = options.Site.Data.environ(p.Files); err != nil {
		return nil, err
	}
	if o.source, err = options.Site.Data.read(p.Files, p.remote()); err != nil {
		return nil, diag.About("data", err)
	}
	l, err := o.loader()
	if err != nil {
		return nil, err
	}
	p.Messages.Sources = l.Source
	o.data, err = l.manifests.Data(o.source, nil)
	return o, err
}

// loader returns what reads one resource. It has a registry of its own, because
// providers may remember what was so in a run.
func (o *OneOff) loader() (*Loader, error) {
	env := &TemplateEnv{Facts: o.facts, Data: o.data, Clock: o.process.Clock}
	reg, err := NewRegistry(env)
	if err != nil {
		return nil, err
	}
	l := &Loader{
		process: o.process, env: env, options: o.options.Site, noop: o.options.Plan,
		site: &Site{Registry: reg, Facts: o.facts, Host: o.host, secrets: o.process.Secrets, inputs: o.inputs},
	}
	if err := l.init(o.environ); err != nil {
		return nil, err
	}
	l.manifests.Module = nil // what modules define would be unknown to the next one
	l.manifests.Timeout = 0  // there is no flag that gives it more time
	return l, nil
}

// Source finds the text of what was read last, for messages.
func (o *OneOff) Source(file string) (string, bool) {
	if o.sources == nil {
		return "", false
	}
	return o.sources(file)
}

// Log returns where the host logs.
func (o *OneOff) Log() *slog.Logger { return o.host.Log() }

// Registry returns the types that resources may have.
func (o *OneOff) Registry() (*resource.Registry, error) {
	return NewRegistry(&TemplateEnv{Facts: o.facts, Data: o.data, Clock: o.process.Clock})
}

// Converge brings one resource in order, or says what would be done. An error
// means that nothing was done. The record stays open until Close is called.
func (o *OneOff) Converge(ctx context.Context, what manifest.Single, rep event.Reporter) (*Result, error) {
	l, err := o.loader()
	if err != nil {
		return nil, err
	}
	if o.source.Text != "" {
		l.manifests.Overlays = []manifest.Source{o.source} // of what the resource applies
	}
	o.sources = l.Source
	reg, b := l.site.Registry, &l.builder
	what.Type = reg.Type(what.Type.Name) // one that a script defines is of this registry
	r, err := l.manifests.Single(ctx, l.units.Root(CommandLine, l.cwd), what, o.data)
	if err != nil {
		return nil, err
	}
	if err := onlyEarlier(r); err != nil {
		return nil, err
	}
	if err := catalog.MarkSecrets(o.process.Secrets, b.Resources()); err != nil {
		return nil, err
	}
	batch, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	result := &Result{ID: batch.id}
	engine := &converge.Engine{
		Registry: reg, Facts: o.facts, Texts: o.options.Diff != report.DiffOff, Stop: o.process.Stop,
		Reporter: event.Reporters{result, rep},
	}
	var recorder *session.Reporter
	if s := o.options.Session; s != nil {
		recorder = s.Reporter(batch.id, o.options.Diff, o.host.Now)
		engine.Reporter = event.Reporters{recorder, engine.Reporter}
		if engine.Prior, engine.PriorCauses, err = s.Settle(b, reg, r.ID, o.options.Plan); err != nil {
			return nil, err
		}
	}
	c, err := b.Build()
	if err != nil {
		return nil, o.unknownReference(err, r, b)
	}
	for _, r := range c.Resources {
		if len(r.Common.RegisterWhenStable) > 0 && !o.options.Plan {
			o.process.Messages.Warn(r.ID.String() + ": its services are not registered: only ccm run and the agent do that")
		}
	}
	scripts := l.site.reportTo(ctx, engine, o.process.Messages.Explain)
	result.Summary = batch.converge(ctx, engine, o.host, c)
	result.Incomplete = scripts.failed
	if recorder != nil && recorder.Err() != nil {
		o.process.Messages.Explain(recorder.Err())
		result.Incomplete = true
	}
	return result, nil
}

// onlyEarlier refuses references to what is still to come: a single resource has
// nothing behind it.
func onlyEarlier(r *resource.Resource) error {
	for _, p := range []struct {
		name, instead string
		refs          []resource.Reference
	}{{"before", "require", r.Common.Before}, {"notify", "subscribe", r.Common.Notify}} {
		if len(p.refs) > 0 {
			return r.Errorf([]any{p.name, 0}, "%s: a single resource can only speak of what came before it", p.name).
				WithHint("use %s in the one that comes after", p.instead)
		}
	}
	return nil
}

// unknownReference says in err, which is about the references of r, what can be
// done about one that is not there.
func (o *OneOff) unknownReference(err error, r *resource.Resource, b *catalog.Builder) error {
	var list diag.List
	list.Add(err)
	planned := ""
	for _, refs := range [][]resource.Reference{r.Common.Require, r.Common.Subscribe} {
		for _, ref := range refs {
			if id := resource.ID(ref); o.options.Session != nil && b.Get(id) == nil && o.options.Session.Planned(id) {
				planned = id.String()
			}
		}
	}
	for _, e := range list {
		switch {
		case planned != "":
			e.Hint = planned + " was only planned in this session"
		case o.options.Session == nil:
			e.Hint = `there is no session: eval "$(ccm session new)" begins one`
		case e.Hint == "":
			e.Hint = "no command of this session has dealt with it"
		}
	}
	return list.Err()
}
