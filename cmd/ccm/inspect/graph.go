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
		Short: "Draw the resources of a script or manifest, and what comes before what",
		Long: `Draw the resources that a script or manifest declares. An arrow leads from each
to what has to come after it; it is dashed if a change of the one refreshes the
other. Resources without arrows are converged in the order of the text.

  ccm graph site.lua | dot -Tpng > site.png
  ccm graph site.lua --output svg > site.svg

In svg, resources of one type with the same neighbors make a stack, and an arrow
is left out if a longer way implies it.`,
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
	cmd.Flags().Var(output, "output", "form of the drawing: dot, mermaid or svg")
	cmd.Flags().UintVar(&stack, "stack", stack, "in svg, draw `N` or more resources that are alike as one; 0 draws each by itself")
	return cmd
}
