package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/report"
)

func newGraphCommand(e *env) *cobra.Command {
	f := &siteFlags{}
	output := newChoice("dot", "dot", "mermaid", "svg")
	cmd := &cobra.Command{
		Use:   "graph FILE [ARG...]",
		Short: "Draw the resources of a script or manifest, and what comes before what",
		Long: `Draw the resources that a script or manifest declares. An arrow leads from each
to what has to come after it; it is dashed if a change of the one refreshes the
other. Resources without arrows are converged in the order of the text.

  ccm graph site.lua | dot -Tpng > site.png
  ccm graph site.lua --output svg > site.svg`,
		Args: needFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := e.Load(cmd.Context(), args[0], args[1:], f.options())
			if err != nil {
				return err
			}
			draw := report.Dot
			switch output.value {
			case "mermaid":
				draw = report.Mermaid
			case "svg":
				draw = report.SVG
			}
			_, err = io.WriteString(e.print().data(), draw(s.Catalog))
			return err
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().Var(output, "output", "form of the drawing: dot, mermaid or svg")
	_ = cmd.RegisterFlagCompletionFunc("output", output.complete)
	return cmd
}
