package main

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// complete offers names of resources, and then values of ensure.
func (x *typedCommand) complete(e *env, reg *resource.Registry) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return completeName(e, cmd, reg, x.typ, prefix)
		case len(args) == 1 && x.ensure:
			return x.typ.Schema().Field("ensure").Suggestions(), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeName offers names of resources of a type that its provider knows.
// Where it knows none, names may be paths.
func completeName(e *env, cmd *cobra.Command, reg *resource.Registry, t *resource.Type, prefix string) ([]string, cobra.ShellCompDirective) {
	const paths = cobra.ShellCompDirectiveDefault
	v := &host.New(host.Options{Clock: e.Clock}).View
	fs, err := e.Facts(cmd.Context(), v, site.FactOptions{})
	if err != nil {
		return nil, paths
	}
	names, err := site.NamesOf(cmd.Context(), v, fs, reg, t, prefix)
	if err != nil || names == nil {
		return nil, paths
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeFile offers scripts, manifests, files whose names have one of the further ends, and
// directories, as the first argument. What follows is for the script.
func completeFile(further ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return append([]string{"lua", "yaml", "yml"}, further...), cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeReference offers the resources of the session.
func completeReference(e *env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		s, err := openSession(cmd, e)
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

// completeFlag has a shell offer what may be the value of a flag. Package cobra keeps that for as
// long as the process lives, together with the flag and all that belongs to it, so it is told only
// if a shell asks.
func completeFlag(e *env, cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if completes(e) {
		_ = cmd.RegisterFlagCompletionFunc(flag, f)
	}
}

// completeChoices has a shell offer the words that a flag may have, for all commands.
func completeChoices(e *env, cmd *cobra.Command) {
	complete := func(f *pflag.Flag) {
		if c, ok := f.Value.(*choice); ok {
			completeFlag(e, cmd, f.Name, c.complete)
		}
	}
	cmd.Flags().VisitAll(complete)
	cmd.PersistentFlags().VisitAll(complete)
	for _, sub := range cmd.Commands() {
		completeChoices(e, sub)
	}
}

// completeParts has the flags --target, --tags and --skip-tags of all commands that read a
// script or manifest offer what that declares.
func completeParts(e *env, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Flags().Lookup("target") == nil {
			continue
		}
		for flag, names := range map[string]func(*catalog.Catalog) []string{
			"target": (*catalog.Catalog).Names, "tags": (*catalog.Catalog).Tags, "skip-tags": (*catalog.Catalog).Tags,
		} {
			completeFlag(e, cmd, flag, completeDeclared(e, names))
		}
	}
}

// plainUsages takes the backquotes out of what is said of flags. They mark the name of the value
// for the help; a shell would show them.
func plainUsages(cmd *cobra.Command) {
	plain := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	cmd.Flags().VisitAll(plain)
	cmd.PersistentFlags().VisitAll(plain)
	for _, sub := range cmd.Commands() {
		plainUsages(sub)
	}
}

// completeDeclared offers names from the catalog of the script or manifest of a command.
func completeDeclared(e *env, names func(*catalog.Catalog) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		if len(args) == 0 || args[0] == "-" {
			return nil, directive
		}
		e.Messages.W, e.Log = terminal.NewWriter(io.Discard), nil // the shell wants no story
		s, err := e.Load(cmd.Context(), args[0], args[1:], &site.Options{Root: "/", EvalTimeout: completionTimeout})
		if err != nil {
			return nil, directive
		}
		return names(s.Catalog), directive
	}
}

// completionTimeout is how long a script may take to evaluate while somebody
// waits for completions.
const completionTimeout = 5 * time.Second
