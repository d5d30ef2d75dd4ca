package site

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/providers/fake"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/stdlib"
)

// SpecTimeout is the time limit of a script that a spec evaluates.
const SpecTimeout = time.Minute

// A SpecCatalog is the catalog of a script on an imagined machine. Its files are real and in a
// directory of their own; everything else is a model.
type SpecCatalog struct {
	Site    *Site
	loader  *siteLoader
	machine *fake.Machine
}

var _ spec.Catalog = (*SpecCatalog)(nil)

// errNoNetwork is the error of a download in a spec.
var errNoNetwork = diag.SubjectCannot("specs", "download files")

// offlineTransport refuses downloads.
type offlineTransport struct{}

// RoundTrip implements http.RoundTripper.
func (offlineTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNoNetwork }

// refusingRunner refuses commands.
type refusingRunner struct{}

// Run implements host.Runner.
func (refusingRunner) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	return host.Result{}, diag.SubjectCannot("specs", "run commands, got %s", c)
}

// imaginedHost returns the host of an imagined machine below root. Types without a model use it
// too: it runs no command, has no bus and no network, and writes only below root.
func imaginedHost(m *fake.Machine, root string, clock host.Clock) *host.Host {
	return host.New(host.Options{Root: root, Runner: m, Clock: clock, Transport: offlineTransport{}})
}

// LoadSpec evaluates a script or manifest for a spec, with the machine below root. After an error
// it returns a catalog that knows the texts with the mistakes, or nil.
func LoadSpec(ctx context.Context, p *Process, root, file string, g spec.Fixture) (*SpecCatalog, error) {
	p.Files.setContextOnce(ctx)
	text, err := p.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := fake.New()
	h := imaginedHost(m, root, p.Clock)
	if err := imagine(m, h, g); err != nil {
		return nil, err
	}
	env := &TemplateEnv{Clock: p.Clock, Facts: facts.Static(g.Facts)}
	real, err := NewRegistry(env)
	if err != nil {
		return nil, err
	}
	reg, err := resource.NewRegistry(m.Providers(real)...)
	if err != nil {
		return nil, err
	}
	own := *p
	own.Messages = &Messages{W: p.Messages.W} // the messages of the spec itself keep their sources
	s := &Site{Registry: reg.WithFinder(env.findShipped).WithModel(m.Functions), Facts: env.Facts, Host: h}
	l, err := own.newLoader(s, env, &Options{EvalTimeout: SpecTimeout, Data: DataOptions{None: true}}, g.Args, false)
	if err != nil {
		return nil, err
	}
	l.lookupEnv = func(name string) (string, bool) { v, ok := g.Env[name]; return v, ok }
	l.manifests.Environ, l.manifests.Overlays = g.Env, nil
	if g.Data != nil {
		text, err := json.Marshal(map[string]any{"data": g.Data}) // JSON is YAML too
		if err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
		l.manifests.Overlays = []manifest.Source{{File: "data of the spec", Text: string(text)}}
	}
	err = l.load(ctx, file, string(text))
	if err == nil {
		err = s.order(&l.builder, PartOptions{})
	}
	return &SpecCatalog{s, l, m}, err
}

// Source finds the text of a script or manifest, for messages.
func (c *SpecCatalog) Source(file string) (string, bool) { return c.loader.Source(file) }

// SpecInterp returns the interpreter of a spec. Path is searched for its modules, and reg gets
// its types; extend adds the functions of specs.
func SpecInterp(p *Process, file string, path []string, reg *resource.Registry, extend func(*luaapi.Interp)) *luaapi.Interp {
	h := host.New(host.Options{Clock: p.Clock, Runner: refusingRunner{}, Transport: offlineTransport{}})
	library := Extend(std.Options{View: &h.View, Cwd: filepath.Dir(file)})
	return luaapi.New(luaapi.Options{
		Registry: reg, Builder: new(catalog.Builder), Version: p.Version, Env: os.LookupEnv, Print: p.Messages.W, Secrets: p.Secrets,
		Packages: p.newPackages(filepath.Dir(file), file),
		Timeout:  SpecTimeout, Path: path, Library: stdlib.Library, Warn: p.Messages.warnAt, ReadFile: p.Files.ReadFile,
		Extend: func(in *luaapi.Interp) {
			library(in)
			extend(in)
		},
	})
}

// SpecRunner makes the machine of a spec below root, and returns the runner that answers its
// commands.
func SpecRunner(root string, g spec.Fixture) (host.Runner, error) {
	m := fake.New()
	m.Converge()
	return m, imagine(m, host.New(host.Options{Root: root, Runner: m}), g)
}

// imagine gives a machine the contents of a spec's fixture.
func imagine(m *fake.Machine, h *host.Host, g spec.Fixture) error {
	maps.Copy(m.Packages, g.Packages)
	for name, state := range g.Services {
		m.Services[name] = fake.Service{Running: state == "running", Enabled: state == "running", Masked: state == "masked"}
	}
	for command, a := range g.Commands {
		m.Answers[command] = fake.Answer(a)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Files)) {
		if !strings.HasPrefix(name, "/") {
			return fmt.Errorf("files: %w", diag.Expected("absolute paths").Got("%q", name))
		}
		if err := m.Write(h, name, g.Files[name]); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	return nil
}

// Catalog implements spec.Catalog.
func (c *SpecCatalog) Catalog() *catalog.Catalog { return c.Site.Catalog }

// Commands implements spec.Catalog.
func (c *SpecCatalog) Commands() []string { return c.machine.Commands() }

// ReadFile implements spec.Catalog.
func (c *SpecCatalog) ReadFile(path string) ([]byte, error) { return c.Site.Host.ReadFile(path) }

// Converge implements spec.Catalog.
func (c *SpecCatalog) Converge(ctx context.Context) (spec.Outcome, error) {
	c.machine.Converge()
	var first, second events
	engine := &converge.Engine{Registry: c.Site.Registry, Facts: c.Site.Facts, Reporters: []event.Reporter{&first}, Sequential: true}
	var wrong diag.List
	c.Site.reportTo(ctx, engine, wrong.Add)
	sum := engine.Run(ctx, c.Site.Host, c.Site.Catalog)
	out := spec.Outcome{Events: first.list()}
	if sum.Interrupted {
		return out, context.Cause(ctx)
	}
	if err := wrong.Err(); err != nil || sum.Failed() {
		return out, err
	}
	engine.Reporters = []event.Reporter{&second}
	c.Site.reportTo(ctx, engine, wrong.Add)
	engine.Plan(ctx, &c.Site.Host.View, c.Site.Catalog)
	out.SecondRun = second.unsettled()
	return out, nil
}
