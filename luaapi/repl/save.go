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

// remember keeps a text for .save. What had a mistake is not kept, nor is what
// only asked for a value.
func (d *Dialog) remember(text string, res luaapi.Evaluation, err error) {
	if err != nil {
		return
	}
	d.supersede(res.Replaced)
	text = strings.TrimRight(text, " \t\r\n;")
	if !luaapi.IsStatement(text) || luaapi.ShapeOf(text).Returns {
		return
	}
	e := entry{number: res.Entry, text: luaapi.AsScript(text, res.Defined), declared: res.Declared, declares: len(res.Declared) > 0}
	for _, name := range luaapi.FreeNames(text) {
		if d.onlyAtPrompt(name) {
			e.onlyHere = append(e.onlyHere, name)
		}
	}
	d.typed = append(d.typed, e)
}

// rememberScript keeps a script that was loaded.
func (d *Dialog) rememberScript(name, text string, res luaapi.Evaluation, err error) {
	if err != nil {
		return
	}
	d.supersede(res.Replaced)
	if strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	text = strings.TrimSpace(text)
	d.typed = append(d.typed, entry{number: res.Entry, text: luaapi.AsScript(text, res.Defined), declared: res.Declared, declares: len(res.Declared) > 0, file: name})
}

// Last returns the text that was evaluated last, "" if there was none.
func (d *Dialog) Last() string { return d.last }

// Forget makes .save leave out what was evaluated so far.
func (d *Dialog) Forget() { d.typed, d.forgotten = nil, len(d.loaded) }

// onlyAtPrompt reports whether scripts do not have a global.
func (d *Dialog) onlyAtPrompt(name string) bool {
	return slices.Contains(luaapi.LastValues, name) || slices.ContainsFunc(d.opts.Functions, func(f Function) bool {
		return strings.HasPrefix(f.Signature, name+"(")
	})
}

// supersede takes the declarations that were replaced out of the texts that
// made them.
func (d *Dialog) supersede(replaced []luaapi.Replacement) {
	for _, r := range replaced {
		n := d.session.Entry(r.Old)
		i := slices.IndexFunc(d.typed, func(e entry) bool { return e.number == n })
		if i < 0 {
			continue
		}
		e := &d.typed[i]
		e.declared = slices.DeleteFunc(e.declared, func(x *resource.Resource) bool { return x == r.Old })
		if len(e.declared) > 0 || e.file != "" {
			continue
		}
		switch shape := luaapi.ShapeOf(e.text); {
		case shape.Call:
			d.typed = slices.Delete(d.typed, i, i+1)
		case shape.Variable != "":
			// A reference does what the handle did.
			e.text = fmt.Sprintf("local %s = %q", shape.Variable, r.Old.ID)
		}
	}
}

// forgetDeclaration takes the text that declared a resource out of what is saved. It
// returns where that text is if it cannot, because it does more.
func (d *Dialog) forgetDeclaration(r *resource.Resource) string {
	n := d.session.Entry(r)
	i := slices.IndexFunc(d.typed, func(e entry) bool { return e.number == n })
	if i < 0 {
		return ""
	}
	e := &d.typed[i]
	shape := luaapi.ShapeOf(e.text)
	if len(e.declared) > 1 || e.file != "" || !shape.Call && shape.Variable == "" {
		return r.Pos.String()
	}
	d.typed = slices.Delete(d.typed, i, i+1)
	return ""
}

// typedScript returns what was typed as a script.
func (d *Dialog) typedScript() string {
	var b strings.Builder
	for _, e := range d.typed {
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
	text := d.typedScript()
	if text == "" {
		return errors.New("there is nothing to save: no statement was typed yet")
	}
	h, mode := host.New(host.Options{}), uint32(0o644)
	save := h.SaveNew
	if force {
		save = h.Save
	}
	if Redact(text, d.registry) != text || d.opts.Script.Secrets.Contains(text) {
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
	script := d.opts.Script
	script.Registry, script.Facts, script.Builder, script.Print = d.registry.Layer(), d.facts, &b, io.Discard
	script.Add, script.Warn = nil, nil
	in := luaapi.New(script)
	defer in.Close()
	err := in.Run(ctx, name, []byte(text))
	if err == nil {
		_, err = b.Build()
	}
	if err == nil {
		return nil
	}
	d.printf("a run would refuse it:\n")
	diag.Render(d.opts.Out, "", err, in.Sources())
	return nil
}
