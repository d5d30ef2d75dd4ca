package studio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// A declaredResource is a resource of a declaration.
type declaredResource struct {
	id     string
	skip   string
	values func() map[string]json.RawMessage // its properties here
}

// An evaluator evaluates texts, each in a site.Process of its own.
type evaluator struct {
	ctx       context.Context // for work that outlives requests
	main      *site.Process   // of studio itself, which evaluates nothing
	site      site.Options
	directory string                       // absolute
	linter    func() (*lint.Linter, error) // a new one for each check, because several run at once

	mu    sync.Mutex
	facts *facts.Facts // of this machine
}

// A check is the evaluation of one text.
type check struct {
	by       *evaluator
	name     string
	kind     string
	rev      int
	language string
	texts    map[string]string // texts that are not saved, by absolute path
}

// process returns the process of the evaluation of a text; each has its own, because several run at
// once. Warnings are passed to warn.
func (e *evaluator) process(edited map[string]string, warn func(*diag.Error)) *site.Process {
	p := *e.main
	m := &site.Messages{W: terminal.NewWriter(discard{}), Warning: warn}
	p.Messages = m
	p.Files = &site.Files{AllowInsecure: e.main.Files.AllowInsecure, Messages: m, EditedText: func(path string) (string, bool) {
		text, ok := edited[path]
		return text, ok
	}}
	p.Secrets = secret.New(nil)
	return &p
}

// discard drops the output of scripts.
type discard struct{}

// Write implements io.Writer.
func (discard) Write(b []byte) (int, error) { return len(b), nil }

// run evaluates the text. No mistake in the text ends studio.
func (c *check) run(ctx context.Context) (out *checkResult) {
	began := time.Now()
	out = &checkResult{rev: c.rev}
	defer func() {
		if x := recover(); x != nil {
			out.add(fmt.Errorf("internal error: %v", x), "error")
		}
		out.duration = time.Since(began)
	}()
	p := c.by.process(c.texts, func(d *diag.Error) { out.add(d, "warning") })
	if c.kind != "manifest" && c.kind != "script" {
		out.add(c.parse(), "error")
		c.lint(ctx, p, out)
		return out
	}
	o := c.by.options()
	found, err := p.Examine(ctx, c.name, o)
	if found != nil {
		out.types = ownTypes(found)
	}
	if ctx.Err() != nil && c.by.ctx.Err() == nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		err = diag.Errorf(diag.Pos{File: c.name}, "evaluation timed out after %s", checkTimeout)
	}
	out.add(err, "error")
	if err == nil {
		out.catalog = found.Catalog
		out.declared = c.declared(found, p.Secrets)
	}
	c.lint(ctx, p, out)
	out.derived = c.derive(found, out.types, err)
	return out
}

// options returns the options of evaluations.
func (e *evaluator) options() *site.Options {
	o := e.site
	o.EvalTimeout, o.EvalMemory = checkTimeout, checkMemory
	o.Facts.Facts = e.knownFacts()
	return &o
}

// knownFacts returns the facts of this machine. They are gathered once, and again at a person's
// request.
func (e *evaluator) knownFacts() *facts.Facts {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.facts == nil {
		o := e.site
		// The evaluation reports facts that cannot be gathered.
		e.facts, _ = e.main.Facts(e.ctx, e.main.View(o.Root), o.Facts)
	}
	return e.facts
}

// declared returns the resources of each declaration in the file, by its place.
func (c *check) declared(found *site.Site, secrets *secret.Keeper) map[diag.Pos][]declaredResource {
	out := map[diag.Pos][]declaredResource{}
	for _, r := range found.Catalog.Resources {
		if filepath.Clean(r.Pos.File) != filepath.FromSlash(c.name) {
			continue
		}
		one := declaredResource{id: r.ID.String(), skip: r.Skip, values: func() map[string]json.RawMessage { return valuesOf(r, secrets) }}
		at := diag.Pos{Line: r.Pos.Line, Col: r.Pos.Col}
		out[at] = append(out[at], one)
	}
	return out
}

// valuesOf returns the properties of a resource on this machine, without its secrets.
func valuesOf(r *resource.Resource, secrets *secret.Keeper) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if r.Skip != "" {
		return out
	}
	for _, e := range r.Type.Properties().Conceal(r.Properties()).Entries {
		if text, err := json.Marshal(e.Val.Go()); err == nil {
			out[e.Key] = json.RawMessage(secrets.Stars(string(text)))
		}
	}
	return out
}

// pathOf returns the absolute path of a file of the site.
func (e *evaluator) pathOf(name string) string {
	return filepath.Join(e.directory, filepath.FromSlash(name))
}

// gatherFacts gathers the present facts of this machine.
func (e *evaluator) gatherFacts(ctx context.Context) (*facts.Facts, error) {
	p := e.process(nil, nil)
	p.Files.SetContext(ctx)
	o := e.site
	return p.Facts(ctx, p.View(o.Root), o.Facts)
}
