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

// OneOffOptions are the options of a OneOff.
type OneOffOptions struct {
	// Kind is the kind of the runs in the history.
	Kind   string
	Site   *Options
	Record RecordOptions
	Host   HostOptions
	// Plan makes a plan and changes nothing.
	Plan bool
	// Diff is how much of the differences a session notes.
	Diff report.DiffMode
	// Explain takes the errors of functions of scripts that wait for an outcome. Nil prints them.
	Explain func(error)
	// Session knows the resources of earlier commands; nil for none.
	Session *session.Session
}

// A OneOff converges resources that are in no file, one by one. Those until Close are one run in the
// history.
type OneOff struct {
	process  *Process
	options  OneOffOptions
	recorder *Recorder
	host     *host.Host
	facts    *facts.Facts
	environ  map[string]string
	overlays []manifest.Source // the hierarchy documents of the data
	data     map[string]any
	sources  diag.Sources // of the text read last
	inputs   *inputLog
	batch    *batchRun // the open record; nil for none
}

// NewOneOff reads the facts and the data for all of the resources.
func (p *Process) NewOneOff(ctx context.Context, options OneOffOptions) (*OneOff, error) {
	p.Files.setContextOnce(ctx)
	o := &OneOff{process: p, options: options, recorder: p.NewRecorder(options.Record), inputs: &inputLog{secrets: p.Secrets}}
	o.host = o.recorder.Host(options.Host)
	if err := options.Site.check(o.host); err != nil {
		return nil, err
	}
	var err error
	if o.facts, err = p.Facts(ctx, &o.host.View, options.Site.Facts); err != nil {
		return nil, err
	}
	if o.environ, err = options.Site.Data.environ(p.Files); err != nil {
		return nil, err
	}
	if o.overlays, err = options.Site.Data.overlays(p); err != nil {
		return nil, diag.About("data", err)
	}
	l, err := o.loader()
	if err != nil {
		return nil, err
	}
	p.Messages.Sources = l.Source
	l.manifests.Overlays = o.overlays
	o.data, err = l.manifests.Data(manifest.Source{}, nil)
	return o, err
}

// loader returns the loader for one resource. It has a registry of its own, because providers may
// cache facts of a run.
func (o *OneOff) loader() (*siteLoader, error) {
	env := &TemplateEnv{Facts: o.facts, Data: o.data, Clock: o.process.Clock, process: o.process}
	reg, err := NewRegistry(env)
	if err != nil {
		return nil, err
	}
	l := &siteLoader{
		process: o.process, env: env, options: o.options.Site, noop: o.options.Plan,
		site: &Site{Registry: reg, Facts: o.facts, Host: o.host, secrets: o.process.Secrets, inputs: o.inputs},
	}
	if err := l.init(o.environ); err != nil {
		return nil, err
	}
	l.manifests.Module = nil // the next resource would not know the types of a module
	l.manifests.Timeout = 0  // there is no flag to extend it
	return l, nil
}

// Source returns the text that was read last, for messages.
func (o *OneOff) Source(file string) (string, bool) {
	if o.sources == nil {
		return "", false
	}
	return o.sources(file)
}

// Log returns the log of the host.
func (o *OneOff) Log() *slog.Logger { return o.host.Log() }

// Registry returns the known types.
func (o *OneOff) Registry() (*resource.Registry, error) {
	return NewRegistry(&TemplateEnv{Facts: o.facts, Data: o.data, Clock: o.process.Clock, process: o.process})
}

// Converge converges one resource, or plans it. After an error nothing was changed. The record
// stays open until Close is called.
func (o *OneOff) Converge(ctx context.Context, what manifest.Single, reporters []event.Reporter) (*Result, error) {
	l, err := o.loader()
	if err != nil {
		return nil, err
	}
	l.manifests.Overlays = o.overlays // for the resources of a child
	o.sources = l.Source
	reg, b := l.site.Registry, &l.builder
	what.Type = reg.Type(what.Type.Name) // a type of a script is in this registry
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
		Reporters: append([]event.Reporter{result}, reporters...),
	}
	var recorder *session.Reporter
	if s := o.options.Session; s != nil {
		recorder = s.Reporter(batch.id, o.options.Diff, o.host.Now)
		engine.Reporters = append([]event.Reporter{recorder}, engine.Reporters...)
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
			o.process.Messages.Warn(r.ID.String() + ": services are registered only by ccm run and the agent")
		}
	}
	explain := o.options.Explain
	if explain == nil {
		explain = o.process.Messages.Explain
	}
	scripts := l.site.reportTo(ctx, engine, explain)
	result.Summary = batch.converge(ctx, engine, o.host, c)
	result.Incomplete = scripts.failed
	if recorder != nil && recorder.Err() != nil {
		o.process.Messages.Explain(recorder.Err())
		result.Incomplete = true
	}
	return result, nil
}

// onlyEarlier refuses before and notify: no resource comes after a single one.
func onlyEarlier(r *resource.Resource) error {
	for _, p := range []struct {
		name, instead string
		refs          []resource.Reference
	}{{"before", "require", r.Common.Before}, {"notify", "subscribe", r.Common.Notify}} {
		if len(p.refs) > 0 {
			return r.Errorf([]any{p.name, 0}, "%s: %w", p.name, diag.SubjectCannot("a single resource", "refer to later ones")).
				WithHint("use %s in the later one", p.instead)
		}
	}
	return nil
}

// unknownReference adds hints to the errors about unknown references of r.
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
			e.Hint = `no session: start one with: eval "$(ccm session new)"`
		case e.Hint == "":
			e.Hint = "no command of this session has handled it"
		}
	}
	return list.Err()
}
