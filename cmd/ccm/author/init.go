// Package author has the commands for authors of a site: init, types, lint, import, test, studio.
package author

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// newSite has the files of a new site.
//
//go:embed all:newsite
var newSite embed.FS

// InitCommand returns the command init.
func InitCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create a site: a script, a module, a spec and editor files",
		Long: `Create a site in a directory: site.lua, a module in lib, a spec in spec, and the
files that ccm types writes.

  ccm init mysite

If one of these files exists already, nothing is written.`,
		Args: cli.WantArguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			lang, err := language()
			if err != nil {
				return err
			}
			files, err := siteFiles()
			if err != nil {
				return err
			}
			files = append(files, editorFiles(lang)...)
			if err := absent(dir, files); err != nil {
				return err
			}
			if err := writeFiles(e, dir, files, false); err != nil {
				return err
			}
			_, err = terminal.Fprintf(e.Stdout, "\nNext: cd %s && ccm test && ccm plan site.lua\n", dir)
			return err
		},
	}
}

// siteFiles returns the files of a new site.
func siteFiles() (files []writtenFile, err error) {
	const dir = "newsite"
	err = fs.WalkDir(newSite, dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := newSite.ReadFile(path)
		files = append(files, writtenFile{name: strings.TrimPrefix(path, dir+"/"), text: text})
		return err
	})
	return files, err
}

// absent reports in one line that files are there already.
func absent(dir string, files []writtenFile) error {
	var there []string
	for _, f := range files {
		switch _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.name))); {
		case err == nil:
			there = append(there, f.name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	more := ""
	switch n := len(there); {
	case n == 0:
		return nil
	case n > 1:
		more = fmt.Sprintf(" and %d more files", n-1)
	}
	return diag.Errorf(diag.Pos{}, "%s already contains %s%s; nothing was written", dir, there[0], more).
		WithHint("create the site elsewhere with ccm init DIR, or update editor files with ccm types")
}
