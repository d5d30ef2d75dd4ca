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
		Short: "Print what a command does, or a topic such as exit-codes",
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
		Short: "What the exit status says",
		Long: `run, apply, plan, ensure, restore, undo and prune:

    0  the machine is as described, or is now
    1  ccm could not start: command line, script, lock, state directory, a saved
       plan that does not hold any more; or somebody was asked and said no
    4  at least one resource failed
  130  interrupted

With --detailed-exitcodes:

    0  nothing to do
    2  something was changed, or would be in a plan
    4  something failed
    6  something was changed and something failed

drift: 0 the machine is as it was left, 2 it is not, 4 something could not be
looked at, 6 both.

doctor: 0 runs are possible here, 4 they would fail.

lint, test: 1 if something is found, or a test fails.

ssh: the worst of all hosts; 5 a host could not be reached, or not any more, or
did not finish within --timeout.

All others: 0 if they did what they were asked for, else 1.

A plan exits as the run would, as far as that can be known: 4 if something is
certain to fail. That a reader of the output goes away, as in ccm plan | head, is
no failure.`,
	}
}
