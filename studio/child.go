package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report/graph"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/studio/model"
)

// Studio shows sites that their reader may not know yet. So texts are evaluated in a child process: ccm itself with
// the command EvaluateCommand, which reads a request and writes an answer, both JSON. It is killed at the end of its
// time, and the kernel ends it if it takes too much memory.

// EvaluateCommand is the hidden command of ccm that calls [Evaluate].
const EvaluateCommand = "evaluate-stdio"

// maxAnswer is the size limit of an answer, in bytes.
const maxAnswer = 64 << 20

// A request asks for the evaluation of a file, or for the types of modules.
type request struct {
	Site          site.Options
	Directory     string // absolute
	AllowInsecure bool
	File          string            // relative to Directory
	Texts         map[string]string // unsaved texts, by absolute path
	Modules       []siteModule      // instead of a file
}

// A siteModule is a module of a site.
type siteModule struct{ Name, File string }

// An answer is the answer to a request.
type answer struct {
	Mistakes  []diagnosis
	Resources []declaredResource // of the catalog, in order; nil with mistakes
	Edges     []graph.Edge
	Types     model.Types // all but the built-in ones
	Derived   *DerivedText
	Palette   *Types // of modules
}

// A declaredResource is a resource of a catalog.
type declaredResource struct {
	Type, Name string
	Skip       string
	Pos        diag.Pos
	Values     map[string]json.RawMessage // its properties on this machine, if it is declared in the file
}

func (r *declaredResource) id() string { return r.Type + "#" + r.Name }

// ask evaluates a request in a child process. The error says why there is no answer.
func (e *evaluator) ask(ctx context.Context, in *request) (*answer, error) {
	in.Site, in.Directory, in.AllowInsecure = e.site, e.directory, e.main.Files.AllowInsecure
	in.Site.EvalTimeout, in.Site.EvalMemory = checkTimeout, checkMemory
	stdin, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	text := &limitedBuffer{limit: maxAnswer}
	end := e.jobs.run(ctx, command{args: []string{EvaluateCommand}, stdin: stdin, text: text, kill: true})
	out := new(answer)
	if end.status == "done" && json.Unmarshal(text.Bytes(), out) == nil {
		return out, nil
	}
	switch first, _, _ := bytes.Cut([]byte(end.messages), []byte("\n")); {
	case end.status == "timeout":
		return nil, diag.TimedOut("evaluation", checkTimeout)
	case end.status == "cancelled":
		return nil, ctx.Err()
	case len(first) > 0:
		return nil, diag.Failed("evaluation", errors.New(string(first)))
	}
	return nil, diag.Failed("evaluation", nil)
}

// Evaluate answers the request in in. The process is one of its own: its memory gets a limit.
func Evaluate(ctx context.Context, p *site.Process, in io.Reader, out io.Writer) error {
	if err := limitMemory(4 * checkMemory); err != nil {
		return err
	}
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r.answer(ctx, p))
}

// process returns the process of an evaluation. Warnings are passed to warn.
func (r *request) process(main *site.Process, warn func(*diag.Error)) *site.Process {
	p := *main
	p.Messages = &site.Messages{W: terminal.NewWriter(io.Discard), Warning: warn}
	p.Files = &site.Files{AllowInsecure: r.AllowInsecure, Messages: p.Messages, EditedText: func(path string) (string, bool) {
		text, ok := r.Texts[path]
		return text, ok
	}}
	p.Secrets = secret.New(nil)
	return &p
}

// answer evaluates the request.
func (r *request) answer(ctx context.Context, main *site.Process) *answer {
	out := new(answer)
	if r.Modules != nil {
		out.Palette = r.palette(ctx, main)
		return out
	}
	add := func(err error, severity string) {
		var list diag.List
		list.Add(err)
		for _, d := range list {
			out.Mistakes = append(out.Mistakes, diagnosis{d, severity})
		}
	}
	p := r.process(main, func(d *diag.Error) { add(d, "warning") })
	r.Site.Whole = true
	found, err := p.Load(ctx, r.File, nil, &r.Site)
	add(err, "error")
	if found == nil {
		return out
	}
	builtIn, err2 := site.NewRegistry(new(site.TemplateEnv))
	if err2 != nil {
		return out // the types of this program are declared wrongly: tests say so
	}
	out.Types = model.Types{}
	for _, t := range newTypesOf(found.Registry, builtIn.Types()) {
		out.Types[t.Name] = modelType(t)
	}
	if err != nil {
		return out
	}
	out.Resources = []declaredResource{}
	for i, res := range found.Catalog.Resources {
		one := declaredResource{Type: res.ID.Type, Name: res.ID.Name, Skip: res.Skip, Pos: res.Pos}
		if filepath.Clean(res.Pos.File) == filepath.FromSlash(r.File) {
			one.Values = valuesOf(res, p.Secrets)
		}
		out.Resources = append(out.Resources, one)
		for _, dep := range found.Catalog.Deps[i] {
			out.Edges = append(out.Edges, graph.Edge{From: dep.Index, To: i, Refresh: dep.Refresh})
		}
	}
	if found.Manifest != nil {
		out.Derived = &DerivedText{Language: model.Lua}
		var b bytes.Buffer
		if err := found.Manifest.Convert(&b); err != nil {
			out.Derived.Reason = errText(err)
		} else {
			out.Derived.Text, out.Derived.Current, out.Derived.Editable = b.String(), true, true
		}
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

// newTypesOf returns the types of a registry that are not in a list.
func newTypesOf(reg *resource.Registry, before []*resource.Type) []*resource.Type {
	return slices.DeleteFunc(slices.Clone(reg.Types()), func(t *resource.Type) bool {
		return slices.ContainsFunc(before, func(b *resource.Type) bool { return b.Name == t.Name })
	})
}

// palette returns the types that the modules define. Modules that cannot be read are its mistakes.
func (r *request) palette(ctx context.Context, main *site.Process) *Types {
	out := newTypes()
	var own []*resource.Type
	modules := map[*resource.Type]string{}
	for _, m := range r.Modules {
		p := r.process(main, nil)
		p.Files.SetContext(ctx)
		reg, err := site.NewRegistry(new(site.TemplateEnv))
		if err != nil {
			continue
		}
		before := slices.Concat(reg.Types(), own)
		if _, err := site.RequireModule(ctx, p, reg, m.Name); err != nil {
			out.Mistakes = append(out.Mistakes, Mistake{File: m.File, Message: errText(err), Severity: "error"})
			continue
		}
		for _, t := range newTypesOf(reg, before) {
			own = append(own, t)
			modules[t] = m.Name
		}
	}
	out.add("Modules of this site", own, func(t *resource.Type) string { return modules[t] })
	return out
}

// MarshalJSON writes the mistake with its message as a text.
func (d diagnosis) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireDiagnosis{d.Pos, d.Subject, d.Err.Error(), d.Hint, d.Notes, d.severity})
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *diagnosis) UnmarshalJSON(text []byte) error {
	var w wireDiagnosis
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*d = diagnosis{&diag.Error{Pos: w.Pos, Subject: w.Subject, Err: errors.New(w.Message), Hint: w.Hint, Notes: w.Notes}, w.Severity}
	return nil
}

// A wireDiagnosis is a diagnosis as JSON.
type wireDiagnosis struct {
	Pos                    diag.Pos
	Subject, Message, Hint string
	Notes                  []diag.Note
	Severity               string
}
