package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
)

// newCompletionCommand returns completion. The one that comes with cobra is a command and four below it.
func newCompletionCommand(e *cli.Env) *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion bash|fish|powershell|zsh",
		Short: "Print the tab completion for a shell",
		Long: `Print the tab completion for a shell. Packages of ccm install it.

  source <(ccm completion bash)
  source <(ccm completion zsh)
  ccm completion fish > ~/.config/fish/completions/ccm.fish
  ccm completion powershell | Out-String | Invoke-Expression`,
		Args: cli.WantArguments(1, 1), ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), e.Print().Data()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			case "zsh":
				return root.GenZshCompletion(out)
			}
			return diag.At(diag.Pos{}, diag.Unknown("shell", args[0], shells)).WithHint("%s", cmd.CommandPath()+" "+strings.Join(shells, " or "))
		},
	}
}
