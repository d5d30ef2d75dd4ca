package site

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/prefetch"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// A Site is a script or manifest that was read. It has mistakes only with [Options.Whole].
type Site struct {
	Registry *resource.Registry
	Catalog  *catalog.Catalog
	Facts    *facts.Facts
	Host     *host.Host
	Manifest *manifest.Manifest // nil for a script

	name, path string // in the state directory, see nameOfRun
	secrets    *secret.Keeper
	scripts    []*luaapi.Interp     // in order of evaluation
	prefetcher *prefetch.Prefetcher // nil if nothing was prefetched
	inputs     *inputLog
}

// Load reads a script or manifest and builds its catalog, for a command that only looks. Args are
// the arguments of the script.
func (p *Process) Load(ctx context.Context, name string, args []string, o *Options) (*Site, error) {
	return p.load(ctx, p.hostOf(o), name, args, o, loadOptions{noop: true})
}

// loadOptions are options of special readers of a site.
type loadOptions struct {
	noop bool // tells scripts that nothing will be changed
	// runner is the runner of the host of a run: resources are prefetched while the site is still
	// being read. Otherwise it is nil.
	runner  *observedRunner
	timings *Timings // may be nil
}

// load is Load with a given host, for runs too.
func (p *Process) load(ctx context.Context, h *host.Host, name string, args []string, o *Options, how loadOptions) (*Site, error) {
	if err := o.check(h); err != nil {
		return nil, err
	}
	p.Files.setContextOnce(ctx)
	env := &TemplateEnv{Clock: p.Clock, process: p}
	reg, err := NewRegistry(env)
	if err != nil {
		return nil, err
	}
	if env.Facts, err = p.Facts(ctx, &h.View, o.Facts); err != nil {
		return nil, err
	}
	shown, text, err := p.ReadInput(ctx, name)
	if err != nil {
		return nil, withNearFile(name, err)
	}
	s := &Site{Registry: reg, Facts: env.Facts, Host: h, secrets: p.Secrets}
	o.Data.Site = name
	l, err := p.newLoader(s, env, o, args, how.noop)
	if err != nil {
		return nil, err
	}
	if p.Files.Bundle != nil && name == p.Files.Bundle.Name {
		for _, in := range p.Files.Bundle.Inputs {
			s.inputs.add(in)
		}
	}
	l.manifests.Light = !o.Whole
	if how.runner != nil {
		l.runner = how.runner
		l.prefetch(ctx, how.runner)
	}
	how.timings.enter(phaseEvaluate)
	defer p.watchOverdue(o)()
	if err = l.load(ctx, shown, text); err == nil {
		how.timings.enter(phaseOrder)
		err = s.order(&l.builder, o.Part)
	} else if declaredAll(err) {
		err = errors.Join(err, l.builder.CheckReferences())
	}
	if err == nil {
		err = p.Messages.warnOf(l.builder.Conflicts(), o.Strict)
	}
	if err != nil {
		s.Close()
		if o.Whole {
			return s, err
		}
		return nil, err
	}
	if s.name, s.path, err = p.Files.Bundle.nameOfRun(name, args, o, p.Secrets); err != nil {
		return nil, err
	}
	return s, nil
}

// RunInfo describes a run of the site for its record.
func (s *Site) RunInfo(id, kind string) state.RunInfo {
	return state.RunInfo{ID: id, Kind: kind, Site: s.name, File: s.path, Inputs: s.inputs.records()}
}

// declaredAll reports whether all mistakes are in resources. Then the text was read to its end,
// and a reference to an undeclared resource is a mistake too.
func declaredAll(err error) bool {
	var list diag.List
	list.Add(err)
	return !slices.ContainsFunc(list, func(e *diag.Error) bool { return !strings.Contains(e.Subject, "#") })
}

// Close ends the background work of a site.
func (s *Site) Close() {
	if s.prefetcher != nil {
		s.prefetcher.Stop()
	}
}

// order builds the catalog of b, and selects a part of it.
func (s *Site) order(b *catalog.Builder, part PartOptions) error {
	var errs diag.List
	selection, err := part.selection()
	errs.Add(err)
	for _, r := range b.Resources() {
		errs.Add(s.Registry.CheckProvider(r))
	}
	errs.Add(catalog.MarkSecrets(s.secrets, b.Resources()))
	c, err := b.Build()
	errs.Add(err)
	if err := errs.Err(); err != nil {
		return err
	}
	s.Catalog, err = c.Select(selection)
	return err
}

// IsLua reports whether a text is Lua rather than YAML: by its suffix, or by its beginning.
func IsLua(name, text string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".lua":
		return true
	case ".yaml", ".yml", ".json":
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "{"), strings.HasPrefix(line, "%YAML"):
			// A Lua comment begins with two dashes, a YAML document with three.
			return strings.HasPrefix(line, "---@") || strings.HasPrefix(line, "----")
		}
		key, rest, ok := strings.Cut(line, ":")
		return !ok || strings.HasPrefix(rest, ":") || strings.ContainsAny(key, " ({='\"[")
	}
	return true
}
