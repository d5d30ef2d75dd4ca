package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// fitHelp makes the help of all commands fit into the terminal.
func fitHelp(e *cli.Env, root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var page bytes.Buffer
		out := cmd.OutOrStdout()
		cmd.SetOut(&page)
		help(cmd, args)
		cmd.SetOut(out)
		terminal.Fprint(e.Stdout, terminal.Fit(e.Stdout, page.String()))
	})
}

// helpCommand returns ccm help. Other than for the help command of cobra, an unknown topic is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show help for a command or a topic such as exit-codes",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			at, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commandNames(at), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				topic := strings.Join(args, " ")
				if at == nil {
					at = cmd.Root()
				}
				return diag.At(diag.Pos{}, diag.NotFound("command or topic", topic, nil)).
					WithHint("%s", diag.DidYouMean(args[len(args)-1], commandNames(at)))
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// commandNames returns the commands and topics below a command.
func commandNames(at *cobra.Command) (names []string) {
	for _, sub := range at.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// exitCodesTopic is ccm help exit-codes.
func exitCodesTopic(*cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Meaning of the exit status",
		Long: `run, apply, plan, ensure, undo and prune:

    0  no resource failed
    1  ccm could not start: command line, script, lock, state directory, an
       outdated saved plan, or a question answered with no
    4  at least one resource failed
  130  interrupted

With --detailed-exitcodes:

    0  nothing to do
    2  something changed, or a plan would change something
    4  something failed
    6  something changed and something failed

drift: 0 no drift, 2 drift, 4 a resource could not be checked, 6 both.

doctor: 0 runs are possible, 4 runs would fail.

lint, test: 1 if problems are found or a test fails.

ssh: the worst status of all hosts; 5 if a host could not be reached, was lost, or
exceeded --timeout.

All others: 0 on success, else 1.

A plan exits as the run would, as far as that is known: 4 if a failure is certain.
If the reader of the output exits early, as in ccm plan | head, that is not a
failure.`,
	}
}
