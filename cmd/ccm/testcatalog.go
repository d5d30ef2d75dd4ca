package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/providers/fake"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
)

// A testCatalog is what a script declares on a machine that is imagined: its
// files are real and lie below a directory of their own, all else is a model.
type testCatalog struct {
	site    *site
	machine *fake.Machine
	sources diag.Sources
}

var _ spec.Catalog = (*testCatalog)(nil)

// errNoNetwork is what a download gives in a spec.
var errNoNetwork = errors.New("nothing is downloaded in a spec")

// imaginedHost returns the host of a machine below root. Types of which there is no model
// act on it too: it runs no command, has no bus and no network, and writes only below root.
func imaginedHost(m *fake.Machine, root string, clock host.Clock) *host.Host {
	return host.New(host.Options{Root: root, Runner: m, Clock: clock, Transport: offline{}})
}

// offline carries no downloads.
type offline struct{}

// RoundTrip implements http.RoundTripper.
func (offline) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNoNetwork }

// testCatalog evaluates a script or manifest for a spec, with the machine below
// root. With an error it is what is known of the texts in which the mistakes are,
// or nil.
func (e *env) testCatalog(ctx context.Context, root, file string, g spec.Given) (*testCatalog, error) {
	e.reading.within(ctx)
	text, err := e.readFile(file)
	if err != nil {
		return nil, err
	}
	m := fake.New()
	h := imaginedHost(m, root, e.clock)
	if err := imagine(m, h, g); err != nil {
		return nil, err
	}
	around := &surroundings{clock: e.clock, facts: facts.Static(g.Facts)}
	real, err := registry(around)
	if err != nil {
		return nil, err
	}
	reg, err := resource.NewRegistry(m.Providers(real)...)
	if err != nil {
		return nil, err
	}
	own := *e // what messages find of the spec stays as it is
	f := &siteFlags{evalTimeout: testTimeout, dialect: newChoice("", "ccm", "tinycm"), dataFlags: dataFlags{none: true}}
	s := &site{registry: reg.Layer(), facts: around.facts, host: h}
	l, err := own.newLoading(s, around, f, g.Args, false)
	if err != nil {
		return nil, err
	}
	l.lookupEnv = func(name string) (string, bool) { v, ok := g.Env[name]; return v, ok }
	l.loader.Environ, l.loader.Overlays = g.Env, nil
	if g.Data != nil {
		text, err := json.Marshal(map[string]any{"data": g.Data}) // which is YAML too
		if err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
		l.loader.Overlays = []manifest.Source{{File: "data of the spec", Text: string(text)}}
	}
	err = l.load(ctx, file, string(text))
	if err == nil {
		err = s.build(&l.builder, f)
	}
	return &testCatalog{s, m, l.source}, err
}

// imagined makes the machine below root what a spec says, and returns what answers
// commands there.
func imagined(root string, g spec.Given) (host.Runner, error) {
	m := fake.New()
	m.Converge()
	return m, imagine(m, host.New(host.Options{Root: root, Runner: m}), g)
}

// imagine makes a machine what a spec says.
func imagine(m *fake.Machine, h *host.Host, g spec.Given) error {
	maps.Copy(m.Packages, g.Packages)
	for name, state := range g.Services {
		m.Services[name] = fake.Service{Running: state == "running", Enabled: state == "running"}
	}
	for command, a := range g.Commands {
		m.Answers[command] = fake.Answer(a)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Files)) {
		if !strings.HasPrefix(name, "/") {
			return fmt.Errorf("files: want absolute paths, got %q", name)
		}
		if err := m.Write(h, name, g.Files[name]); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	return nil
}

// Catalog implements spec.Catalog.
func (c *testCatalog) Catalog() *catalog.Catalog { return c.site.catalog }

// Commands implements spec.Catalog.
func (c *testCatalog) Commands() []string { return c.machine.Commands() }

// ReadFile implements spec.Catalog.
func (c *testCatalog) ReadFile(path string) ([]byte, error) { return c.site.host.ReadFile(path) }

// Converge implements spec.Catalog.
func (c *testCatalog) Converge(ctx context.Context) (spec.Outcome, error) {
	c.machine.Converge()
	var first, second events
	engine := &converge.Engine{Registry: c.site.registry, Facts: c.site.facts, Reporter: &first, Sequential: true}
	var wrong diag.List
	c.site.tellScripts(ctx, engine, wrong.Add)
	sum := engine.Run(ctx, c.site.host, c.site.catalog)
	out := spec.Outcome{Events: first.list()}
	if sum.Interrupted {
		return out, context.Cause(ctx)
	}
	if err := wrong.Err(); err != nil || sum.Of(converge.Failed) > 0 {
		return out, err
	}
	engine.Reporter = &second
	c.site.tellScripts(ctx, engine, wrong.Add)
	engine.Plan(ctx, &c.site.host.View, c.site.catalog)
	out.Again = second.unsettled()
	return out, nil
}

// events collects what is reported.
type events []*converge.Event

// Begin implements converge.Reporter.
func (*events) Begin(*resource.Resource, int, int) {}

// Event implements converge.Reporter.
func (es *events) Event(e *converge.Event) { *es = append(*es, e) }

func (es *events) list() []spec.Event {
	var out []spec.Event
	for _, e := range *es {
		out = append(out, spec.Event{ID: e.Resource.ID.String(), Outcome: e.Outcome.String(), Pos: e.Resource.Pos, Why: whyOf(e)})
	}
	return out
}

// unsettled returns those that a run would change, or may.
func (es *events) unsettled() []spec.Event {
	var out []spec.Event
	for i, e := range *es {
		if e.Outcome != converge.Stable && e.Outcome != converge.Skipped {
			out = append(out, (*es)[i:i+1].one())
		}
	}
	return out
}

func (es events) one() spec.Event { return es.list()[0] }

// whyOf says why a resource is what it is: what failed, what differs, or what
// would be done.
func whyOf(e *converge.Event) string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case len(e.Diff) > 0:
		return resource.Decision{Diff: e.Diff}.String()
	case len(e.Actions) > 0:
		phrases := make([]string, len(e.Actions))
		for i, a := range e.Actions {
			phrases[i] = a.Phrase
		}
		return "it would be " + strings.Join(phrases, " and ")
	}
	return e.Reason
}
