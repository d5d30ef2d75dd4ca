package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
)

// AnyNumber is the most arguments of a command that takes as many as there are.
const AnyNumber = -1

// WantArguments reports a command line with fewer or more arguments than a command
// takes. Most may be AnyNumber.
func WantArguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most == AnyNumber || len(args) <= most) {
			return nil
		}
		name, form, _ := strings.Cut(cmd.Use, " ")
		form = strings.TrimSpace(strings.TrimSuffix(cmd.CommandPath(), cmd.Name()) + name + " " + form)
		return diag.At(diag.Pos{}, diag.Expected("%s", argumentsWanted(least, most)).Got("%s", quotedList(args))).WithHint("%s", form)
	}
}

// argumentsWanted formats the wanted number of arguments.
func argumentsWanted(least, most int) string {
	switch {
	case most == 0:
		return "no arguments"
	case most == AnyNumber:
		return "at least " + arguments(least)
	case least == most:
		return arguments(least)
	}
	return "at most " + arguments(most)
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

func quotedList(args []string) string {
	if len(args) == 0 {
		return "none"
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = strconv.Quote(a)
	}
	return strings.Join(quoted, ", ")
}

// NeedFile reports a command line without a script or manifest.
func NeedFile(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return diag.At(diag.Pos{}, diag.Expected("a script or manifest")).WithHint("%s FILE, or - for standard input", cmd.CommandPath())
	}
	return nil
}
