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

// An entry is an evaluated text for a saved script.
type entry struct {
	number      int
	text        string
	resources   []*resource.Resource // declared by the text, and not replaced by a later one
	promptNames []string             // names in text that scripts do not have
	file        string               // path of the script, "" for a typed text
}

// A transcript has the evaluated texts, for .save.
type transcript struct {
	env          *environment
	entries      []entry
	loadedFiles  []string // the scripts and manifests
	droppedCount int      // the number of first entries that .save leaves out
}

// remember stores a text for .save, unless the text had a mistake or only asked for a value.
func (ts *transcript) remember(text string, res luaapi.Evaluation, err error) {
	if err != nil {
		return
	}
	ts.supersede(res.Replacements)
	text = strings.TrimRight(text, " \t\r\n;")
	if !luaapi.IsStatement(text) || luaapi.ShapeOf(text).Returns {
		return
	}
	e := entry{number: res.Entry, text: luaapi.AsScript(text, res.Variables), resources: res.Declared}
	for _, name := range luaapi.FreeNames(text) {
		if ts.onlyAtPrompt(name) {
			e.promptNames = append(e.promptNames, name)
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
	ts.entries = append(ts.entries, entry{number: res.Entry, text: luaapi.AsScript(text, res.Variables), resources: res.Declared, file: name})
}

// onlyAtPrompt reports whether scripts do not have a global.
func (ts *transcript) onlyAtPrompt(name string) bool {
	return slices.Contains(luaapi.LastValues, name) || slices.ContainsFunc(ts.env.opts.Functions, func(f Function) bool {
		return strings.HasPrefix(f.Signature, name+"(")
	})
}

// supersede removes the replaced declarations from the texts that made them.
func (ts *transcript) supersede(replaced []luaapi.Replacement) {
	for _, r := range replaced {
		n := ts.env.console.Entry(r.Old)
		i := slices.IndexFunc(ts.entries, func(e entry) bool { return e.number == n })
		if i < 0 {
			continue
		}
		e := &ts.entries[i]
		e.resources = slices.DeleteFunc(e.resources, func(x *resource.Resource) bool { return x == r.Old })
		if len(e.resources) > 0 || e.file != "" {
			continue
		}
		switch shape := luaapi.ShapeOf(e.text); {
		case shape.Call:
			ts.entries = slices.Delete(ts.entries, i, i+1)
		case shape.Variable != "":
			// A reference works like the handle.
			e.text = fmt.Sprintf("local %s = %q", shape.Variable, r.Old.ID)
		}
	}
}

// forgetDeclaration removes the text that declared a resource from the transcript. If it cannot,
// because the text does more, it returns the text's place.
func (ts *transcript) forgetDeclaration(r *resource.Resource) string {
	n := ts.env.console.Entry(r)
	i := slices.IndexFunc(ts.entries, func(e entry) bool { return e.number == n })
	if i < 0 {
		return ""
	}
	e := &ts.entries[i]
	shape := luaapi.ShapeOf(e.text)
	if len(e.resources) > 1 || e.file != "" || !shape.Call && shape.Variable == "" {
		return r.Pos.String()
	}
	ts.entries = slices.Delete(ts.entries, i, i+1)
	return ""
}

// script returns the typed texts as a script.
func (ts *transcript) script() string {
	var b strings.Builder
	for _, e := range ts.entries {
		if e.file != "" {
			fmt.Fprintf(&b, "-- %s\n", e.file)
		}
		switch {
		case len(e.promptNames) > 0:
			fmt.Fprintf(&b, "-- only at the prompt: %s\n%s\n", strings.Join(e.promptNames, ", "), indent(e.text, "-- "))
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
		return fmt.Errorf(".save: %w", diag.Expected("[-f] FILE"))
	}
	text := d.transcript.script()
	if text == "" {
		return errors.New("nothing to save: no statement entered yet")
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
		return &diag.Error{Err: diag.Exists(name, ""), Hint: ".save -f " + name + " replaces the file"}
	}
	if err != nil {
		return err
	}
	d.printf("saved %s\n", name)
	return d.check(ctx, name, text)
}

// check evaluates a script like a run and returns the mistakes that a run would report.
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
	d.printf("a run would reject this script:\n")
	diag.Render(d.env.opts.Out, "", err, in.Sources())
	return nil
}
