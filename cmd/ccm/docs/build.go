package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/docs/website"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newBuildCommand(e *cli.Env) *cobra.Command {
	address := ""
	cmd := &cobra.Command{
		Use:   "build DIR",
		Short: "Write the documentation as a website to a directory",
		Long: `Write the documentation as a website to a directory.

  ccm docs build /tmp/ccm-docs

DIR/index.html is the first page. The website works from files: it needs no server
and loads nothing from elsewhere.

DIR must be empty, missing, or a website that ccm docs build wrote, which is
replaced.`,
		Args: cli.WantArguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			source := website.Documentation()
			if address != "" {
				u, err := url.Parse(address)
				if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
					return fmt.Errorf("--url: %w", diag.Expected("a URL such as https://example.org/ccm/").Got("%q", address))
				}
				source.Address = strings.TrimSuffix(u.String(), "/") + "/"
			}
			files, err := website.Build(source)
			if err != nil {
				return err
			}
			if err := writeWebsite(cli.Machine(e), args[0], files); err != nil {
				return err
			}
			terminal.Fprintf(e.Stdout, "wrote %d files; the first page is %s\n", len(files), filepath.Join(args[0], "index.html"))
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "url", "", "publish at this `URL`: adds a sitemap and absolute links to the 404 page")
	return cmd
}

// websiteList is the file that lists the other files of a website, one a line. A directory with
// this file is a website of ccm.
const websiteList = ".ccm-docs"

// writeWebsite writes files to a directory, and removes files of an earlier website that are not in
// this one. If the directory contains other files, it writes nothing.
func writeWebsite(h *host.Host, dir string, files []website.File) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	old, err := earlierWebsite(h, dir)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		if there, err := h.Exists(filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil || there && !slices.Contains(old, f.Name) {
			return errors.Join(err, notOurs(dir, f.Name))
		}
	}
	gone := slices.DeleteFunc(slices.Clone(old), func(name string) bool { return slices.Contains(names, name) })
	// Until the end the list has old and new files, so that a next attempt after a failure knows them
	// all.
	if err := h.SaveDirectory(dir); err != nil {
		return err
	}
	list := filepath.Join(dir, websiteList)
	if err := h.Save(list, lines(slices.Concat(names, gone)), 0o644); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := errors.Join(h.SaveDirectory(filepath.Dir(path)), h.Save(path, f.Data, 0o644)); err != nil {
			return err
		}
	}
	for _, name := range gone {
		if err := h.RemoveBelow(dir, filepath.FromSlash(name)); err != nil {
			return err
		}
	}
	return h.Save(list, lines(names), 0o644)
}

// earlierWebsite returns the names of the files of the website in a directory; none if the
// directory is empty or does not exist.
func earlierWebsite(h *host.Host, dir string) ([]string, error) {
	there, err := h.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(there) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := h.ReadFile(filepath.Join(dir, websiteList))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notOurs(dir, there[0])
	}
	names := strings.Fields(string(text))
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, errors.Join(err, notOurs(dir, name))
		}
	}
	return names, err
}

func notOurs(dir, name string) error {
	return diag.At(diag.Pos{}, diag.Contains(dir, "%s, which ccm docs build did not write", name)).WithHint("use an empty or a new directory")
}

func lines(names []string) []byte { return []byte(strings.Join(names, "\n") + "\n") }
