// Package mod is ccm mod: the modules of others that a site uses.
package mod

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/module/resolve"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// Command returns ccm mod.
func Command(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mod",
		Short: "Manage third-party Lua modules",
		Long: `Manage third-party Lua modules at fixed versions.

  ccm mod init
  ccm mod get https://git.example.org/nginx.git@v1.2.0
  ccm mod list --outdated

ccm.mod.lua lists the modules of a site, and ccm.lock the exact version of each. Runs
read both and fetch nothing: only these commands contact servers.`,
	}
	cmd.AddCommand(newInitCommand(e), newGetCommand(e), newUpdateCommand(e), newTidyCommand(e), newVendorCommand(e),
		newVerifyCommand(e), newWhyCommand(e), newListCommand(e))
	cli.NeedCommand(cmd)
	return cmd
}

// A modSite is the site that ccm mod works on.
type modSite struct {
	*module.Site
	e *cli.Env
	r *resolve.Resolver
}

// staleStage is the age at which the remains of an interrupted get are removed.
const staleStage = 24 * time.Hour

// inSite returns the function of a command that works on the site of the working directory. With check, its lock has to
// fit its ccm.mod.lua.
func inSite(e *cli.Env, check bool, do func(ctx context.Context, x *modSite, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := e.Files.LockedSite(".", true)
		if err != nil {
			return err
		}
		if s == nil || s.File == nil {
			return diag.At(diag.Pos{}, diag.Missing(module.FileName, "here")).WithHint("create it with: ccm mod init")
		}
		if check {
			if err := s.Check(); err != nil {
				return err
			}
		}
		x := &modSite{Site: s, e: e, r: newResolver(e)}
		defer x.r.Close()
		ctx, cancel := e.Stop.Context(cmd.Context())
		defer cancel()
		return do(ctx, x, args)
	}
}

func newResolver(e *cli.Env) *resolve.Resolver {
	r := &resolve.Resolver{
		Host: e.Host(""), Transport: fetch.NewTransport(), Policy: e.Files.Trust(),
		Caches: e.Files.ModuleCaches(), Version: e.Version,
		Tell: func(what string) { terminal.Fprintf(e.Stderr, "%s\n", what) },
	}
	r.CleanStale(func(fi fs.FileInfo) bool { return e.Clock.Now().Sub(fi.ModTime()) > staleStage })
	return r
}

// relock writes a text of ccm.mod.lua and the lock for that text, and prints the changes of the
// lock.
func (x *modSite) relock(ctx context.Context, text string) error {
	file, err := module.ParseFile(x.File.Doc.File, text)
	if err != nil {
		return err
	}
	lock, err := x.r.Lock(ctx, x.Dir, file, x.Lock)
	if err != nil {
		return err
	}
	h := cli.Machine(x.e)
	old := x.Lock
	if old == nil {
		old = new(module.Lock)
	}
	if x.Lock != nil || len(lock.Modules) > 0 {
		if err := h.Save(filepath.Join(x.Dir, module.LockName), lock.Text(), 0o644); err != nil {
			return err
		}
	}
	if text != x.File.Doc.Text {
		if err := h.Save(x.File.Doc.File, []byte(text), 0o644); err != nil {
			return err
		}
	}
	x.tellChanges(old, lock, file)
	x.File, x.Lock = file, lock
	return x.tellVendor()
}

// tellChanges prints the changes from the old lock to the new one.
func (x *modSite) tellChanges(old, lock *module.Lock, file *module.File) {
	w, changed := x.e.Stdout, false
	for i := range lock.Modules {
		m := &lock.Modules[i]
		have := old.Module(m.Name)
		switch {
		case have == nil:
			terminal.Fprintf(w, "+ %s%s\n", m, signedBy(m))
		case have.String() != m.String():
			terminal.Fprintf(w, "~ %s -> %s%s\n", have, m, signedBy(m))
		case have.Hash != m.Hash || have.Source != m.Source:
			terminal.Fprintf(w, "~ %s from %s\n", m, m.Source)
		case !reflect.DeepEqual(have, m):
			terminal.Fprintf(w, "~ %s%s\n", m, signedBy(m))
		default:
			continue
		}
		changed = true
		for _, c := range m.Capabilities {
			if !slices.Contains(file.Allow[m.Name], c) {
				terminal.Fprintf(w, "  it %s if %s contains allow = { [%q] = { %q } }\n", module.Capabilities[c].Doc, module.FileName, m.Name, c)
			}
		}
	}
	for i := range old.Modules {
		if m := &old.Modules[i]; lock.Module(m.Name) == nil {
			terminal.Fprintf(w, "- %s\n", m)
			changed = true
		}
	}
	for _, d := range file.Dependencies {
		if m := lock.Module(d.Name); m.Version != d.Version && m.Replace == "" {
			terminal.Fprintf(w, "  %s only requires %s, others require %s (see: ccm mod why %s)\n", module.FileName, d.Version, m, m.Name)
		}
	}
	if !changed {
		terminal.Fprintf(w, "%s is unchanged: %s\n", module.LockName, words.Count(len(lock.Modules), "module"))
	}
}

func signedBy(m *module.LockedModule) string {
	if m.Signer == "" {
		return ""
	}
	return ", signed by " + m.Signer
}

// tellVendor says that vendor has other versions than the lock.
func (x *modSite) tellVendor() error {
	for i := range x.Lock.Modules {
		m := &x.Lock.Modules[i]
		dir := filepath.Join(x.Dir, module.VendorDir, filepath.FromSlash(m.Name))
		if have, err := module.HashDir(dir); m.Replace == "" && err == nil && have != m.Hash {
			terminal.Fprintf(x.e.Stdout, "%s contains another %s (update it with: ccm mod vendor)\n", module.VendorDir, m.Name)
		}
	}
	return nil
}

// completeModules offers the modules of the site.
func completeModules(e *cli.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		s, err := e.Files.LockedSite(".", true)
		if err != nil || s == nil {
			return nil, directive
		}
		names := make(map[string]bool)
		if s.File != nil {
			for _, d := range s.File.Dependencies {
				names[d.Name] = true
			}
		}
		if s.Lock != nil {
			for _, m := range s.Lock.Modules {
				names[m.Name] = true
			}
		}
		for _, a := range args {
			delete(names, a)
		}
		return slices.Sorted(maps.Keys(names)), directive
	}
}

func newInitCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "init [NAME]", Short: "Create the " + module.FileName + " of a site or, with a name, of a module",
		Long: `Write ` + module.FileName + ` to the working directory.

  ccm mod init
  ccm mod init example.org/nginx

Without a name, it describes a site. With a name, it describes a module that exports
the Lua files in lib under this name.`,
		Args: cli.WantArguments(0, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			text := "return {\n  dependencies = {},\n}\n"
			if len(args) > 0 {
				var err error
				if text, err = moduleText(args[0]); err != nil {
					return err
				}
			}
			if err := cli.Machine(e).SaveNew(module.FileName, []byte(text), 0o644); err != nil {
				return err
			}
			_, err := terminal.Fprintf(e.Stdout, "wrote %s\n", module.FileName)
			return err
		},
	}
}

// moduleText returns the ccm.mod.lua of a new module.
func moduleText(name string) (string, error) {
	if err := module.CheckName(name); err != nil {
		return "", err
	}
	short := module.ShortName(name)
	var exports []string
	for _, pattern := range []string{short + ".lua", short + "/init.lua", short + "/*.lua"} {
		for _, dir := range []string{"lib/", ""} {
			files, _ := filepath.Glob(dir + pattern)
			for _, f := range files {
				export := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(f, dir), ".lua"), "/init")
				export = strings.ReplaceAll(export, "/", ".")
				if module.CheckExport(name, export) == nil && !slices.Contains(exports, export) {
					exports = append(exports, export)
				}
			}
		}
	}
	if len(exports) == 0 {
		exports = []string{short}
	}
	slices.Sort(exports)
	quoted := make([]string, len(exports))
	for i, e := range exports {
		quoted[i] = fmt.Sprintf("%q", e)
	}
	return fmt.Sprintf("return {\n  name = %q,\n  exports = { %s },\n  tests = \"spec\",\n  dependencies = {},\n}\n", name, strings.Join(quoted, ", ")), nil
}
