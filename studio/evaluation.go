package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// declared is a resource that came of a declaration.
type declared struct {
	id     string
	skip   string
	values func() map[string]json.RawMessage // its properties here
}

// A check is the evaluation of one text.
type check struct {
	s        *Server
	name     string
	kind     string
	rev      int
	language string
	edited   map[string]string // texts that are not saved, by absolute path
}

func (s *Server) newCheck(d *document) *check {
	return &check{s: s, name: d.name, kind: kindOf(d.name, &d.text), rev: d.rev, language: languageOf(d.name), edited: s.editedTexts(d)}
}

// editedTexts returns the texts that are not saved, and that of d. The caller holds d, which may
// be nil.
func (s *Server) editedTexts(d *document) map[string]string {
	out := map[string]string{}
	if d != nil {
		out[s.pathOf(d.name)] = d.text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.documents {
		if other == d || !other.mu.TryLock() {
			continue // it is being edited: what it is about to hold, its own check tells
		}
		if !other.saved() && other.where != "gone" {
			out[s.pathOf(other.name)] = other.text
		}
		other.mu.Unlock()
	}
	return out
}

// process returns what evaluates a text: an own one for each, as several go on at once. Warnings
// go to warn.
func (s *Server) process(edited map[string]string, warn func(*diag.Error)) *site.Process {
	p := *s.options.Process
	m := &site.Messages{W: terminal.NewWriter(discard{}), Warning: warn}
	p.Messages = m
	p.Files = &site.Files{AllowInsecure: s.options.Process.Files.AllowInsecure, Messages: m, Edited: func(path string) (string, bool) {
		text, ok := edited[path]
		return text, ok
	}}
	p.Secrets = secret.New(nil)
	return &p
}

// discard drops what scripts print.
type discard struct{}

// Write implements io.Writer.
func (discard) Write(b []byte) (int, error) { return len(b), nil }

// run evaluates the text. Nothing that is broken in it ends studio.
func (c *check) run(ctx context.Context) (out *checked) {
	began := time.Now()
	out = &checked{rev: c.rev}
	defer func() {
		if x := recover(); x != nil {
			out.add(fmt.Errorf("ccm is broken: %v", x), "error")
		}
		out.took = time.Since(began)
	}()
	p := c.s.process(c.edited, func(d *diag.Error) { out.add(d, "warning") })
	if c.kind != "manifest" && c.kind != "script" {
		out.add(c.parse(), "error")
		c.lint(ctx, p, out)
		return out
	}
	o := c.s.evaluation()
	found, err := p.Examine(ctx, c.name, o)
	if found != nil {
		out.types = c.s.ownTypes(found)
	}
	if ctx.Err() != nil && c.s.ctx.Err() == nil && context.Cause(ctx) == context.DeadlineExceeded {
		err = diag.Errorf(diag.Pos{File: c.name}, "it is not evaluated within %s", checkTimeout)
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

// evaluation returns how texts are evaluated.
func (s *Server) evaluation() *site.Options {
	o := s.options.Site
	o.EvalTimeout, o.EvalMemory = checkTimeout, checkMemory
	o.Facts.Known = s.knownFacts()
	return &o
}

// knownFacts returns the facts of this machine. They are gathered once, and again when a person
// asks for them.
func (s *Server) knownFacts() *facts.Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts == nil {
		o := s.options.Site
		// What cannot be read of them, the evaluation says.
		s.facts, _ = s.options.Process.Facts(s.ctx, s.options.Process.View(o.Root), o.Facts)
	}
	return s.facts
}

// declared returns what came of each declaration of the file, by its place.
func (c *check) declared(found *site.Site, secrets *secret.Keeper) map[diag.Pos][]declared {
	out := map[diag.Pos][]declared{}
	for _, r := range found.Catalog.Resources {
		if filepath.Clean(r.Pos.File) != filepath.FromSlash(c.name) {
			continue
		}
		one := declared{id: r.ID.String(), skip: r.Skip, values: func() map[string]json.RawMessage { return valuesOf(r, secrets) }}
		at := diag.Pos{Line: r.Pos.Line, Col: r.Pos.Col}
		out[at] = append(out[at], one)
	}
	return out
}

// valuesOf returns the properties of a resource as they are here, without its secrets.
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
