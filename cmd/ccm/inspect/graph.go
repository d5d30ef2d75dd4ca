package inspect

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/graph"
)

// GraphCommand returns the command graph.
func GraphCommand(e *cli.Env) *cobra.Command {
	f := &cli.SiteFlags{}
	output := cli.NewChoice("dot", "dot", "mermaid", "svg")
	stack := uint(graph.DefaultStack)
	cmd := &cobra.Command{
		Use:   "graph FILE [ARG...]",
		Short: "Draw the resources of a script or manifest and their order",
		Long: `Draw the resources of a script or manifest and their order. Read-only.

  ccm graph site.lua | dot -Tpng > site.png
  ccm graph site.lua --output svg > site.svg

An arrow leads from a resource to those that come after it. It is dashed if a change
of the first refreshes the second. Resources without arrows are applied in the order
of the script.

In SVG, resources of one type with the same neighbors are drawn as a stack, and an
arrow that a longer path implies is omitted.`,
		Args: cli.NeedFile, ValidArgsFunction: cli.CompleteFile(),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			leave, err := f.Enter(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer leave(&err)
			s, err := e.Load(cmd.Context(), args[0], args[1:], f.SiteOptions())
			if err != nil {
				return err
			}
			var text string
			switch output.Value {
			case "dot":
				text = report.Dot(s.Catalog)
			case "mermaid":
				text = report.Mermaid(s.Catalog)
			case "svg":
				text = report.SVG(s.Catalog, int(stack))
			}
			_, err = io.WriteString(e.Print().Data(), text)
			return err
		},
	}
	f.Add(cmd.Flags())
	cli.AddBundleFlags(cmd.Flags(), &f.Bundle)
	cli.AddUnsavedFlag(cmd)
	cmd.Flags().Var(output, "output", "output format: dot, mermaid or svg")
	cmd.Flags().UintVar(&stack, "stack", stack, "in SVG, stack `N` or more similar resources (0 never stacks)")
	return cmd
}
