package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/trust"
)

// singleFlags are the flags of commands that bring one resource in order.
type singleFlags struct {
	runFlags
	session string
}

// add makes the flags those of cmd and of all commands below it.
func (f *singleFlags) add(cmd *cobra.Command) {
	fs := cmd.PersistentFlags()
	fs.SortFlags = false
	fs.BoolVarP(&f.noop, "noop", "n", false, "only say what would be done")
	fs.BoolVar(&f.noop, "dry-run", false, "the same as --noop")
	fs.Lookup("dry-run").Hidden = true
	f.output = newChoice("text", "text", "json")
	f.diff = newChoice(string(report.DiffSummary), report.DiffSummary.Values()...)
	fs.Var(f.output, "output", "form of the report: text or json")
	fs.Var(f.diff, "diff", "how much is told of what differs: off, summary or full")
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit with 0 if nothing is to do, 2 on a change, 4 on a failure, 6 on both")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "report failures only")
	fs.StringVar(&f.session, "session", "", "take part in the session in `DIR` (default "+session.Variable+")")
	f.dataFlags.add(fs)
	fs.StringArrayVar(&f.facts, "fact", nil, "set the fact `NAME=VALUE` (repeatable)")
	fs.StringVar(&f.factsFile, "facts", "", "read further facts from `FILE` (JSON or YAML)")
	fs.StringVar(&f.root, "root", "/", "converge the file system below `DIR`")
	fs.StringVar(&f.stateDir, "state-dir", "", "keep state in `DIR` (default CCM_STATE_DIR, else /var/lib/ccm or ~/.local/state/ccm)")
	fs.DurationVar(&f.lockTimeout, "lock-timeout", time.Minute, "how long to wait for another run to end")
	fs.BoolVar(&f.debug, "debug", false, "log every effect on the machine")
	for name, c := range map[string]*choice{"output": f.output, "diff": f.diff} {
		_ = cmd.RegisterFlagCompletionFunc(name, c.complete)
	}
}

// openSession returns the session that the flags and the environment name, nil
// if there is none.
func (f *singleFlags) openSession(cmd *cobra.Command, policy *trust.Policy) (*session.Session, error) {
	dir, set := os.LookupEnv(session.Variable)
	if f := cmd.Flag("session"); f != nil && f.Changed {
		dir, set = f.Value.String(), true
	}
	switch {
	case !set:
		return nil, nil
	case dir == "":
		return nil, diag.Errorf(diag.Pos{}, "want the directory of a session, got an empty one").
			WithHint(`eval "$(ccm session new)" begins a session, unset %s leaves it`, session.Variable)
	}
	s, err := session.Open(dir)
	if err == nil {
		err = policy.Check(dir)
	}
	if path := filepath.Join(dir, session.FileName); err == nil {
		if err = policy.Check(path); errors.Is(err, fs.ErrNotExist) {
			err = nil // nobody has appended anything yet
		}
	}
	return s, err
}

// A single brings resources in order one by one, each as a run of its own.
type single struct {
	env     *env
	f       *singleFlags
	kind    string // of the runs, for the history
	host    *host.Host
	facts   *facts.Facts
	environ map[string]string
	source  manifest.Source // the hierarchy document that data is read from
	data    map[string]any
	sources diag.Sources     // of what was read last
	dir     string           // in which relative paths begin
	session *session.Session // nil if there is none
	burst   *burst           // the record that is open; nil if none is
}

// newSingle reads what all of the resources see. Kind is what the history calls
// the runs. Logs go to w.
func (e *env) newSingle(cmd *cobra.Command, f *singleFlags, kind string, w terminal.Printer) (s *single, err error) {
	s = &single{env: e, f: f, kind: kind}
	s.host = host.New(host.Options{Runner: e.exec(), Refuse: e.secrets.RefuseArgv, Root: f.root, Clock: e.clock, Log: e.logger(w, f.debug), Effect: e.effect, BeforeChange: e.keep, Leaves: e.leaves})
	if s.session, err = f.openSession(cmd, e.trust()); err != nil {
		return nil, err
	}
	if s.session != nil {
		s.session.Secrets = e.secrets
	}
	if s.facts, err = e.gatherFacts(cmd.Context(), &s.host.View, &f.siteFlags); err != nil {
		return nil, err
	}
	if s.environ, err = e.environ(&f.dataFlags); err != nil {
		return nil, err
	}
	if s.dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	if s.source, err = e.source(&f.dataFlags); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	f.evalTimeout, f.dialect = time.Minute, newChoice("", "ccm", "tinycm")
	l, err := s.loading()
	if err != nil {
		return nil, err
	}
	e.sources = l.source
	s.data, err = l.loader.Data(s.source, nil)
	return s, err
}

// loading returns what reads one resource. It has a registry of its own, because
// providers may remember what was so in a run.
func (s *single) loading() (*loading, error) {
	around := &surroundings{facts: s.facts, data: s.data, clock: s.env.clock}
	reg, err := registry(around)
	if err != nil {
		return nil, err
	}
	l := &loading{
		env: s.env, around: around, flags: &s.f.siteFlags, noop: s.f.noop, cwd: s.dir, lookupEnv: os.LookupEnv,
		site: &site{registry: reg, facts: s.facts, host: s.host, secrets: s.env.secrets},
	}
	l.loader = &manifest.Loader{
		Registry: reg, Facts: s.facts, Environ: s.environ, ReadFile: s.env.readFile, Now: s.host.Now,
		Fetch: l.fetch, Secrets: s.env.secrets, Warn: s.env.scriptWarns, Strict: s.f.strict,
	}
	l.units = catalog.Units{Builder: &l.builder, ReadFile: s.env.readFile, Load: l.applied}
	return l, nil
}

// converge brings one resource in order, or says what would be done. An error
// means that nothing was done. The record stays open until close is called.
func (s *single) converge(ctx context.Context, what manifest.Single, rep converge.Reporter) (*dealt, error) {
	l, err := s.loading()
	if err != nil {
		return nil, err
	}
	if s.source.Text != "" {
		l.loader.Overlays = []manifest.Source{s.source} // of what the resource applies
	}
	s.sources = l.source
	reg, b := l.site.registry, &l.builder
	what.Type = reg.Type(what.Type.Name) // one that a script defines is of this registry
	r, err := l.loader.Single(ctx, l.units.Root(commandLineName, s.dir), what, s.data)
	if err != nil {
		return nil, err
	}
	if err := onlyEarlier(r); err != nil {
		return nil, err
	}
	if err := catalog.Hide(s.env.secrets, b.Resources()); err != nil {
		return nil, err
	}
	rec, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	d := &dealt{ID: rec.id}
	engine := &converge.Engine{
		Registry: reg, Facts: s.facts, Texts: s.f.diff.value != string(report.DiffOff), Stop: s.env.stop,
		Reporter: converge.Reporters{d, rep},
	}
	var recorder *session.Recorder
	if s.session != nil {
		recorder = s.session.Recorder(rec.id, report.DiffMode(s.f.diff.value), s.host.Now)
		engine.Reporter = converge.Reporters{recorder, engine.Reporter}
		if engine.Settled, engine.SettledCauses, err = s.session.Settle(b, reg, r.ID, s.f.noop); err != nil {
			return nil, err
		}
	}
	c, err := b.Build()
	if err != nil {
		return nil, s.unknownReference(err, r, b)
	}
	told := l.site.tellScripts(ctx, engine, s.env.explain)
	d.Summary = rec.converge(ctx, engine, s.host, c)
	d.wrong = told.failed
	if recorder != nil && recorder.Err() != nil {
		s.env.explain(recorder.Err())
		d.lost = true
	}
	return d, nil
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
func (s *single) unknownReference(err error, r *resource.Resource, b *catalog.Builder) error {
	var list diag.List
	list.Add(err)
	planned := ""
	for _, refs := range [][]resource.Reference{r.Common.Require, r.Common.Subscribe} {
		for _, ref := range refs {
			if id := resource.ID(ref); s.session != nil && b.Get(id) == nil && s.session.Planned(id) {
				planned = id.String()
			}
		}
	}
	for _, e := range list {
		switch {
		case planned != "":
			e.Hint = planned + " was only planned in this session"
		case s.session == nil:
			e.Hint = `there is no session: eval "$(ccm session new)" begins one`
		case e.Hint == "":
			e.Hint = "no command of this session has dealt with it"
		}
	}
	return list.Err()
}
