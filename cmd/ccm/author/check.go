package author

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
)

// CheckSite checks the directory of a site, or that of a script, with the linter and its tests. It prints what they report
// only if they find problems, which is an error too.
func CheckSite(ctx context.Context, e *cli.Env, name string) error {
	dir := name
	if fi, err := os.Stat(name); err == nil && !fi.IsDir() {
		dir = filepath.Dir(name)
	}
	specs, err := lint.FilesBelow(dir, "_spec.lua", nil)
	if err != nil {
		return err
	}
	checks := []struct {
		command string
		run     func(*cli.Env) error
	}{
		{"ccm lint", func(e *cli.Env) error { return lintFiles(ctx, e, []string{dir}, nil, false) }},
		{"ccm test", func(e *cli.Env) error {
			return runSpecs(ctx, e, &testFlags{output: cli.NewChoice("text")}, []string{dir})
		}},
	}
	if len(specs) == 0 {
		cli.Say(e, "No tests found. ccm init creates a site with one.")
		checks = checks[:1]
	}
	var done []string
	for _, c := range checks {
		var report bytes.Buffer
		out := secret.NewWriter(&report, e.Secrets)
		quiet := *e
		quiet.Stdout = terminal.NewWriter(out)
		if err := c.run(&quiet); err != nil {
			_, _ = quiet.Stdout.Flush(), out.Flush() // writes to memory do not fail
			terminal.Fprintf(e.Stderr, "%s", terminal.LinesText(report.String()))
			if status, found := errors.AsType[cli.Status](err); !found || status != cli.ExitUsage {
				return err
			}
			return diag.Errorf(diag.Pos{}, "%s %s found problems", c.command, dir).WithHint("release it anyway with --no-check")
		}
		done = append(done, c.command)
	}
	cli.Say(e, "Checked: %s.", strings.Join(done, ", "))
	return nil
}
