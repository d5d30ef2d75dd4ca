package inspect

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// FactsCommand returns the command facts.
func FactsCommand(e *cli.Env) *cobra.Command {
	f := &cli.SiteFlags{}
	output := cli.NewChoice("text", "text", "json", "yaml")
	cmd := &cobra.Command{
		Use:   "facts [PATH]",
		Short: "Print facts about this machine",
		Long: `Print the facts of this machine, or the one at a dotted path. Read-only.

  ccm facts
  ccm facts os.family

Only the requested facts are gathered.`,
		Args: cli.WantArguments(0, 1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return completeFact(e, cmd, args, prefix, f)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			v := &e.Host(f.Root).View
			fs, err := e.Facts(cmd.Context(), v, f.Facts)
			if err != nil {
				return err
			}
			val, err := fs.Get(path)
			if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
				return &diag.Error{Err: nf, Hint: nf.Hint()}
			}
			if err != nil && path != "" {
				return err
			}
			if err != nil {
				e.Messages.Explain(err) // the gathered facts are printed in spite of errors
			}
			return e.Print().Plain(val, output.Value)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory")
	fs.StringArrayVar(&f.Facts.Assignments, "fact", nil, "set fact `NAME=VALUE` (repeatable)")
	fs.StringVar(&f.Facts.File, "facts", "", "read additional facts from `FILE` (JSON or YAML)")
	fs.Var(output, "output", "output format: text, json or yaml")
	return cmd
}

// completeFact offers the names below the last dot of a path. It gathers only the fact before that
// dot.
func completeFact(e *cli.Env, cmd *cobra.Command, args []string, prefix string, f *cli.SiteFlags) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	v := &e.Host(f.Root).View
	fs, err := e.Facts(cmd.Context(), v, f.Facts)
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	dot := strings.LastIndexByte(prefix, '.')
	if dot < 0 {
		return fs.Names(), directive
	}
	val, err := fs.Get(prefix[:dot])
	m, ok := val.(map[string]any)
	if err != nil || !ok {
		return nil, directive
	}
	var names []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		names = append(names, prefix[:dot+1]+k)
	}
	return names, directive
}
