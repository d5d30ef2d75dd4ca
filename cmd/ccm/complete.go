package main

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// completeChoices has a shell offer the words that a flag may have, for all commands.
func completeChoices(e *cli.Env, cmd *cobra.Command) {
	complete := func(f *pflag.Flag) {
		if c, ok := f.Value.(*cli.Choice); ok {
			cli.CompleteFlag(e, cmd, f.Name, c.Complete)
		}
	}
	cmd.Flags().VisitAll(complete)
	cmd.PersistentFlags().VisitAll(complete)
	for _, sub := range cmd.Commands() {
		completeChoices(e, sub)
	}
}

// pathNames are the names of values for which a shell offers files: --report FILE.
var pathNames = []string{"FILE", "DIR", "DIRECTORY", "KEY", "COMMAND"}

// completeNoFiles stops shells from offering files to commands that take no argument, and as values of
// flags that are no paths and have no completion of their own: by default a shell offers files even for
// --since. It leaves out ccm ensure, whose flags are properties, any of which may be a path.
func completeNoFiles(e *cli.Env, cmd *cobra.Command) {
	complete := func(f *pflag.Flag) {
		if name, _ := pflag.UnquoteUsage(f); name != "" && !slices.Contains(pathNames, name) {
			cli.CompleteFlag(e, cmd, f.Name, cobra.NoFileCompletions) // a flag with a completion keeps it
		}
	}
	cmd.Flags().VisitAll(complete)
	cmd.PersistentFlags().VisitAll(complete)
	if cmd.ValidArgsFunction == nil && takesNone(cmd) {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range cmd.Commands() {
		if sub.Name() != "ensure" {
			completeNoFiles(e, sub)
		}
	}
}

// takesNone reports whether a command takes no argument.
func takesNone(cmd *cobra.Command) bool {
	if cmd.Args == nil || cmd.HasSubCommands() {
		return false
	}
	for _, args := range [][]string{{"a"}, {"a", "a"}, {"a", "a", "a"}} {
		if cmd.Args(cmd, args) == nil {
			return false
		}
	}
	return true
}

// completeParts completes --target, --tags and --skip-tags from the script or manifest, for all
// commands that read one.
func completeParts(e *cli.Env, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Flags().Lookup("target") == nil {
			continue
		}
		for flag, names := range map[string]func(*catalog.Catalog) []string{
			"target": (*catalog.Catalog).Names, "tags": (*catalog.Catalog).Tags, "skip-tags": (*catalog.Catalog).Tags,
		} {
			cli.CompleteFlag(e, cmd, flag, completeDeclared(e, names))
		}
	}
}

// plainUsages removes the backquotes from the usage of flags. They mark the name of the value for
// the help, but a shell would show them.
func plainUsages(cmd *cobra.Command) {
	plain := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	cmd.Flags().VisitAll(plain)
	cmd.PersistentFlags().VisitAll(plain)
	for _, sub := range cmd.Commands() {
		plainUsages(sub)
	}
}

// completeDeclared offers names from the catalog of the script or manifest of a command.
func completeDeclared(e *cli.Env, names func(*catalog.Catalog) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		if len(args) == 0 || args[0] == "-" {
			return nil, directive
		}
		e.Messages.W, e.Log = terminal.NewWriter(io.Discard), nil // messages would be mixed with the completions
		e.Passphrase = nil                                        // nor can anybody be asked
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
