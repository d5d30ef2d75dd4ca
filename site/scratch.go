package site

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state"
)

// ScratchOptions are the options of a scratch site.
type ScratchOptions struct {
	Site   *Options
	Record RecordOptions
	// Args are the arguments of the script that Site.Data names.
	Args []string
	// Texts adds diffs of texts to events.
	Texts bool
	// Host has the options of the host while nothing is applied.
	Host HostOptions
	// Interp returns the interpreter of typed texts, which may wait for outcomes.
	Interp func() *luaapi.Interp
	// Explain takes the errors of functions that wait for outcomes.
	Explain func(error)
}

// A Scratch is a site whose resources are declared bit by bit, as at a prompt. It can be planned
// and applied at any time.
type Scratch struct {
	process  *Process
	options  ScratchOptions
	recorder *Recorder
	loader   *siteLoader
	unit     *catalog.Unit
	// File is the name of the given script in the state directory; "" for none.
	File string
}

// NewScratch returns a scratch site without resources.
func (p *Process) NewScratch(ctx context.Context, o ScratchOptions) (*Scratch, error) {
	p.Files.setContextOnce(ctx)
	s := &Scratch{process: p, options: o, recorder: p.NewRecorder(o.Record)}
	var err error
	site := &Site{Host: s.recorder.Host(o.Host), secrets: p.Secrets}
	if s.loader, err = p.newLoader(site, &TemplateEnv{Clock: p.Clock}, o.Site, o.Args, false); err != nil {
		return nil, err
	}
	s.unit = s.loader.units.Root("repl", s.loader.cwd)
	s.unit.Data, err = s.loader.optionData()
	return s, err
}

// Reset returns the types before anything is declared, and gathers the facts of the machine again.
func (s *Scratch) Reset(ctx context.Context) (*resource.Registry, *facts.Facts, error) {
	l := s.loader
	reg, err := NewRegistry(l.env)
	if err != nil {
		return nil, nil, err
	}
	fs, err := s.process.Facts(ctx, &l.site.Host.View, s.options.Site.Facts)
	l.env.Facts, l.site.Facts, l.manifests.Facts = fs, fs, fs
	l.site.Registry, l.manifests.Registry = reg, reg
	return reg, fs, err
}

// ScriptOptions returns the options of the interpreter.
func (s *Scratch) ScriptOptions(ctx context.Context) luaapi.Options {
	o := s.loader.scriptOptions(ctx, s.unit, s.options.Args)
	o.ReadFile = s.process.Files.readModule(s.options.Site.Data.Site)
	return o
}

// Dir returns the directory of relative paths.
func (s *Scratch) Dir() string { return s.loader.cwd }

// Source returns the text of a manifest, for messages.
func (s *Scratch) Source(file string) (string, bool) { return s.loader.Source(file) }

// Registry returns the types known by now.
func (s *Scratch) Registry() *resource.Registry { return s.loader.site.Registry }

// Data returns the data of the user; nil for none.
func (s *Scratch) Data() map[string]any { return s.loader.env.Data }

// LoadManifest declares the resources of a manifest. It does not handle a script.
func (s *Scratch) LoadManifest(ctx context.Context, name string, text []byte) (handled bool, err error) {
	l := s.loader
	if l.isScript(name, string(text)) {
		return false, nil
	}
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return true, err
	}
	m, err := l.manifests.Load(ctx, l.units.Root(name, dir), string(text))
	if err == nil {
		l.site.Manifest, l.env.Data = m, m.Data
	}
	return true, err
}

// Catalog orders the declared resources, and selects the target or, if that is "", the targets of
// the options.
func (s *Scratch) Catalog(target string) (*catalog.Catalog, error) {
	part := s.options.Site.Part
	if target != "" {
		part = PartOptions{Targets: []string{target}}
	}
	site := s.loader.site
	if err := site.order(&s.loader.builder, part); err != nil {
		return nil, err
	}
	if len(site.Catalog.Resources) == 0 {
		return nil, diag.None("resources declared yet")
	}
	return site.Catalog, nil
}

// providers returns the registry for a run of these resources. Each run has its own, because
// shipped providers may cache facts of a run.
func (s *Scratch) providers(list ...*resource.Resource) (*resource.Registry, error) {
	reg, err := NewRegistry(s.loader.env)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if len(reg.Bindings(r.Type)) > 0 {
			continue
		}
		for _, f := range s.Registry().Bindings(r.Type) {
			if _, err := reg.Replace(f); err != nil {
				return nil, err
			}
		}
	}
	return reg, nil
}

// engine returns the engine that converges a catalog and records in st.
func (s *Scratch) engine(st *RunState, c *catalog.Catalog, reporters []event.Reporter) (*converge.Engine, error) {
	reg, err := s.providers(c.Resources...)
	if err != nil {
		return nil, err
	}
	engine := &converge.Engine{Registry: reg, Facts: s.loader.site.Facts, Texts: s.options.Texts, Stop: s.process.Stop, Reporters: reporters}
	return engine, st.attach(engine, c)
}

// reportTo makes an engine report to the applied scripts, and to the typed text.
func (s *Scratch) reportTo(ctx context.Context, engine *converge.Engine) {
	s.loader.site.reportTo(ctx, engine, s.process.Messages.Explain)
	own := *s.loader.site
	own.scripts = append(slices.Clip(own.scripts), s.options.Interp())
	own.reportTo(ctx, engine, s.options.Explain)
}

// Plan reports what Apply would do.
func (s *Scratch) Plan(ctx context.Context, c *catalog.Catalog, reporters []event.Reporter) (sum event.Summary, err error) {
	st, err := s.recorder.Open(s.File, "")
	if err != nil {
		return sum, err
	}
	engine, err := s.engine(st, c, reporters)
	if err != nil {
		return sum, err
	}
	s.reportTo(ctx, engine)
	sum = engine.Plan(ctx, &s.recorder.Host(s.options.Host).View, c)
	return sum, ctx.Err()
}

// Apply converges the machine. When stop is closed, the run ends after the present resource.
func (s *Scratch) Apply(ctx context.Context, c *catalog.Catalog, reporters []event.Reporter, h HostOptions, stop <-chan struct{}) (sum event.Summary, err error) {
	st, err := s.recorder.Begin(ctx, state.RunInfo{ID: state.NewRunID(s.recorder.options.StateDir, s.process.Clock), Kind: "repl", Site: s.File, Inputs: s.loader.site.inputs.records()})
	if err != nil {
		return sum, err
	}
	defer func() { st.End(sum) }()
	engine, err := s.engine(st, c, reporters)
	if err != nil {
		return sum, err
	}
	engine.Stop = stop
	ctx, cancel := s.options.Record.Limited(ctx)
	defer cancel()
	s.reportTo(ctx, engine)
	sum = engine.Run(ctx, s.recorder.Host(h), c)
	return sum, nil
}

// Look returns the present state of a resource, looked at with its declaration if there is one.
func (s *Scratch) Look(ctx context.Context, name string) (report.State, error) {
	id, err := resource.ParseID(name)
	if err != nil {
		return report.State{}, err
	}
	r := s.loader.builder.Get(id)
	if r == nil {
		if r, err = s.makeUndeclared(id); err != nil {
			return report.State{}, err
		}
	}
	reg, err := s.providers(r)
	if err != nil {
		return report.State{}, err
	}
	v := &s.recorder.Host(s.options.Host).View
	if err := reg.MayWork(v, r); err != nil {
		return report.State{}, r.About(err)
	}
	provider, err := reg.Select(r, s.loader.site.Facts)
	if err != nil {
		return report.State{}, r.About(err)
	}
	found, err := provider.Inspect(ctx, v, r.Spec)
	if err != nil {
		return report.State{}, r.About(err)
	}
	return report.StateOf(r.ID, provider.Name, found), nil
}

// makeUndeclared makes a resource with only a name, to look at it.
func (s *Scratch) makeUndeclared(id resource.ID) (*resource.Resource, error) {
	t := s.Registry().Type(id.Type)
	if t == nil {
		return nil, UnknownType(s.Registry(), id.Type)
	}
	tab := &schema.Table{Entries: []schema.Entry{{Key: t.Schema().Name().Name, Val: schema.StringValue(id.Name)}}}
	return t.DecodeQuery(tab, resource.Origin{Dir: s.loader.cwd})
}

// ListDir lists a directory of the machine for completion; names of directories end with a slash.
// A relative directory begins beside the script.
func (s *Scratch) ListDir(dir string) []string {
	v := &s.loader.site.Host.View
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	if !filepath.IsAbs(dir) {
		v = &s.process.Host("").View // the machine itself, not the managed root
	}
	names, err := v.ReadDir(abs)
	if err != nil {
		return nil
	}
	for i, name := range names {
		if is, err := v.IsDirectory(filepath.Join(abs, name)); err == nil && is {
			names[i] += "/"
		}
	}
	return names
}

// Modules returns the names in modules of others that require finds.
func (s *Scratch) Modules() []string {
	x := s.loader.packagesOf(s.unit)
	if x.open() != nil || x.site == nil {
		return nil
	}
	return x.site.Requirable()
}
