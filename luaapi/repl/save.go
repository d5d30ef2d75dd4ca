package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// An entry is a text that was evaluated, as it goes into a script.
type entry struct {
	number   int
	text     string
	declared []*resource.Resource // that no later text has replaced
	declares bool
	onlyHere []string // the names in it that scripts do not have
	file     string   // the script that it is, "" if it was typed
}

// A transcript is what was evaluated, for .save.
type transcript struct {
	env          *environment
	entries      []entry
	loadedFiles  []string // the scripts and manifests
	droppedCount int      // how many of them .save leaves out
}

// remember keeps a text for .save. What had a mistake is not kept, nor is what
// only asked for a value.
func (ts *transcript) remember(text string, res luaapi.Evaluation, err error) {
	if err != nil {
		return
	}
	ts.supersede(res.Replacements)
	text = strings.TrimRight(text, " \t\r\n;")
	if !luaapi.IsStatement(text) || luaapi.ShapeOf(text).Returns {
		return
	}
	e := entry{number: res.Entry, text: luaapi.AsScript(text, res.Variables), declared: res.Declared, declares: len(res.Declared) > 0}
	for _, name := range luaapi.FreeNames(text) {
		if ts.onlyAtPrompt(name) {
			e.onlyHere = append(e.onlyHere, name)
		}
	}
	ts.entries = append(ts.entries, e)
}

// rememberScript keeps a script that was loaded.
func (ts *transcript) rememberScript(name, text string, res luaapi.Evaluation, err error) {
	if err != nil {
		return
	}
	ts.supersede(res.Replacements)
	if strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	text = strings.TrimSpace(text)
	ts.entries = append(ts.entries, entry{number: res.Entry, text: luaapi.AsScript(text, res.Variables), declared: res.Declared, declares: len(res.Declared) > 0, file: name})
}

// onlyAtPrompt reports whether scripts do not have a global.
func (ts *transcript) onlyAtPrompt(name string) bool {
	return slices.Contains(luaapi.LastValues, name) || slices.ContainsFunc(ts.env.opts.Functions, func(f Function) bool {
		return strings.HasPrefix(f.Signature, name+"(")
	})
}

// supersede takes the declarations that were replaced out of the texts that
// made them.
func (ts *transcript) supersede(replaced []luaapi.Replacement) {
	for _, r := range replaced {
		n := ts.env.session.Entry(r.Old)
		i := slices.IndexFunc(ts.entries, func(e entry) bool { return e.number == n })
		if i < 0 {
			continue
		}
		e := &ts.entries[i]
		e.declared = slices.DeleteFunc(e.declared, func(x *resource.Resource) bool { return x == r.Old })
		if len(e.declared) > 0 || e.file != "" {
			continue
		}
		switch shape := luaapi.ShapeOf(e.text); {
		case shape.Call:
			ts.entries = slices.Delete(ts.entries, i, i+1)
		case shape.Variable != "":
			// A reference does what the handle did.
			e.text = fmt.Sprintf("local %s = %q", shape.Variable, r.Old.ID)
		}
	}
}

// forgetDeclaration takes the text that declared a resource out of what is saved. It
// returns where that text is if it cannot, because it does more.
func (ts *transcript) forgetDeclaration(r *resource.Resource) string {
	n := ts.env.session.Entry(r)
	i := slices.IndexFunc(ts.entries, func(e entry) bool { return e.number == n })
	if i < 0 {
		return ""
	}
	e := &ts.entries[i]
	shape := luaapi.ShapeOf(e.text)
	if len(e.declared) > 1 || e.file != "" || !shape.Call && shape.Variable == "" {
		return r.Pos.String()
	}
	ts.entries = slices.Delete(ts.entries, i, i+1)
	return ""
}

// script returns what was typed as a script.
func (ts *transcript) script() string {
	var b strings.Builder
	for _, e := range ts.entries {
		if e.file != "" {
			fmt.Fprintf(&b, "-- %s\n", e.file)
		}
		switch {
		case len(e.onlyHere) > 0:
			fmt.Fprintf(&b, "-- only at the prompt: %s\n%s\n", strings.Join(e.onlyHere, ", "), indent(e.text, "-- "))
		case e.file != "" && luaapi.ShapeOf(e.text).Returns:
			fmt.Fprintf(&b, "do\n%s\nend\n", indent(e.text, "  "))
		default:
			b.WriteString(e.text + "\n")
		}
	}
	return b.String()
}

func saveCommand(ctx context.Context, d *Dialog, arg string) error {
	name, force := strings.CutPrefix(arg, "-f ")
	name = strings.TrimSpace(name)
	if name == "" || name == "-f" {
		return errors.New("usage: .save [-f] FILE")
	}
	text := d.transcript.script()
	if text == "" {
		return errors.New("there is nothing to save: no statement was typed yet")
	}
	h, mode := host.New(host.Options{}), uint32(0o644)
	save := h.SaveNew
	if force {
		save = h.Save
	}
	if Redact(text, d.env.registry) != text || d.env.opts.Script.Secrets.Contains(text) {
		mode = 0o600
	}
	err := save(name, []byte(text), mode)
	if errors.Is(err, fs.ErrExist) {
		return &diag.Error{Err: fmt.Errorf("%s exists", name), Hint: ".save -f " + name + " replaces it"}
	}
	if err != nil {
		return err
	}
	d.printf("saved %s\n", name)
	return d.check(ctx, name, text)
}

// check evaluates a script as a run would and returns what a run would refuse.
func (d *Dialog) check(ctx context.Context, name, text string) error {
	var b catalog.Builder
	script := d.env.opts.Script
	script.Registry, script.Facts, script.Builder, script.Print = d.env.registry.Layer(), d.env.facts, &b, io.Discard
	script.Add, script.Warn = nil, nil
	in := luaapi.New(script)
	defer in.Close()
	err := in.Run(ctx, name, text)
	if err == nil {
		_, err = b.Build()
	}
	if err == nil {
		return nil
	}
	d.printf("a run would refuse it:\n")
	diag.Render(d.env.opts.Out, "", err, in.Sources())
	return nil
}
