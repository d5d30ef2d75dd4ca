package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/site"
)

func newEnsureCommand(e *cli.Env) *cobra.Command {
	f := &oneOffFlags{}
	cmd := &cobra.Command{
		Use:   "ensure TYPE NAME [ENSURE] [--PROPERTY VALUE...]",
		Short: "Apply a single resource, without a script",
		Long: `Apply a single resource, without a script.

  ccm ensure package nginx
  ccm ensure file /etc/app.conf --content "x=1" --owner root --group root --mode 0644

The flags are the properties of the type: see "ccm ensure TYPE --help". Values may
contain expressions such as '{{ lookup("facts.os.family") }}'.

In a session, --require and --subscribe refer to earlier commands:

  eval "$(ccm session new)"
  ccm ensure file /etc/app.conf --content "x=1" --owner root --group root --mode 0644
  ccm ensure service app running --subscribe file#/etc/app.conf
  ccm session report --remove

Exit status: 0 the resource is up to date; 1 nothing was done because of a
mistake; 4 the resource, or one that it requires, failed.`,
	}
	f.add(cmd)
	cmd.AddCommand(newAPICommand(e, f))
	addTypeCommands(e, cmd, func(reg *resource.Registry, t *resource.Type) *cobra.Command {
		return newEnsureTypeCommand(e, f, reg, t, cmd.PersistentFlags())
	})
	return cmd
}

// addTypeCommands adds a command for each type to cmd. The help of types is made only on demand.
func addTypeCommands(e *cli.Env, cmd *cobra.Command, make func(*resource.Registry, *resource.Type) *cobra.Command) {
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case err != nil:
			return err
		case len(args) == 0:
			site.AddShipped(reg)
			return diag.At(diag.Pos{}, diag.Expected("a type and a name")).WithHint("types: %s", strings.Join(reg.TypeNames(), ", "))
		}
		return site.UnknownType(reg, args[0])
	}
	cmd.Args = cobra.ArbitraryArgs
	if err != nil || !mayMean(e, cmd) {
		return
	}
	site.AddShipped(reg, append(e.Args, "")...)
	if asksForAll(e, reg) {
		site.AddShipped(reg)
	}
	for _, t := range reg.Types() {
		sub := make(reg, t)
		sub.Annotations = map[string]string{cli.TypeAnnotation: t.Name}
		cmd.AddCommand(sub)
	}
	if cli.Completes(e) {
		_ = cli.DescribeTypes(cmd, reg) // shells show the descriptions next to the names
	}
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		if err := cli.DescribeTypes(cmd, reg); err != nil {
			e.Messages.Explain(err)
		}
		c.Root().HelpFunc()(c, args)
	})
}

// mayMean reports whether the command line may be about cmd. The commands for all
// types take a moment to make, which other commands need not wait for.
func mayMean(e *cli.Env, cmd *cobra.Command) bool {
	return e.Args == nil || slices.ContainsFunc(e.Args, func(arg string) bool {
		return arg == cmd.Name() || cmd.HasAlias(arg) || strings.HasPrefix(arg, "--man")
	})
}

// asksForAll reports whether the command line is about all types, and not only
// about those that it names.
func asksForAll(e *cli.Env, reg *resource.Registry) bool {
	isType := func(arg string) bool { return slices.Contains(reg.TypeNames(), arg) }
	if cli.Completes(e) {
		return !slices.ContainsFunc(e.Args[:len(e.Args)-1], isType)
	}
	return e.Args == nil || !slices.ContainsFunc(e.Args, isType) && slices.ContainsFunc(e.Args, func(arg string) bool {
		return arg == "help" || arg == "--help" || arg == "-h" || strings.HasPrefix(arg, "--man")
	})
}

// A typedCommand is a command whose flags are the properties of a type.
type typedCommand struct {
	typ   *resource.Type
	table schema.Table // the values of the flags
	flags []*schema.Flag
	// ensure says whether the type has a property for the second argument.
	ensure bool
}

// newTyped adds flags to cmd for the properties of a type, except the properties in leaveOut, for
// which cmd has other flags.
func newTyped(e *cli.Env, cmd *cobra.Command, reg *resource.Registry, t *resource.Type, own *pflag.FlagSet, leaveOut ...string) *typedCommand {
	x := &typedCommand{typ: t, ensure: t.Schema().Field("ensure") != nil}
	fs := cmd.Flags()
	fs.SortFlags = false
	x.flags = t.Properties().Flags(fs, &x.table, t.Name, func(name string) bool {
		return name == "help" || name == "color" || name == "allow-insecure" || own.Lookup(name) != nil
	}, leaveOut...)
	for _, p := range x.flags {
		if p.Field.Name == "subscribe" && !t.Refreshable() {
			fs.Lookup(p.Name).Hidden = true // the same as require for this type
		}
		values := p.Field.Suggestions()
		if p.Field.Name == "provider" {
			values = reg.ProviderNames(t)
		}
		if len(values) > 0 {
			cli.CompleteFlag(e, cmd, p.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	return x
}

// args checks the arguments of a typed command.
func (x *typedCommand) args(cmd *cobra.Command, args []string) error {
	most := 1
	if x.ensure {
		most = 2
	}
	switch {
	case len(args) == 0:
		return diag.At(diag.Pos{}, diag.Expected("the name of a %s", x.typ.Name)).WithHint("%s", cmd.UseLine())
	case len(args) > most:
		err := diag.At(diag.Pos{}, diag.Expected("one %s", x.typ.Name).Got("also %q", args[most])).WithHint("%s", cmd.UseLine())
		for _, p := range x.flags {
			if strings.ReplaceAll(strings.TrimLeft(args[most], "-"), "_", "-") == p.Name {
				err.WithHint("the flag is --%s", p.Name)
			}
		}
		return err
	}
	return nil
}

// properties returns the values of arguments and flags, with their places.
func (x *typedCommand) properties(e *cli.Env, cmd *cobra.Command, args []string) *schema.Table {
	tab := new(schema.Table)
	where := &commandLine{args: e.Args, flags: cmd.Flags(), words: 2, positional: []string{x.typ.Schema().Name().Name}}
	tab.Entries = append(tab.Entries, schema.Entry{Key: where.positional[0], Val: schema.TextValue(args[0])})
	if len(args) > 1 {
		where.positional = append(where.positional, "ensure")
		tab.Entries = append(tab.Entries, schema.Entry{Key: "ensure", Val: schema.TextValue(args[1])})
	}
	tab.Entries = append(tab.Entries, x.table.Entries...)
	tab.Positions = where
	return tab
}

// use returns the usage line of a typed command.
func use(t *resource.Type) string {
	if t.Schema().Field("ensure") != nil {
		return t.Name + " NAME [ENSURE]"
	}
	return t.Name + " NAME"
}

// conditionFlags are the flags of ensure that stand for no property alone.
type conditionFlags struct {
	ifText, unless string
	checks         []string
	tries          int
	warnFails      bool
	sleep, timeout string
}

func (c *conditionFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&c.ifText, "if", "", "manage the resource only if `EXPRESSION` is true")
	fs.StringVar(&c.unless, "unless", "", "manage the resource unless `EXPRESSION` is true")
	fs.StringArrayVar(&c.checks, "check", nil, "run health check `COMMAND` afterwards (repeatable)")
	fs.IntVar(&c.tries, "check-tries", 5, "maximum number of tries of a health check")
	fs.BoolVar(&c.warnFails, "check-warn-fails", false, "treat health check warnings as failures")
	fs.StringVar(&c.sleep, "check-sleep", "1s", "`TIME` between tries")
	fs.StringVar(&c.timeout, "check-timeout", "10s", "`TIME` limit of each try")
}

// condition returns the value of a flag, nil if the flag was not given.
func condition(fs *pflag.FlagSet, name, text string) *string {
	if !fs.Changed(name) {
		return nil
	}
	return &text
}

// addHealthChecks adds the property that the flags stand for to the others.
func (c *conditionFlags) addHealthChecks(properties *schema.Table) error {
	var list []schema.Value
	for i, command := range c.checks {
		if strings.TrimSpace(command) == "" {
			return diag.Errorf(properties.Locate(schema.Path{"--check", i}, false), "--check: %w", diag.Expected("a command").Got("%q", command))
		}
		list = append(list, schema.MapValue(&schema.Table{Entries: []schema.Entry{
			{Key: "command", Val: schema.TextValue(command)},
			{Key: "tries", Val: schema.IntValue(int64(c.tries))},
			{Key: "try_sleep", Val: schema.TextValue(c.sleep)},
			{Key: "timeout", Val: schema.TextValue(c.timeout)},
			{Key: "warn_fails", Val: schema.BoolValue(c.warnFails)},
		}}))
	}
	if len(list) > 0 {
		properties.Set("health_checks", schema.ListValue(list...))
	}
	return nil
}

// newEnsureTypeCommand returns the command for one type. f holds the flags that all these commands
// share.
func newEnsureTypeCommand(e *cli.Env, f *oneOffFlags, reg *resource.Registry, t *resource.Type, common *pflag.FlagSet) *cobra.Command {
	c := &conditionFlags{}
	cmd := &cobra.Command{Use: use(t), Short: "Ensure a " + t.Name}
	var own pflag.FlagSet
	c.add(&own)
	own.AddFlagSet(common)
	x := newTyped(e, cmd, reg, t, &own, "health_checks", "register_when_stable", "before", "notify")
	c.add(cmd.Flags())
	cmd.Args, cmd.ValidArgsFunction = x.args, x.complete(e, reg)
	for _, name := range []string{"require", "subscribe"} {
		cli.CompleteFlag(e, cmd, name, completeReference(e))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		what := manifest.Single{
			Type: t, Properties: x.properties(e, cmd, args), Prefix: "--", Pos: diag.Pos{File: site.CommandLine},
			If: condition(cmd.Flags(), "if", c.ifText), Unless: condition(cmd.Flags(), "unless", c.unless),
		}
		e.Messages.Sources = what.Properties.Positions.(*commandLine).source
		if err := c.addHealthChecks(what.Properties); err != nil {
			return err
		}
		return ensureResource(e, cmd, f, what)
	}
	return cmd
}

// ensureResource converges one resource and reports it.
func ensureResource(e *cli.Env, cmd *cobra.Command, f *oneOffFlags, what manifest.Single) error {
	f.verbose, f.oneOff = !f.quiet, true // that a resource is stable is an answer too
	rep := newReport(e, &f.runFlags)
	s, err := cli.OpenSession(cmd, e)
	if err != nil {
		return err
	}
	o, err := newOneOff(e, cmd, f, "ensure", rep.hostOptions(e, &f.runFlags), s)
	if err != nil {
		return err
	}
	line := what.Properties.Positions.(*commandLine)
	e.Messages.Sources = func(name string) (string, bool) {
		if text, ok := line.source(name); ok {
			return text, ok
		}
		return o.Source(name)
	}
	result, err := o.Converge(cmd.Context(), what, rep.all())
	o.Close()
	if err != nil {
		return err
	}
	rep.summary = func(event.Summary) {} // one line tells all
	if err := rep.end(result.Summary); err != nil {
		return err
	}
	return resultStatus(result, f.detailed).Err()
}

// complete offers names of resources, and then values of ensure.
func (x *typedCommand) complete(e *cli.Env, reg *resource.Registry) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return cli.CompleteName(e, cmd, reg, x.typ, prefix)
		case len(args) == 1 && x.ensure:
			return x.typ.Schema().Field("ensure").Suggestions(), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeReference offers the resources of the session.
func completeReference(e *cli.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		s, err := cli.OpenSession(cmd, e)
		if err != nil || s == nil {
			return nil, directive
		}
		records, err := s.Entries()
		if err != nil {
			return nil, directive
		}
		var names []string
		for _, r := range records {
			names = append(names, r.Type+"#"+r.Name)
		}
		slices.Sort(names)
		return slices.Compact(names), directive
	}
}
