package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/stdlib"
)

// A loading is one site in the course of being read: scripts and manifests, and
// what they apply, into one catalog.
type loading struct {
	env        *env
	site       *site
	around     *surroundings
	flags      *siteFlags
	args       []string
	noop       bool
	builder    catalog.Builder
	units      catalog.Units
	loader     *manifest.Loader
	cwd        string
	sources    []diag.Sources // of the scripts
	evaluating int            // scripts inside one another
	// lookupEnv finds what env reads in a script.
	lookupEnv func(name string) (string, bool)
}

func (e *env) newLoading(s *site, around *surroundings, f *siteFlags, args []string, noop bool) (*loading, error) {
	l := &loading{env: e, site: s, around: around, flags: f, args: args, noop: noop, lookupEnv: os.LookupEnv}
	environ, err := e.environ(&f.dataFlags)
	if err != nil {
		return nil, err
	}
	if l.cwd, err = os.Getwd(); err != nil {
		return nil, err
	}
	l.loader = &manifest.Loader{
		Registry: s.registry, Facts: s.facts, Environ: environ, ReadFile: e.readFile, Now: s.host.Now,
		Module: l.module, Fetch: l.fetch, Dialect: f.dialect.value, Secrets: e.secrets, Warn: e.scriptWarns, Strict: f.strict,
		Timeout: f.evalTimeout,
	}
	l.units = catalog.Units{Builder: &l.builder, ReadFile: e.readFile, Load: l.applied}
	src, err := e.source(&f.dataFlags)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if src.Text != "" {
		l.loader.Overlays = []manifest.Source{src}
	}
	e.sources = l.source
	return l, nil
}

// fetch gets what is behind a URL.
func (l *loading) fetch(ctx context.Context, url string) ([]byte, error) {
	src, err := l.site.host.OpenSource(ctx, url)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return io.ReadAll(src)
}

// source finds the text of a script or manifest, for messages.
func (l *loading) source(file string) (string, bool) {
	for _, find := range append(l.sources, l.loader.Sources()) {
		if text, ok := find(file); ok {
			return text, true
		}
	}
	return "", false
}

// load reads the script or manifest of the run.
func (l *loading) load(ctx context.Context, name, text string) (err error) {
	dir := l.cwd
	if name != stdin {
		if dir, err = filepath.Abs(filepath.Dir(name)); err != nil {
			return err
		}
	}
	u := l.units.Root(name, dir)
	if isLua(name, text) && l.flags.dialect.value == "" {
		if u.Data, err = l.overlaid(); err != nil {
			return err
		}
		return l.evaluate(ctx, u, text, l.args)
	}
	m, err := l.loader.Load(ctx, u, text)
	if err != nil {
		return err
	}
	l.site.manifest, l.around.data = m, m.Data
	return nil
}

// overlaid returns the data that the command line gives a script.
func (l *loading) overlaid() (map[string]any, error) {
	if len(l.loader.Overlays) == 0 {
		return nil, nil
	}
	data, err := l.loader.Data(manifest.Source{}, nil)
	l.around.data = data
	return data, err
}

// applied loads a script or manifest that another one applies.
func (l *loading) applied(ctx context.Context, u *catalog.Unit, text string) error {
	if strings.ToLower(filepath.Ext(u.Name)) == ".lua" {
		return l.evaluate(ctx, u, text, nil)
	}
	_, err := l.loader.Load(ctx, u, text)
	return err
}

// module loads a module with types for a manifest.
func (l *loading) module(ctx context.Context, u *catalog.Unit, name string) error {
	in := l.interp(ctx, ctx, u, nil)
	defer in.Close()
	return in.Require(ctx, u.Name, name)
}

// evaluate evaluates a script.
func (l *loading) evaluate(ctx context.Context, u *catalog.Unit, text string, args []string) error {
	outer := ctx
	ctx, cancel := l.env.untilStopped(outer)
	defer cancel()
	in := l.interp(ctx, outer, u, args)
	defer in.Close()
	l.evaluating++
	err := in.Run(ctx, u.Name, []byte(text))
	if l.evaluating--; l.evaluating == 0 {
		l.env.logInputs(l.site.host.Log())
	}
	return l.env.ifStopped(ctx, err)
}

// ifStopped returns an error that came because the run shall end as the exit status
// that says so, and any other as it is.
func (e *env) ifStopped(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errInterrupted) && !e.stopped() {
		return err
	}
	e.explain(errInterrupted)
	return status(exitInterrupted)
}

// stopped reports whether the run shall end.
func (e *env) stopped() bool {
	select {
	case <-e.stop: // never, if it is nil
		return true
	default:
		return false
	}
}

// errInterrupted is why nothing more is done after a signal.
var errInterrupted = errors.New("interrupted")

// untilStopped returns a context that ends when the run shall end. It is for what
// comes before a run, where there is nothing to finish.
func (e *env) untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if e.stop != nil {
		go func() {
			select {
			case <-e.stop:
				cancel(errInterrupted)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// interp returns what evaluates scripts of a unit. Ctx is that of the evaluation,
// outer that of the run.
func (l *loading) interp(ctx, outer context.Context, u *catalog.Unit, args []string) *luaapi.Interp {
	e := l.env
	in := luaapi.New(luaapi.Options{
		Context:  outer,
		Registry: l.site.registry, Builder: &l.builder, Facts: l.site.facts, Args: args, Noop: l.noop, Version: readBuildInfo().Version,
		Env: l.lookupEnv, Print: e.stderr, Timeout: l.flags.evalTimeout, Path: e.modules,
		Scope:    u.Scope,
		ReadFile: e.readModule(u.Name),
		Add:      admit(ctx, u),
		Warn:     e.scriptWarns,
		Strict:   l.flags.strict,
		Secrets:  e.secrets,
		Library:  stdlib.Library,
		Extend:   extending(l.library(u)),
	})
	l.sources = append(l.sources, in.Sources())
	l.site.scripts = append(l.site.scripts, in)
	return in
}

// library returns the standard library for the scripts of a unit.
func (l *loading) library(u *catalog.Unit) std.Options {
	log := l.site.host.Log()
	// What lies beside a script is not below the root.
	options := host.Options{Clock: l.env.clock, Log: log}
	if l.env.runner != nil {
		options.Runner = l.env.runner
	}
	outside := host.New(options)
	return std.Options{
		View: &l.site.host.View, Site: &outside.View, Cwd: l.cwd, Log: log, Data: u.Data,
		Record: func(in std.Input) {
			l.env.inputs = append(l.env.inputs, in)
			if l.evaluating == 0 {
				l.env.logInputs(log)
			}
		},
		Resolve: func(file, text string) (map[string]any, error) {
			data, err := l.loader.Data(manifest.Source{File: file, Text: text}, u.Data)
			if u.Scope.Parent == nil {
				l.around.data = data
			}
			return data, err
		},
		Templates: l.loader.Env,
	}
}

// scriptWarns prints what a script warns of.
func (e *env) scriptWarns(pos diag.Pos, msg string) {
	diag.Render(e.stderr, "warning: ", &diag.Error{Pos: pos, Err: errors.New(msg)}, nil)
}

// admit returns how a script adds resources to the catalog of a unit.
func admit(ctx context.Context, u *catalog.Unit) func(*resource.Resource) (*resource.Resource, error) {
	return func(r *resource.Resource) (*resource.Resource, error) { return u.Add(ctx, r) }
}
