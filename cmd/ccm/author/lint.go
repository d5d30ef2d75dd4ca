package author

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/luaapi/stubs"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// LintCommand returns the command lint.
func LintCommand(e *cli.Env) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	var exclude []string
	cmd := &cobra.Command{
		Use:   "lint FILE|DIR...",
		Short: "Check scripts for mistakes without running them",
		Long: `Check Lua scripts for mistakes without running them. Read-only.

  ccm lint .
  ccm lint site.lua lib/

It finds unknown properties and invalid values, undefined globals, commands that
would run every time, escapes that Lua 5.1 lacks, and unused variables.

In a directory, all files named *.lua are checked. Skipped are directories named
vendor or files, hidden directories, and whatever --exclude or .ccmignore excludes.
.ccmignore has one pattern per line: *.gen.lua or old/ match anywhere, /drafts or
lib/*_old.lua only at this path below the directory.

The comment "-- ccm: ignore" silences a line; followed by names of rules, it
silences only those:

` + terminal.Wrap(strings.Join(lint.Rules, ", "), "  ", terminal.TextWidth) + `

Exit status: 1 if problems are found.`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"lua"}, cobra.ShellCompDirectiveFilterFileExt
		},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return diag.At(diag.Pos{}, diag.Expected("scripts or directories")).WithHint("check all scripts of a directory with: ccm lint DIR")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return lintFiles(cmd.Context(), e, args, exclude, output.Value == "json")
		},
	}
	cmd.Flags().Var(output, "output", "output format: text or json (one object per line)")
	cmd.Flags().StringArrayVar(&exclude, "exclude", nil, "exclude `PATTERN`, as a line in .ccmignore (repeatable)")
	return cmd
}

func lintFiles(ctx context.Context, e *cli.Env, args, exclude []string, asJSON bool) error {
	files, err := lint.Files(args, exclude)
	if err != nil {
		return err
	}
	l, err := newLinter()
	if err != nil {
		return err
	}
	l.ReadFile = func(path string) ([]byte, error) { return e.Files.Trust().ReadFile(ctx, path) }
	clean := true
	for _, file := range files {
		name, text, err := e.ReadInput(ctx, file)
		if err != nil {
			return err
		}
		found := l.Check(name, text)
		if clean = clean && len(found) == 0; asJSON {
			err = lintJSON(e, found)
		} else {
			lintText(e, found, text)
		}
		if err != nil {
			return err
		}
	}
	if !clean {
		return cli.Status(cli.ExitUsage)
	}
	return nil
}

// newLinter returns a linter that knows the types and libraries of ccm, and reads no files.
func newLinter() (*lint.Linter, error) {
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	if err != nil {
		return nil, err
	}
	lang := &stubs.Language{FactsPage: docs.Facts()}
	return &lint.Linter{
		Registry: reg, Libraries: std.Libraries(), Globals: site.Globals(reg), FactFields: lang.FactFields,
		ModuleType: func(name string) *resource.Type { return site.ModuleType(reg, name) },
	}, nil
}

func lintText(e *cli.Env, found []lint.Finding, text string) {
	if len(found) == 0 {
		return // HideLiterals would copy a large text
	}
	text = luaapi.HideLiterals(hidePlain(found, text))
	for _, f := range found {
		diag.Render(e.Stdout, "", f.Error, func(string) (string, bool) { return text, true })
	}
}

// hidePlain returns a text with stars in place of likely secrets, because other people keep
// reports.
func hidePlain(found []lint.Finding, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for _, f := range found {
		if from := f.Pos.Col - 1; f.Rule == lint.PlainSecret && f.Pos.Line <= len(lines) && from+f.Pos.Len <= len(lines[f.Pos.Line-1]) {
			line := lines[f.Pos.Line-1]
			lines[f.Pos.Line-1] = line[:from] + strings.Repeat("*", f.Pos.Len) + line[from+f.Pos.Len:]
		}
	}
	return strings.Join(lines, "")
}

func lintJSON(e *cli.Env, found []lint.Finding) error {
	enc := secret.NewEncoder(e.Stdout, nil)
	for _, f := range found {
		err := enc.Encode(struct {
			File    string `json:"file"`
			Line    int    `json:"line"`
			Column  int    `json:"column"`
			Length  int    `json:"length,omitempty"`
			Rule    string `json:"rule"`
			Subject string `json:"subject,omitempty"`
			Message string `json:"message"`
			Hint    string `json:"hint,omitempty"`
		}{f.Pos.File, f.Pos.Line, f.Pos.Col, f.Pos.Len, f.Rule, f.Subject, f.Err.Error(), f.Hint})
		if err != nil {
			return err
		}
	}
	return nil
}
