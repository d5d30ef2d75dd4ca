package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
)

// statusFlags are the flags of status.
type statusFlags struct {
	siteFlags
	output *choice
}

func (e *env) statusCommand() *cobra.Command {
	f := &statusFlags{output: newChoice("text", "text", "json", "yaml")}
	cmd := &cobra.Command{
		Use: "status TYPE NAME", Aliases: []string{"info"},
		Short: "Print the present state of one resource",
		Long: `Print the present state of one resource. Nothing is wanted of it, and nothing is
changed. Properties are needed only where they say what is to be looked at, such
as the source of a scaffold; guards of an exec are asked if they are given.

Exit status: 0 the state is printed, even if nothing is there; 1 it cannot be
told.`,
	}
	fs := cmd.PersistentFlags()
	fs.SortFlags = false
	fs.Var(f.output, "output", "form of the output: text, json or yaml")
	fs.StringVar(&f.root, "root", "/", "look at the file system below `DIR`")
	fs.StringArrayVar(&f.facts, "fact", nil, "set the fact `NAME=VALUE` (repeatable)")
	fs.StringVar(&f.factsFile, "facts", "", "read further facts from `FILE` (JSON or YAML)")
	f.dataFlags.add(fs)
	_ = cmd.RegisterFlagCompletionFunc("output", f.output.complete)
	e.typeCommands(cmd, func(reg *resource.Registry, t *resource.Type) *cobra.Command {
		sub := &cobra.Command{Use: t.Name + " NAME", Short: "Print the present state of a " + t.Name}
		x := newTyped(sub, reg, t, fs, "ensure", "alias", "require", "before", "notify", "subscribe", "health_checks", "timeout", "backup")
		x.ensure = false
		sub.Args, sub.ValidArgsFunction = x.args, x.complete(e, reg)
		sub.RunE = func(cmd *cobra.Command, args []string) error {
			return e.status(cmd, f, t.Name, x.properties(e, cmd, args))
		}
		return sub
	})
	return cmd
}

// status prints the state of the resource that the properties name.
func (e *env) status(cmd *cobra.Command, f *statusFlags, typ string, properties *schema.Table) error {
	around := &surroundings{clock: e.clock}
	reg, err := registry(around)
	if err != nil {
		return err
	}
	t := reg.Type(typ)
	e.sources = properties.Where.(*commandLine).source
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	r, err := t.Ask(properties, resource.Origin{Pos: diag.Pos{File: commandLineName}, Dir: dir})
	if err == nil {
		err = reg.CheckProvider(r)
	}
	if err != nil {
		return err
	}
	h := host.New(host.Options{Runner: e.exec(), Refuse: e.secrets.RefuseArgv, Root: f.root, Clock: e.clock, Log: e.logger(e.stderr, false)})
	v := &h.View
	fs, err := e.gatherFacts(cmd.Context(), v, &f.siteFlags)
	if err != nil {
		return err
	}
	around.facts = fs
	if around.data, err = e.dataOf(&f.dataFlags, fs, h); err != nil {
		return err
	}
	provider, err := reg.Select(r, fs)
	if err != nil {
		return about(r, err)
	}
	state, err := provider.Inspect(cmd.Context(), v, r.Spec)
	if err != nil {
		return about(r, err)
	}
	return e.printState(report.StateOf(r.ID, provider.Name, state), f.output.value)
}

// printState prints a state. For people it is told without what only programs
// want to know, and without saying anything twice.
func (e *env) printState(s report.State, form string) error {
	switch form {
	case "json":
		return e.printJSON(s)
	case "yaml":
		return e.printYAML(s)
	}
	told := new(schema.Table)
	if s.Ensure != "" {
		told.Set("ensure", schema.StringValue(s.Ensure))
	}
	told.Set("provider", schema.StringValue(s.Provider))
	if s.Metadata != nil {
		tab, err := tableOf(s.Metadata)
		if err != nil {
			return err
		}
		for _, m := range tab.Entries {
			if m.Key != "name" && m.Key != "provider" {
				told.Entries = append(told.Entries, m)
			}
		}
	}
	writeNamed(e.stdout, terminal.Line(s.ResourceType+"#"+s.Name), schema.MapValue(told), "")
	return nil
}

// about says which resource an error is about.
func about(r *resource.Resource, err error) error {
	return &diag.Error{Subject: r.ID.String(), Err: err}
}
