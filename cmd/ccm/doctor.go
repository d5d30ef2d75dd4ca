package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/collector"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site/doctor"
)

func newDoctorCommand(e *cli.Env) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	stateDir := ""
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine's prerequisites for runs",
		Long: `Check this machine's prerequisites for runs of ccm: system and user, package and
service managers, state directory and lock, disk, clock, memory, SELinux. Read-only.

  ccm doctor

  ok       no problem
  warning  some resources would fail, or a run would have to wait
  failure  runs would fail

Run it as the user who will run ccm. It does not need root.

Exit status: 0 runs are possible, perhaps with warnings; 4 runs would fail.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := doctor.Examine(cmd.Context(), e.Process, doctor.Options{StateDir: stateDir, BuildTime: e.Build.Built(), MemoryLimit: collector.MemoryLimit()})
			var err error
			if output.Value == "json" {
				err = e.Print().JSON(found)
			} else {
				printFindings(e, found)
			}
			if err == nil && slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Result == doctor.Failure }) {
				return cli.Status(cli.ExitFailed)
			}
			return err
		},
	}
	cmd.Flags().Var(output, "output", "output format: text or json")
	cmd.Flags().StringVar(&stateDir, "state-dir", "", "state `DIR` (default CCM_STATE_DIR, /var/lib/ccm, ~/.local/state/ccm)")
	return cmd
}

// printFindings prints each finding on a line, and its remedy below.
func printFindings(e *cli.Env, found []doctor.Finding) {
	styles := map[doctor.Result]terminal.Style{doctor.OK: terminal.Green, doctor.Warning: terminal.Yellow, doctor.Failure: terminal.Red}
	for _, f := range found {
		result := styles[f.Result].On(cli.Colorful(e, e.Stdout)).Paint(terminal.Sprintf("%-8s", string(f.Result)))
		head := terminal.Sprintf("%s %-9s ", result, f.Check)
		terminal.Fprintf(e.Stdout, "%s\n", terminal.HangingIndent(e.Stdout, head, terminal.LineText(f.Text)))
		if f.Hint != "" {
			terminal.Fprintf(e.Stdout, "%s\n", terminal.HangingIndent(e.Stdout, terminal.Sprintf("%-19s", ""), terminal.Sprintf("hint: %s", f.Hint)))
		}
	}
}
