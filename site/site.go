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
)

// A Site is a script or manifest that was read and found good.
type Site struct {
	Registry *resource.Registry
	Catalog  *catalog.Catalog
	Facts    *facts.Facts
	Host     *host.Host
	Manifest *manifest.Manifest // nil if it is a script

	secrets    *secret.Keeper
	scripts    []*luaapi.Interp     // that were evaluated, or are
	prefetcher *prefetch.Prefetcher // nil if nothing was looked at yet
	inputs     *inputLog
}

// Load reads a script or manifest and builds its catalog, for a command that only
// looks at the machine. Args are the arguments of the script.
func (p *Process) Load(ctx context.Context, name string, args []string, o *Options) (*Site, error) {
	return p.load(ctx, p.unrecordedHost(o.Root), name, args, o, loadOptions{noop: true})
}

// LoadManifest reads a manifest so that it can be written as another text. It returns nil if
// the file is a script.
func (p *Process) LoadManifest(ctx context.Context, name string, o *Options) (*manifest.Manifest, error) {
	s, err := p.load(ctx, p.unrecordedHost(o.Root), name, nil, o, loadOptions{noop: true, resolved: true})
	if err != nil {
		return nil, err
	}
	return s.Manifest, nil
}

// Examine reads a script or manifest as [Process.Load] does, for who shows what is in it. The
// site has its manifest whole, so that it can be converted, besides its catalog. If there are
// mistakes, it is what could be read all the same, or nil: its types are known, and its catalog
// is not there.
func (p *Process) Examine(ctx context.Context, name string, o *Options) (*Site, error) {
	return p.load(ctx, p.unrecordedHost(o.Root), name, nil, o, loadOptions{noop: true, whole: true})
}

// loadOptions are what only some ask of the reading of a site.
type loadOptions struct {
	noop     bool // scripts learn that nothing will be changed
	resolved bool // a manifest keeps its declarations, and the site has no catalog
	whole    bool // it keeps both, and what it has of them if there are mistakes
	// runner is that of the host, for a run: then resources are looked at while the site is
	// still being read. For all else it is nil.
	runner  *observedRunner
	timings *Timings // may be nil
}

// load is Load for the given host, and for runs too.
func (p *Process) load(ctx context.Context, h *host.Host, name string, args []string, o *Options, how loadOptions) (*Site, error) {
	if err := o.check(h); err != nil {
		return nil, err
	}
	p.Files.beginOnce(ctx)
	env := &TemplateEnv{Clock: p.Clock, substitutes: p.Substitutes}
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
	if p.bundle != nil && name == p.bundle.name {
		for _, in := range p.bundle.inputs() {
			s.inputs.add(in)
		}
	}
	l.manifests.Light = !how.resolved && !how.whole
	if how.runner != nil {
		l.runner = how.runner
		l.prefetch(ctx, how.runner)
	}
	how.timings.enter(phaseEvaluate)
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
		if how.whole {
			return s, err
		}
		return nil, err
	}
	if how.resolved { // the resources are no longer needed
		s.Catalog, l.builder = nil, catalog.Builder{}
	}
	return s, nil
}

// declaredAll reports whether mistakes are about resources only, so that the text was read to its
// end: what is missing then is missing.
func declaredAll(err error) bool {
	var list diag.List
	list.Add(err)
	return !slices.ContainsFunc(list, func(e *diag.Error) bool { return !strings.Contains(e.Subject, "#") })
}

// Close ends what a site does in the background.
func (s *Site) Close() {
	if s.prefetcher != nil {
		s.prefetcher.Stop()
	}
}

// order orders what b holds, and takes a part of it.
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

// IsLua reports whether a text is Lua rather than YAML: by its suffix, or by
// what it begins with.
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
