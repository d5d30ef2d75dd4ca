package site

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/runtime/template"
	"github.com/luaccm/ccm/site/remote"
	"github.com/luaccm/ccm/stdlib"
)

// A siteLoader reads scripts and manifests, and their children, into the catalog of one site.
type siteLoader struct {
	process     *Process
	site        *Site
	env         *TemplateEnv
	options     *Options
	args        []string // of the named script
	noop        bool     // tells scripts that nothing will be changed
	runner      *observedRunner
	builder     catalog.Builder
	units       catalog.Units
	manifests   *manifest.Loader
	cwd         string
	sources     []diag.Sources // of scripts
	scriptDepth int            // number of nested scripts
	packages    map[string]*packages
	lookupEnv   func(name string) (string, bool)
	mu          sync.Mutex                                  // guards the fields below and the inputs: scaffolds ask during a run
	keys        map[string]string                           // values of kvGet, by URL
	services    map[registration.Query]registration.Entries // results of registrations
}

// newLoader returns the loader for the site s. Templates see env.
func (p *Process) newLoader(s *Site, env *TemplateEnv, o *Options, args []string, noop bool) (*siteLoader, error) {
	environ, err := o.Data.environ(p.Files)
	if err != nil {
		return nil, err
	}
	l := &siteLoader{process: p, site: s, env: env, options: o, args: args, noop: noop}
	if err := l.init(environ); err != nil {
		return nil, err
	}
	if l.manifests.Overlays, err = o.Data.overlays(p); err != nil {
		return nil, diag.About("data", err)
	}
	p.Messages.Sources = l.Source
	return l, nil
}

// init completes a loader. Environ is the environment for expressions.
func (l *siteLoader) init(environ map[string]string) (err error) {
	p, s := l.process, l.site
	l.env.servers = func(o *template.Options) { o.KVGet, o.Registrations = l.kvGet, l.templateRegistrations }
	if l.cwd, err = p.Files.Bundle.workingDirectory(); err != nil {
		return err
	}
	if s.inputs == nil {
		s.inputs = &inputLog{secrets: p.Secrets}
	}
	l.lookupEnv = os.LookupEnv
	l.units = catalog.Units{Builder: &l.builder, ReadFile: p.Files.ReadFile, Load: l.apply}
	l.manifests = &manifest.Loader{
		Registry: s.Registry, Facts: s.Facts, Environ: environ, ReadFile: p.Files.ReadFile, Now: s.Host.Now,
		Module: l.loadModule, Fetch: l.fetch, KVGet: l.kvGet, Registrations: l.templateRegistrations,
		Dialect: l.options.Dialect, Strict: l.options.Strict, Secrets: p.Secrets, Open: p.decryption().value, Warn: p.Messages.warnAt,
		Timeout: l.options.EvalTimeout, WaitTime: p.decryption().questions.waited,
	}
	return nil
}

// fetch downloads a URL.
func (l *siteLoader) fetch(ctx context.Context, url string) ([]byte, error) {
	src, err := l.site.Host.Sources().Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return io.ReadAll(src)
}

// kvGet is the function of expressions and templates. In a run, each key has one value.
func (l *siteLoader) kvGet(bucket, key string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := remote.KeyScheme + bucket + "/" + key
	if val, ok := l.keys[name]; ok {
		return val, nil
	}
	_, text, err := l.process.readRemote(name, l.options.Data.Context)
	if err != nil {
		return "", err
	}
	if l.keys == nil {
		l.keys = make(map[string]string)
	}
	l.keys[name] = string(text)
	l.site.inputs.add(std.Input{Kind: "kv", Name: name, Value: sha256sum.Bytes(text), Text: string(text)})
	return string(text), nil
}

// Source returns the text of a script or manifest, for messages.
func (l *siteLoader) Source(file string) (string, bool) {
	for _, find := range append(l.sources, l.manifests.Sources()) {
		if text, ok := find(file); ok {
			return text, true
		}
	}
	return "", false
}

// load reads the named script or manifest.
func (l *siteLoader) load(ctx context.Context, name, text string) (err error) {
	dir := l.cwd
	if name != Stdin {
		if dir, err = filepath.Abs(filepath.Dir(name)); err != nil {
			return err
		}
	}
	u := l.units.Root(name, dir)
	if l.isScript(name, text) {
		if u.Data, err = l.optionData(); err != nil {
			return err
		}
		return l.evaluate(ctx, u, text, l.args)
	}
	m, err := l.manifests.Load(ctx, u, text)
	if err != nil {
		return err
	}
	l.site.Manifest, l.env.Data = m, m.Data
	return nil
}

// optionData returns the data for a script that the options set.
func (l *siteLoader) optionData() (map[string]any, error) {
	if len(l.manifests.Overlays) == 0 {
		return nil, nil
	}
	data, err := l.manifests.Data(manifest.Source{}, nil)
	l.env.Data = data
	return data, err
}

// apply loads a child.
func (l *siteLoader) apply(ctx context.Context, u *catalog.Unit, text string) error {
	if strings.ToLower(filepath.Ext(u.Name)) == ".lua" {
		return l.evaluate(ctx, u, text, nil)
	}
	_, err := l.manifests.Load(ctx, u, text)
	return err
}

// loadModule loads a module with types for a manifest.
func (l *siteLoader) loadModule(ctx context.Context, u *catalog.Unit, name string) error {
	in := l.interp(ctx, ctx, u, nil)
	defer in.Close()
	return in.Require(ctx, u.Name, name)
}

// evaluate evaluates a script.
func (l *siteLoader) evaluate(ctx context.Context, u *catalog.Unit, text string, args []string) error {
	outer := ctx
	ctx, cancel := l.process.Stop.Context(outer)
	defer cancel()
	in := l.interp(ctx, outer, u, args)
	defer in.Close()
	l.scriptDepth++
	err := in.Run(ctx, u.Name, text)
	l.packagesOf(u).remember()
	if l.scriptDepth--; l.scriptDepth == 0 {
		l.site.inputs.flush(l.site.Host.Log())
	}
	return l.process.Stop.Interruption(ctx, err)
}

// interp returns the interpreter for scripts of a unit. Ctx is the context of the evaluation,
// outer that of the run.
func (l *siteLoader) interp(ctx, outer context.Context, u *catalog.Unit, args []string) *luaapi.Interp {
	o := l.scriptOptions(ctx, u, args)
	o.Context, o.Registry, o.Facts, o.Noop, o.Strict = outer, l.site.Registry, l.site.Facts, l.noop, l.options.Strict
	in := luaapi.New(o)
	l.sources = append(l.sources, in.Sources())
	l.site.scripts = append(l.site.scripts, in)
	return in
}

// scriptOptions returns the options for all scripts of a unit.
func (l *siteLoader) scriptOptions(ctx context.Context, u *catalog.Unit, args []string) luaapi.Options {
	p := l.process
	return luaapi.Options{
		Builder: &l.builder, Args: args, Version: p.Version, Env: l.lookupEnv, Print: p.Messages.W, Path: p.Modules,
		Timeout: l.options.EvalTimeout, WaitTime: p.decryption().questions.waited, Memory: l.options.EvalMemory,
		Scope:    u.Scope,
		Packages: l.packagesOf(u),
		ReadFile: p.Files.readModule(u.Name),
		Add:      func(r *resource.Resource) (*resource.Resource, error) { return u.Add(ctx, r) },
		Warn:     p.Messages.warnAt,
		Secrets:  p.Secrets,
		Library:  stdlib.Library,
		Extend:   Extend(l.library(u)),
	}
}

// packagesOf returns the modules of others for the scripts of a unit.
func (l *siteLoader) packagesOf(u *catalog.Unit) *packages {
	x := l.packages[u.Dir]
	if x == nil {
		if l.packages == nil {
			l.packages = make(map[string]*packages)
		}
		x = l.process.newPackages(u.Dir, u.Name)
		l.packages[u.Dir] = x
	}
	return x
}

// library returns the standard library for the scripts of a unit.
func (l *siteLoader) library(u *catalog.Unit) std.Options {
	log := l.site.Host.Log()
	// Files beside a script are not below the root.
	options := host.Options{Clock: l.process.Clock, Log: log}
	if l.runner != nil {
		options.Runner = l.runner
	}
	outside := host.New(options)
	return std.Options{
		View: &l.site.Host.View, ScriptView: &outside.View, Cwd: l.cwd, Log: log, Data: u.Data,
		Record: func(in std.Input) {
			in.Name = l.process.Files.Bundle.fileKnown(in.Name)
			l.site.inputs.add(in)
			if l.scriptDepth == 0 {
				l.site.inputs.flush(log)
			}
		},
		Resolve: func(file, text string) (map[string]any, error) {
			data, err := l.manifests.Data(manifest.Source{File: file, Text: text}, u.Data)
			if u.Scope.Parent == nil {
				l.env.Data = data
			}
			return data, err
		},
		CheckTrust:    func(path string) error { return l.process.Files.Trust().Check(path) },
		Templates:     l.manifests.Env,
		Registrations: l.findServices,
		Decrypt:       l.process.decryption().file,
		Open:          l.process.decryption().value,
	}
}

// isScript reports whether a text is a script rather than a manifest.
func (l *siteLoader) isScript(name, text string) bool {
	return l.options.Dialect == "" && IsLua(name, text)
}
