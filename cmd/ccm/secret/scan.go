package secret

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/ignore"
	"github.com/luaccm/ccm/runtime/plainsecret"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newScanCommand(e *cli.Env) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "scan [DIR...]",
		Short: "Find likely secrets that are not encrypted",
		Long: `Find likely secrets that are not encrypted in all files below a directory. Read-only.

  ccm secret scan

It looks for private keys, tokens of known services, passwords in URLs, values assigned
to names such as password, and files such as tls.key beside tls.key.age. It guesses and
does not find everything. ccm lint checks scripts the same way.

Lines with the comment "ccm: ignore", files excluded by .ccmignore, and .git are
skipped.

Exit status: 1 if something is found.`,
		RunE: func(_ *cobra.Command, args []string) error { return scanSecrets(e, args, output.Value == "json") },
	}
	cmd.Flags().Var(output, "output", "output format: text or json (one object per line)")
	return cmd
}

func scanSecrets(e *cli.Env, dirs []string, asJSON bool) error {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	clean := true
	for _, dir := range dirs {
		found, err := plainSecrets(dir)
		if err != nil {
			return err
		}
		for _, f := range found {
			clean = false
			f.File = filepath.Join(dir, filepath.FromSlash(f.File))
			if asJSON {
				if err := e.Print().Line(f); err != nil {
					return err
				}
				continue
			}
			terminal.Fprintf(e.Stdout, "%s\n", f.String())
		}
	}
	if !clean {
		return cli.Status(cli.ExitUsage)
	}
	return nil
}

// plainSecrets returns likely plain secrets in a file or below a directory.
func plainSecrets(dir string) ([]plainsecret.Finding, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		base := filepath.Base(dir)
		found, err := plainsecret.Scan(os.DirFS(filepath.Dir(dir)), func(path string, _ bool) bool { return path != base })
		for i := range found {
			found[i].File = "."
		}
		return found, err
	}
	ignored, err := ignore.Read(dir)
	if err != nil {
		return nil, err
	}
	return plainsecret.Scan(os.DirFS(dir), ignored.Matches)
}
