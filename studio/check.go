package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

const (
	// checkTimeout and checkMemory bound the evaluation of what is being edited: a loop that was
	// just typed must not hold up the page.
	checkTimeout = 10 * time.Second
	checkMemory  = 512 << 20
	// checkPatience is how long an answer waits for the check of its text.
	checkPatience = 250 * time.Millisecond
)

// checked is what ccm says of one revision of a file.
type checked struct {
	rev      int
	mistakes []diagnosis
	catalog  *catalog.Catalog // nil with mistakes, and for files that declare nothing
	declared map[diag.Pos][]declared
	derived  *Derived
	types    []*resource.Type // that the site defines
	took     time.Duration
}

// A diagnosis is a mistake or a warning.
type diagnosis struct {
	*diag.Error
	severity string
}

// declared is a resource that came of a declaration.
type declared struct {
	id     string
	skip   string
	values func() map[string]json.RawMessage // its properties here
}

// A pendingCheck is a check under way.
type pendingCheck struct {
	rev    int
	cancel func()
	done   chan struct{} // closed when it has ended
	result *checked      // nil if it was given up
}

// checkSoon checks the text and waits for that a moment. The caller holds the document. With anew
// it is checked although that is under way: what it depends on has changed.
func (s *Server) checkSoon(ctx context.Context, d *document, anew bool) {
	if !s.isTrusted() {
		return
	}
	if p := d.pending; p == nil || anew || p.rev != d.rev {
		if p != nil {
			p.cancel()
		}
		d.pending = s.beginCheck(d)
		go s.lateCheck(d, d.pending)
	}
	patience := time.NewTimer(checkPatience)
	defer patience.Stop()
	select {
	case <-d.pending.done:
		s.noteChecked(d, d.pending)
	case <-ctx.Done():
	case <-patience.C:
	}
}

// beginCheck begins a check of the text. The caller holds the document.
func (s *Server) beginCheck(d *document) *pendingCheck {
	within, cancel := context.WithTimeout(s.ctx, checkTimeout)
	p := &pendingCheck{rev: d.rev, cancel: cancel, done: make(chan struct{})}
	c := s.newCheck(d)
	go func() {
		defer cancel()
		defer close(p.done)
		s.evaluating <- struct{}{}
		defer func() { <-s.evaluating }()
		if within.Err() == nil {
			p.result = c.run(within)
		}
	}()
	return p
}

// lateCheck tells what a check found that took longer than the answer has waited.
func (s *Server) lateCheck(d *document, p *pendingCheck) {
	<-p.done
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.noteChecked(d, p) {
		st := s.stateOf(d)
		st.Base = d.rev
		s.hub.send("state", st)
	}
}

// noteChecked takes over what a check found, and reports whether that is news: of the text as it
// is, and not known yet. The caller holds the document.
func (s *Server) noteChecked(d *document, p *pendingCheck) bool {
	if d.pending != p {
		return false
	}
	d.pending = nil
	c := p.result
	if c == nil || c.rev != d.rev {
		return false
	}
	if c.derived != nil && !c.derived.Current && d.checked != nil && d.checked.derived != nil {
		c.derived.Text = d.checked.derived.Text // it stays as it was
	}
	d.checked = c
	return true
}

// recheckAll checks all open files again, as what they depend on has changed.
func (s *Server) recheckAll() { s.recheckOthers(nil) }

// recheckOthers checks all open files but one again.
func (s *Server) recheckOthers(but *document) {
	s.mu.Lock()
	var list []*document
	for _, d := range s.documents {
		if d != but {
			list = append(list, d)
		}
	}
	s.mu.Unlock()
	go func() {
		for _, d := range list {
			d.mu.Lock()
			s.checkSoon(s.ctx, d, true)
			if d.checked != nil && d.checked.rev == d.rev {
				st := s.stateOf(d)
				st.Base = d.rev
				s.hub.send("state", st)
			}
			d.mu.Unlock()
		}
	}()
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

// pathOf returns the absolute path of a file of the site.
func (s *Server) pathOf(name string) string {
	return filepath.Join(s.options.Directory, filepath.FromSlash(name))
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

func (c *checked) add(err error, severity string) {
	var list diag.List
	list.Add(err)
	for _, d := range list {
		c.mistakes = append(c.mistakes, diagnosis{d, severity})
	}
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

// mistakesOf returns the mistakes as the page shows them.
func (s *Server) mistakesOf(d *document, c *checked) []Mistake {
	out := []Mistake{}
	for _, m := range c.mistakes {
		if len(out) == diag.MaxShown {
			break
		}
		x := Mistake{
			File: s.relative(m.Pos.File), Line: m.Pos.Line, Severity: m.severity,
			Message: terminal.Lines((&diag.Error{Subject: m.Subject, Err: m.Err}).Message()), Hint: terminal.Lines(m.Hint),
		}
		if x.File == d.name {
			x.Col, x.Len = columnOf(d.text, m.Pos)
		}
		for _, n := range m.Notes {
			x.Notes = append(x.Notes, Note{s.relative(n.Pos.File), n.Pos.Line, terminal.Lines(n.Text)})
		}
		s.locate(d, m, &x)
		out = append(out, x)
	}
	return out
}

// relative returns the name of a file below the directory, and that of another one as it is.
func (s *Server) relative(file string) string {
	if !filepath.IsAbs(file) {
		return path.Clean(filepath.ToSlash(file))
	}
	if rel, err := filepath.Rel(s.options.Directory, file); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return file
}

// columnOf returns a column and a length in units of UTF-16.
func columnOf(text string, p diag.Pos) (col, size int) {
	if p.Col <= 0 {
		return 0, 0
	}
	line := lineOf(text, p.Line)
	from := min(p.Col-1, len(line))
	to := min(from+p.Len, len(line))
	return units(line[:from]) + 1, units(line[from:to])
}

// lineOf returns a line of a text, "" if it has fewer.
func lineOf(text string, n int) string {
	for line := range strings.Lines(text) {
		if n--; n == 0 {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}

// units returns the length of a text in units of UTF-16.
func units(text string) (n int) {
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// locate says which resource and which property a mistake is about.
func (s *Server) locate(d *document, m diagnosis, x *Mistake) {
	if d.model == nil || d.read != d.rev {
		return
	}
	for i := range d.model.Resources {
		r := &d.model.Resources[i]
		last := lastLine(d.text, r.To)
		if x.File == d.name && x.Line > 0 {
			if x.Line < r.Line || x.Line > last {
				continue
			}
		} else if m.Subject == "" || m.Subject != r.ID && !slices.Contains(r.Names, strings.TrimPrefix(m.Subject, r.Type+"#")) {
			continue
		}
		x.Resource = r.Key
		if namedProperty(m) == "" && x.Line == r.Line && (m.Pos.Col == 0 || m.Pos.Col == r.Column) {
			return // it is about the whole
		}
		for _, p := range r.Props {
			if p.Line <= x.Line && x.Line <= lastLine(d.text, p.To) && mentions(m, p.Name) {
				x.Field = p.Name
			}
		}
		if x.Field == "" {
			x.Field = namedProperty(m)
		}
		return
	}
}

// lastLine returns the line in which an offset lies.
func lastLine(text string, offset int) int {
	offset = min(max(offset, 0), len(text))
	return 1 + strings.Count(text[:offset], "\n")
}

// mentions reports whether a mistake begins with a property, or says nothing of one.
func mentions(m diagnosis, property string) bool {
	named := namedProperty(m)
	return named == "" || named == property
}

// namedProperty returns the property with which a message begins, as all about one do, and ""
// otherwise.
func namedProperty(m diagnosis) string {
	head, _, ok := strings.Cut(m.Err.Error(), ":")
	if !ok || strings.ContainsAny(head, " #/\"") {
		return ""
	}
	head, _, _ = strings.Cut(head, "[")
	head, _, _ = strings.Cut(head, ".")
	return head
}
