package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
)

func (e *env) factsCommand() *cobra.Command {
	f := &siteFlags{}
	output := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "facts [PATH]",
		Short: "Print what is known about this machine",
		Long: `Print the facts of this machine, or the one at a dotted path such as
os.family. Only what is asked for is gathered.`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return e.completeFact(cmd, args, prefix, f)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			h := host.New(host.Options{Root: f.root})
			fs, err := e.gatherFacts(cmd.Context(), &h.View, f)
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
				e.explain(err) // what could be gathered is printed all the same
			}
			if output.value == "json" {
				return e.printJSON(val)
			}
			writeFact(e.stdout, val, "")
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.root, "root", "/", "look at the file system below `DIR`")
	fs.StringArrayVar(&f.facts, "fact", nil, "set the fact `NAME=VALUE` (repeatable)")
	fs.StringVar(&f.factsFile, "facts", "", "read further facts from `FILE` (JSON or YAML)")
	fs.Var(output, "output", "form of the output: text or json")
	return cmd
}

// completeFact offers the names below the last dot of a path. It gathers only
// what is before that dot.
func (e *env) completeFact(cmd *cobra.Command, args []string, prefix string, f *siteFlags) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	h := host.New(host.Options{Root: f.root})
	fs, err := e.gatherFacts(cmd.Context(), &h.View, f)
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

// writeFact prints a fact as an indented tree, one name a line.
func writeFact(w io.Writer, val any, indent string) {
	switch x := val.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			writeEntry(w, k+":", x[k], indent)
		}
	case []any:
		for _, v := range x {
			writeEntry(w, "-", v, indent)
		}
	default:
		fmt.Fprintln(w, indent+scalar(x))
	}
}

func writeEntry(w io.Writer, key string, val any, indent string) {
	switch x := val.(type) {
	case map[string]any:
		if len(x) > 0 {
			fmt.Fprintln(w, indent+key)
			writeFact(w, x, indent+"  ")
			return
		}
	case []any:
		if len(x) > 0 {
			fmt.Fprintln(w, indent+key)
			writeFact(w, x, indent+"  ")
			return
		}
	}
	fmt.Fprintf(w, "%s%s %s\n", indent, key, scalar(val))
}

func scalar(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "{}"
	case []any:
		return "[]"
	case float64:
		return strings.TrimSuffix(fmt.Sprintf("%f", x), ".000000")
	default:
		return fmt.Sprint(x)
	}
}
