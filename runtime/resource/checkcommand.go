package resource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// A CheckCommand is a command of the user that checks something and exits 0 if all is well. It is
// one line, which is split into words, or a list of words. It runs without a shell. In it, %s
// is replaced by the file to check.
type CheckCommand []string

// checkPlaceholder stands for the file to check.
const checkPlaceholder = "%s"

// IsGiven reports whether there is a command.
func (c CheckCommand) IsGiven() bool { return len(c) > 1 || len(c) == 1 && c[0] != "" }

// Err returns the mistake in the command. OfFile means that it has to name a file.
func (c CheckCommand) Err(ofFile bool) error {
	words, err := c.words()
	line := strings.Join(c, " ")
	switch {
	case err != nil:
		return err
	case len(words) == 0 || words[0] == "":
		return diag.Expected("a command").Got("%q", line)
	case ofFile && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, checkPlaceholder) }):
		return diag.Expected("%%s in the command, for the file to check").Got("%q", line)
	}
	return nil
}

func (c CheckCommand) words() ([]string, error) {
	if len(c) == 1 {
		return SplitWords(c[0])
	}
	return slices.Clone(c), nil
}

// Words returns the words of the command that checks file, or no file if that is "".
func (c CheckCommand) Words(file string) []string {
	words, _ := c.words()
	for i, w := range words {
		if file != "" {
			words[i] = strings.ReplaceAll(w, checkPlaceholder, file)
		}
	}
	return words
}

// MayRun returns the reason why the host would refuse the command, for a property; nil if it would
// not, or if there is no command.
func (c CheckCommand) MayRun(v *host.View, property string) error {
	if !c.IsGiven() {
		return nil
	}
	if err := v.MayRun(host.Cmd{Argv: c.Words("")}); err != nil {
		return fmt.Errorf("%s: %w", property, err)
	}
	return nil
}

// Ask runs the command for a property, and returns an error unless the command exits 0.
func (c CheckCommand) Ask(ctx context.Context, v *host.View, property, file string) error {
	cmd := host.Cmd{Argv: c.Words(v.CommandPath(file)), KeepLocale: true}
	res, err := v.Query(ctx, cmd)
	if err == nil {
		err = res.Err(cmd)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", property, err)
	}
	return nil
}
