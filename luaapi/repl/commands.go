package repl

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// allCommands returns the commands in order of name.
func (d *Dialog) allCommands() []Command {
	list := append([]Command{
		{Name: "catalog", Doc: "List what was declared, in order.", Run: catalogCommand},
		{Name: "doc", Args: "TYPE[.PROPERTY]", Doc: "Print the reference of a type or property.", Takes: ArgType, Run: docCommand},
		{Name: "drop", Args: "TYPE#NAME", Doc: "Take a resource out of what was declared.", Takes: ArgResource, Run: dropCommand},
		{Name: "facts", Args: "[TEXT]", Doc: "Print the facts, or those that have TEXT in them.", More: "TEXT is looked for in names and in values.", Takes: ArgFact, Run: factsCommand},
		{Name: "graph", Args: "[FORM]", Doc: "Print what comes after what.", More: "As text, or in a FORM: " + strings.Join(d.drawingNames(), ", ") + ".", Words: d.drawingNames(), Run: graphCommand},
		{Name: "help", Aliases: []string{"h"}, Args: "[TOPIC]", Doc: "Print this, or what TOPIC is.", Takes: ArgCommand, Run: helpCommand},
		{Name: "load", Args: "FILE", Doc: "Evaluate a script, or load a manifest.", Takes: ArgFile, Run: loadCommand},
		{Name: "page", Args: "[EXPRESSION]", Doc: "Show a value, or the last one, in a pager.", More: "The pager is that of CCM_PAGER or PAGER, else less.", Takes: ArgLua, Run: pageCommand},
		{Name: "quit", Aliases: []string{"q", "exit"}, Doc: "Leave.", Run: quitCommand},
		{Name: "reload", Doc: "Begin anew, and load again what was loaded.", Run: reloadCommand},
		{Name: "reset", Doc: "Begin anew: nothing is declared, facts are gathered.", Run: func(_ context.Context, d *Dialog, _ string) error { return d.Reset() }},
		{Name: "save", Args: "[-f] FILE", Doc: "Write what was typed as a script.", More: "With -f it replaces a FILE that is there.", Takes: ArgFile, Run: saveCommand},
		{Name: "set", Args: "[NAME VALUE]", Doc: "Print the settings, or change one.", More: "output lua|json|yaml: how values are written.",
			Words: []string{"output lua", "output json", "output yaml"}, Run: setCommand},
		{Name: "time", Args: "EXPRESSION", Doc: "Evaluate, and say how long it took.", Takes: ArgLua, Run: timeCommand},
		{Name: "types", Doc: "List the types of resources.", Run: typesCommand},
	}, d.opts.Commands...)
	slices.SortFunc(list, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func helpCommand(_ context.Context, d *Dialog, arg string) error { return d.help(arg) }

func quitCommand(_ context.Context, d *Dialog, _ string) error {
	d.quit = true
	return nil
}

func docCommand(_ context.Context, d *Dialog, arg string) error {
	name, _, _ := strings.Cut(arg, ".")
	if d.registry.Type(name) == nil {
		return unknown("type "+name, name, d.registry.TypeNames())
	}
	return d.explain(arg)
}

// types returns the types that there are and those that a module brings, in the
// order of their names.
func (d *Dialog) types() []*resource.Type {
	list := slices.Clone(d.registry.Types())
	if d.opts.Types == nil {
		return list
	}
	for _, t := range d.opts.Types() {
		if d.Type(t.Name) == nil {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *resource.Type) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func typesCommand(_ context.Context, d *Dialog, _ string) error {
	d.document()
	for _, t := range d.types() {
		d.printf("  %-10s %s\n", t.Name, cutTo(firstSentence(t.Schema().Doc), columns-13))
	}
	return nil
}

func loadCommand(ctx context.Context, d *Dialog, name string) error {
	text, err := d.opts.Script.ReadFile(name)
	if err != nil {
		return err
	}
	return d.Load(ctx, name, text)
}

// reloadCommand is .reload: what was typed is forgotten, the files are read again.
func reloadCommand(ctx context.Context, d *Dialog, _ string) error {
	names, forgotten := d.loaded, d.forgotten
	if len(names) == 0 {
		return &diag.Error{Err: errors.New("nothing was loaded"), Hint: ".load FILE loads a script or a manifest, .reset begins anew"}
	}
	if err := d.Reset(); err != nil {
		return err
	}
	d.loaded, d.forgotten = names, forgotten // also if one of them has a mistake
	for i, name := range slices.Clone(names) {
		if err := loadCommand(ctx, d, name); err != nil {
			return err
		}
		if i+1 == forgotten {
			d.typed = nil
		}
	}
	d.printf("loaded %s again: %s\n", strings.Join(names[forgotten:], ", "), count(len(d.builder.Resources()), "resource"))
	return nil
}

// dropCommand is .drop.
func dropCommand(_ context.Context, d *Dialog, arg string) error {
	id, err := resource.ParseID(arg)
	if err != nil {
		return err
	}
	r := d.builder.Get(id)
	if r == nil {
		var known []string
		for _, x := range d.builder.Resources() {
			known = append(known, x.ID.String())
		}
		return unknown("resource "+arg, arg, known)
	}
	if text := d.forgetDeclaration(r); text != "" {
		d.printf("%s is dropped; .save still writes the text that declares it (%s)\n", r.ID, text)
	}
	d.session.Drop(r)
	return nil
}

func timeCommand(ctx context.Context, d *Dialog, text string) error {
	begin := d.opts.Now()
	err := d.Eval(ctx, text)
	d.printf("took %s\n", d.opts.Now().Sub(begin).Round(10*time.Microsecond))
	return err
}

func setCommand(_ context.Context, d *Dialog, arg string) error {
	if arg == "" {
		d.printf("output %s\n", d.output)
		return nil
	}
	name, value, _ := strings.Cut(arg, " ")
	if name != "output" {
		return unknown("setting "+name, name, []string{"output"})
	}
	return d.SetOutput(strings.TrimSpace(value))
}

// Catalog returns what was declared, ordered.
func (d *Dialog) Catalog() (*catalog.Catalog, error) { return d.builder.Build() }

func catalogCommand(_ context.Context, d *Dialog, _ string) error {
	c, err := d.Catalog()
	if err != nil {
		return err
	}
	width := 0
	for _, r := range c.Resources {
		width = max(width, len(r.ID.String()))
	}
	for _, r := range c.Resources {
		d.printf("  %-*s  %s\n", min(width, 50), r.ID, r.Pos)
	}
	if len(c.Resources) == 0 {
		d.print("nothing is declared yet")
	}
	return nil
}

func graphCommand(_ context.Context, d *Dialog, arg string) error {
	c, err := d.Catalog()
	if err != nil {
		return err
	}
	if arg != "" {
		names := d.drawingNames()
		i := slices.Index(names, arg)
		if i < 0 {
			e := unknown("drawing "+arg, arg, names)
			e.Hint = "want " + strings.Join(names, " or ")
			return e
		}
		d.print(d.opts.Drawings[i].Draw(c))
		return nil
	}
	for i, r := range c.Resources {
		d.printf("  %s\n", r.ID)
		for _, dep := range c.Deps[i] {
			word := "after"
			if dep.Refresh {
				word = "refreshed by"
			}
			d.printf("    %s %s\n", word, c.Resources[dep.Index].ID)
		}
	}
	return nil
}

func (d *Dialog) drawingNames() (names []string) {
	for _, x := range d.opts.Drawings {
		names = append(names, x.Name)
	}
	return names
}
