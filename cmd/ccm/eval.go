package main

import (
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/site"
)

func newEvalCommand(e *cli.Env) *cobra.Command {
	f := &replFlags{}
	var load string
	cmd := &cobra.Command{
		Use:   "eval EXPRESSION",
		Short: "Evaluate a Lua expression and print its value",
		Long: `Evaluate a Lua expression or statements, and print the value. Read-only.

  ccm eval facts.os.family
  ccm eval --output json 'facts.net'
  ccm eval --load site.lua 'plan():pending()'

Everything available at the prompt of ccm repl is available: facts, the library,
plan and state.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return diag.At(diag.Pos{}, diag.Expected("one expression").Got("%d arguments", len(args))).WithHint("quote it: %s 'facts.os'", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Data.Site = load
			p, err := newPrompt(cmd.Context(), e, f, nil, e.Stderr)
			if err != nil {
				return err
			}
			defer p.Dialog.Close()
			return p.Script(cmd.Context(), load, site.CommandLine, args[0])
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&load, "load", "", "evaluate the script `FILE` first")
	return cmd
}
