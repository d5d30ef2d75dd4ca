package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Former returns cmd as a hidden command under the name that it had in earlier versions. Each use names what the command
// line begins with now. Flags are words of now that the former name implies, such as --output=dot.
func Former(e *Env, cmd *cobra.Command, name, now string, flags ...string) *cobra.Command {
	_, form, _ := strings.Cut(cmd.Use, " ")
	cmd.Use = strings.TrimSpace(name + " " + form)
	cmd.Short = "Former name of " + now
	cmd.Aliases, cmd.Hidden = nil, true
	if err := cmd.ParseFlags(flags); err != nil {
		panic(err) // a mistake in this program
	}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		Say(e, "%s is now: %s", cmd.CommandPath(), strings.Join(append([]string{now}, flags...), " "))
		return run(cmd, args)
	}
	return cmd
}
