package studio

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/studio/model"
)

// An evaluator has texts evaluated, each in a process of its own.
type evaluator struct {
	ctx       context.Context // for work that outlives requests
	jobs      *jobs
	main      *site.Process // of studio itself, which evaluates nothing
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
	if c.kind != "manifest" && c.kind != "script" {
		out.add(c.parse(), "error")
		c.lint(ctx, out)
		return out
	}
	found, err := c.by.ask(ctx, &request{File: c.name, Texts: c.texts})
	if err != nil {
		found = new(answer)
	}
	c.note(found, out)
	if err != nil {
		out.add(diag.Errorf(diag.Pos{File: c.name}, "%w", err), "error")
	}
	c.lint(ctx, out)
	return out
}

// note notes the results of an evaluation.
func (c *check) note(found *answer, out *checkResult) {
	out.mistakes = found.Mistakes
	out.types = model.Types{}
	shipped := shippedTypes()
	for name, t := range found.Types {
		if _, ok := shipped[name]; !ok {
			out.types[name] = t
		}
	}
	if found.Resources != nil {
		out.order = &order{resources: found.Resources, edges: found.Edges}
		out.declared = map[diag.Pos][]declaredResource{}
		for _, r := range found.Resources {
			if r.Values != nil {
				at := diag.Pos{Line: r.Pos.Line, Col: r.Pos.Col}
				out.declared[at] = append(out.declared[at], r)
			}
		}
	}
	out.derived = found.Derived
	switch {
	case c.language == model.Lua:
		out.derived = c.deriveManifest(out.types, out.order != nil)
	case out.order == nil:
		out.derived = &DerivedText{Language: model.Lua, Reason: notDerived}
	}
}

// knownFacts returns the facts of this machine. They are gathered once, and again at a person's
// request.
func (e *evaluator) knownFacts() *facts.Facts {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.facts == nil {
		o := e.site
		// The evaluation reports facts that cannot be gathered.
		e.facts, _ = e.main.Facts(e.ctx, &e.main.Host(o.Root).View, o.Facts)
	}
	return e.facts
}

// pathOf returns the absolute path of a file of the site.
func (e *evaluator) pathOf(name string) string {
	return filepath.Join(e.directory, filepath.FromSlash(name))
}

// gatherFacts gathers the present facts of this machine.
func (e *evaluator) gatherFacts(ctx context.Context) (*facts.Facts, error) {
	p := *e.main
	p.Messages = &site.Messages{W: terminal.NewWriter(io.Discard)}
	p.Files = &site.Files{AllowInsecure: e.main.Files.AllowInsecure, Messages: p.Messages}
	p.Files.SetContext(ctx)
	o := e.site
	return p.Facts(ctx, &p.Host(o.Root).View, o.Facts)
}
