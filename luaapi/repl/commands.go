package repl

import (
	"context"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// allCommands returns the commands in order of name.
func allCommands(o Options) []Command {
	list := append([]Command{
		{Name: "catalog", Doc: "List the declared resources in execution order.", Run: catalogCommand},
		{Name: "doc", Args: "TYPE[.PROPERTY]", Doc: "Print the reference of a type or property.", Takes: ArgType, Run: docCommand},
		{Name: "drop", Args: "TYPE#NAME", Doc: "Remove a declared resource.", Takes: ArgResource, Run: dropCommand},
		{Name: "facts", Args: "[TEXT]", Doc: "Print the facts, or those that contain TEXT.", Detail: "Searches names and values.", Takes: ArgFact, Run: factsCommand},
		{Name: "graph", Args: "[FORM]", Doc: "Print the order and the dependencies of resources.", Detail: "As text, or as FORM: " + strings.Join(drawingNames(o), ", ") + ".", Words: drawingNames(o), Run: graphCommand},
		{Name: "help", Aliases: []string{"h"}, Args: "[TOPIC]", Doc: "List the commands, or describe TOPIC.", Takes: ArgCommand, Run: helpCommand},
		{Name: "load", Args: "FILE", Doc: "Evaluate a script, or load a manifest.", Takes: ArgFile, Run: loadCommand},
		{Name: "page", Args: "[EXPRESSION]", Doc: "Show a value, or the last one, in a pager.", Detail: "Uses the pager of CCM_PAGER or PAGER, else less.", Takes: ArgLua, Run: pageCommand},
		{Name: "quit", Aliases: []string{"q", "exit"}, Doc: "Quit.", Run: quitCommand},
		{Name: "reload", Doc: "Reset and reload everything.", Run: reloadCommand},
		{Name: "reset", Doc: "Remove all declarations and gather the facts again.", Run: func(_ context.Context, d *Dialog, _ string) error { return d.Reset() }},
		{Name: "save", Args: "[-f] FILE", Doc: "Save the input as a script.", Detail: "With -f, replace an existing FILE.", Takes: ArgFile, Run: saveCommand},
		{Name: "set", Args: "[NAME VALUE]", Doc: "Print the settings, or change one.", Detail: "output lua|json|yaml: format of printed values.",
			Words: []string{"output lua", "output json", "output yaml"}, Run: setCommand},
		{Name: "time", Args: "EXPRESSION", Doc: "Evaluate and print the time it took.", Takes: ArgLua, Run: timeCommand},
		{Name: "types", Doc: "List the resource types.", Run: typesCommand},
	}, o.Commands...)
	slices.SortFunc(list, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func helpCommand(_ context.Context, d *Dialog, arg string) error { return d.help(arg) }

func quitCommand(_ context.Context, d *Dialog, _ string) error {
	d.quit = true
	return nil
}

func docCommand(_ context.Context, d *Dialog, arg string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "std."), ".")
	if d.env.registry.Type(name) == nil {
		return unknown("type "+name, name, d.env.registry.TypeNames())
	}
	return d.explain(arg)
}

func typesCommand(_ context.Context, d *Dialog, _ string) error {
	d.env.document()
	types, width := d.env.types(), 0
	for _, t := range types {
		width = max(width, len(t.Name))
	}
	for _, t := range types {
		d.printf("  %-*s %s\n", width, t.Name, words.Shorten(words.FirstSentence(t.Schema().Doc), terminal.TextWidth-3-width))
	}
	return nil
}

func loadCommand(ctx context.Context, d *Dialog, name string) error {
	text, err := d.env.opts.Script.ReadFile(name)
	if err != nil {
		return err
	}
	return d.Load(ctx, name, text)
}

// reloadCommand is .reload: it forgets the typed texts and reads the files again.
func reloadCommand(ctx context.Context, d *Dialog, _ string) error {
	names, forgotten := d.transcript.loadedFiles, d.transcript.droppedCount
	if len(names) == 0 {
		return &diag.Error{Err: diag.None("file is loaded"), Hint: "load a script or manifest with .load FILE, or start over with .reset"}
	}
	if err := d.Reset(); err != nil {
		return err
	}
	d.transcript.loadedFiles, d.transcript.droppedCount = names, forgotten // even if a file has a mistake
	for i, name := range slices.Clone(names) {
		if err := loadCommand(ctx, d, name); err != nil {
			return err
		}
		if i+1 == forgotten {
			d.transcript.entries = nil
		}
	}
	d.printf("reloaded %s: %s\n", strings.Join(names[forgotten:], ", "), words.Count(len(d.env.builder.Resources()), "resource"))
	return nil
}

// dropCommand is .drop.
func dropCommand(_ context.Context, d *Dialog, arg string) error {
	id, err := resource.ParseID(arg)
	if err != nil {
		return err
	}
	r := d.env.builder.Get(id)
	if r == nil {
		var known []string
		for _, x := range d.env.builder.Resources() {
			known = append(known, x.ID.String())
		}
		return unknown("resource "+arg, arg, known)
	}
	if text := d.transcript.forgetDeclaration(r); text != "" {
		d.printf("removed %s; .save still writes its declaration (%s)\n", r.ID, text)
	}
	d.env.console.Drop(r)
	return nil
}

// pageCommand is .page: the value of an expression, or the last value, in a pager.
func pageCommand(ctx context.Context, d *Dialog, text string) error {
	values := []lua.LValue{d.env.console.Get(lastValue)}
	if text != "" {
		res, err := d.env.console.Eval(ctx, text)
		if err != nil {
			return err
		}
		values = res.Values
	}
	all, err := d.printer.formatValues(ctx, values, false)
	if err != nil {
		return err
	}
	shown := terminal.LinesText(all + "\n")
	if d.printer.paints(values) {
		shown = d.env.opts.Paint(all + "\n")
	}
	return d.env.opts.Page(ctx, shown)
}

// SetOutput sets the form of values from now on.
func (d *Dialog) SetOutput(name string) error {
	if !slices.Contains(Outputs, name) {
		return diag.Errorf(diag.Pos{}, "output: %w", diag.Expected("one of %s", strings.Join(Outputs, ", ")).Got("%q", name)).
			WithHint("%s", diag.DidYouMean(name, Outputs))
	}
	d.printer.output = name
	return nil
}

func timeCommand(ctx context.Context, d *Dialog, text string) error {
	begin := d.env.opts.Now()
	err := d.Eval(ctx, text)
	d.printf("took %s\n", d.env.opts.Now().Sub(begin).Round(10*time.Microsecond))
	return err
}

func setCommand(_ context.Context, d *Dialog, arg string) error {
	if arg == "" {
		d.printf("output %s\n", d.printer.output)
		return nil
	}
	name, value, _ := strings.Cut(arg, " ")
	if name != "output" {
		return unknown("setting "+name, name, []string{"output"})
	}
	return d.SetOutput(strings.TrimSpace(value))
}

// Catalog returns the declared resources, ordered.
func (d *Dialog) Catalog() (*catalog.Catalog, error) { return d.env.builder.Build() }

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
		d.print("no resources declared")
	}
	return nil
}

func graphCommand(_ context.Context, d *Dialog, arg string) error {
	c, err := d.Catalog()
	if err != nil {
		return err
	}
	if arg != "" {
		names := drawingNames(d.env.opts)
		i := slices.Index(names, arg)
		if i < 0 {
			e := unknown("drawing "+arg, arg, names)
			e.Hint = "one of " + strings.Join(names, ", ")
			return e
		}
		d.print(d.env.opts.Drawings[i].Draw(c))
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

func drawingNames(o Options) (names []string) {
	for _, x := range o.Drawings {
		names = append(names, x.Name)
	}
	return names
}
