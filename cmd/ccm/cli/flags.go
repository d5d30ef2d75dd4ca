package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// Choice is a flag with a closed set of values.
type Choice struct {
	Value  string
	values []string
}

// NewChoice returns a flag that is one of some words, and begins with value.
func NewChoice(value string, values ...string) *Choice { return &Choice{value, values} }

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value.
func (c *Choice) Type() string { return strings.Join(c.values, "|") }

// Set implements pflag.Value.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.values, s) {
		hint := ""
		if near := diag.DidYouMean(s, c.values); near != "" {
			hint = " (" + near + ")"
		}
		return diag.Expected("one of %s%s", strings.Join(c.values, ", "), hint)
	}
	c.Value = s
	return nil
}

// Complete offers the values of c for completion of a flag.
func (c *Choice) Complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return c.values, cobra.ShellCompDirectiveNoFileComp
}

// A durationFlag is a duration in the units of the language.
type durationFlag time.Duration

// DurationVar adds a flag whose value is a duration such as 30s, 1h30m, 1d or 2w.
func DurationVar(fs *pflag.FlagSet, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	fs.Var((*durationFlag)(to), name, usage)
}

// String implements pflag.Value. No duration is 0, which the help does not show.
func (d *durationFlag) String() string {
	if *d == 0 {
		return "0"
	}
	return words.Duration(time.Duration(*d))
}

// Type implements pflag.Value.
func (*durationFlag) Type() string { return "duration" }

// Set implements pflag.Value.
func (d *durationFlag) Set(s string) (err error) {
	*(*time.Duration)(d), err = host.ParseDuration(s)
	return err
}

// Colorful reports whether output to w is to be colored: --color wins, then
// CLICOLOR_FORCE and FORCE_COLOR, then NO_COLOR and TERM=dumb, then whether w is
// a terminal.
func Colorful(e *Env, w any) bool {
	switch e.Color {
	case "always":
		return true
	case "never":
		return false
	}
	if isSet("CLICOLOR_FORCE") || isSet("FORCE_COLOR") {
		return true
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return terminal.IsTerminal(w)
}

func isSet(name string) bool { v := os.Getenv(name); return v != "" && v != "0" }

// NeedCommand makes a command that does nothing by itself ask for one of its subcommands.
func NeedCommand(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var names []string
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		err := diag.Errorf(diag.Pos{}, "%s: %w", cmd.CommandPath(), diag.Expected("%s", strings.Join(names, " or ")))
		if len(args) > 0 {
			err.Err = fmt.Errorf("%w, got %q", err.Err, args[0])
			err.Hint = diag.DidYouMean(args[0], names)
		}
		return err
	}
}

// TellsEvents marks commands that, with JSON output, report mistakes on standard output.
const TellsEvents = "events"
