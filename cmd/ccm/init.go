package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
)

// newSite is what a new site begins with.
//
//go:embed all:newsite
var newSite embed.FS

func (e *env) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Start a new site: a script, a module, a spec, and files for the editor",
		Long: `Start a new site in a directory: site.lua, a module in lib, a spec in spec, and
what ccm types writes. Nothing is overwritten: if one of the files is there
already, nothing is written.`,
		Args: wantArguments(0, 1),
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
			if err := writeFiles(e.stdout, dir, files, false); err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.stdout, "\nNext: cd %s && ccm test && ccm plan site.lua\n", dir)
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

// absent reports the files that are there already.
func absent(dir string, files []writtenFile) error {
	var errs diag.List
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		switch _, err := os.Lstat(path); {
		case err == nil:
			errs.Add(fmt.Errorf("%s is there already; nothing is written", path))
		case !errors.Is(err, fs.ErrNotExist):
			errs.Add(err)
		}
	}
	return errs.Err()
}
