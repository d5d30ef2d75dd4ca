package mod

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/module/resolve"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

func newGetCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "get [MODULE[@VERSION]...]", Short: "Add modules, or fetch those in the lock file",
		Long: `Add a module to ` + module.FileName + `, resolve versions, and update ` + module.LockName + `.

  ccm mod get nginx@v1.3.0
  ccm mod get git@git.example.org:ops/modules.git//nginx@v1.2.0
  ccm mod get https://example.org/nginx-1.2.0.tar.gz@v1.2.0

A module is a name in ` + module.FileName + `, a name such as example.org/nginx, or the address
of a git repository or a .tar.gz archive. Two slashes separate a directory in it.
Without a version, it is the newest release.

Without arguments, it fetches the locked modules that are missing here.`,
		Args: cli.WantArguments(0, cli.AnyNumber), ValidArgsFunction: completeModules(e),
		RunE: inSite(e, false, func(ctx context.Context, x *modSite, args []string) error {
			if len(args) == 0 {
				return x.getLocked(ctx)
			}
			text := x.File.Doc.Text
			for _, arg := range args {
				var err error
				if text, err = x.ask(ctx, text, arg); err != nil {
					return err
				}
			}
			return x.relock(ctx, text)
		}),
	}
}

// getLocked gets the modules of the lock.
func (x *modSite) getLocked(ctx context.Context) error {
	if err := x.Check(); err != nil {
		return err
	}
	if x.Lock == nil {
		_, err := terminal.Fprintf(x.e.Stdout, "No modules are locked\n")
		return err
	}
	for i := range x.Lock.Modules {
		m := &x.Lock.Modules[i]
		if m.Replace != "" {
			continue
		}
		if _, err := x.r.GetLocked(ctx, m); err != nil {
			return resolve.About(m, err)
		}
	}
	if _, err := x.Copies(); err != nil {
		return err
	}
	_, err := terminal.Fprintf(x.e.Stdout, "%s, all present\n", words.Count(len(x.Lock.Modules), "module"))
	return err
}

// ask returns the text of ccm.mod.lua with a module that an argument asks for.
func (x *modSite) ask(ctx context.Context, text, arg string) (string, error) {
	file, err := module.ParseFile(x.File.Doc.File, text)
	if err != nil {
		return "", err
	}
	name, source, version, err := x.parse(file, arg)
	if err != nil {
		return "", err
	}
	if version == "" {
		if source.Git == "" {
			return "", diag.Errorf(diag.Pos{}, "%s: %w", arg, diag.Expected("a version after the address of an archive")).WithHint("ccm mod get %s@v1.0.0", arg)
		}
		versions, err := x.r.Versions(ctx, source)
		if err != nil {
			return "", err
		}
		if version = resolve.Latest(versions, ""); version == "" {
			return "", diag.At(diag.Pos{}, diag.None("version tag such as v1.0.0 in %s", source)).
				WithHint("ask its author for a tag (git tag v1.0.0), or use a directory with replace")
		}
	}
	if source.URL != "" && !strings.Contains(source.URL, module.VersionMark) {
		source.URL = strings.ReplaceAll(source.URL, strings.TrimPrefix(version, "v"), module.VersionMark)
	}
	if name == "" {
		got, err := x.r.Get(ctx, source, version)
		if err != nil {
			return "", err
		}
		f, err := x.r.ReadModule(got.Dir, source.String()+"@"+version)
		if err != nil {
			return "", err
		}
		name = f.Name
	}
	return file.SetDependency(name, version, source)
}

// parse reads an argument of ccm mod get. The name is "" if only the module itself can tell it.
func (x *modSite) parse(file *module.File, arg string) (name string, source module.Source, version string, err error) {
	at := arg
	if i := strings.LastIndexByte(arg, '@'); i > 0 && !strings.ContainsAny(arg[i:], ":/") {
		if version, err = module.CleanVersion(arg[i+1:]); err != nil && arg[i+1:] != "latest" {
			return "", source, "", diag.Errorf(diag.Pos{}, "%s: %w", arg, err)
		}
		at, err = arg[:i], nil
		if arg[i+1:] == "latest" {
			version = ""
		}
	}
	if d := file.Dependency(at); d != nil {
		return at, d.Source, version, nil
	}
	if x.Lock != nil {
		if m := x.Lock.Module(at); m != nil {
			return at, m.Source, version, nil
		}
	}
	if module.CheckName(at) == nil {
		if git := module.DefaultGit(at); git != "" {
			return at, module.Source{Git: git}, version, nil
		}
		return "", source, "", diag.At(diag.Pos{}, diag.None("address for module %s in %s", at, module.FileName)).
			WithHint("ccm mod get https://git.example.org/%s.git", at)
	}
	address, folder := splitFolder(at)
	source.Folder = folder
	if fetch.IsURL(address) && module.CheckURL(address) == nil {
		source.URL = address
		return "", source, version, nil
	}
	if err := module.CheckGit(address); err != nil {
		return "", source, "", diag.Errorf(diag.Pos{}, "%w", err)
	}
	source.Git = address
	return "", source, version, nil
}

// splitFolder splits an address at the two slashes before a folder.
func splitFolder(at string) (address, folder string) {
	from := 0
	if i := strings.Index(at, "://"); i >= 0 {
		from = i + 3
	}
	if i := strings.Index(at[from:], "//"); i >= 0 {
		return at[:from+i], strings.Trim(at[from+i+2:], "/")
	}
	return at, ""
}

func newUpdateCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "update [MODULE...]", Short: "Update modules to their newest releases",
		Long: `Update modules in ` + module.FileName + ` to their newest releases: all, or those given, and write ` + module.LockName + `.

  ccm mod update
  ccm mod update nginx

The first number of a version is kept: v2.0.0 after v1.9.0 may require changes to the
site; update to it with ccm mod get.`,
		Args: cli.WantArguments(0, cli.AnyNumber), ValidArgsFunction: completeModules(e),
		RunE: inSite(e, false, func(ctx context.Context, x *modSite, args []string) error {
			for _, name := range args {
				if x.File.Dependency(name) == nil {
					return diag.At(diag.Pos{}, diag.Not("module "+name, "in %s", module.FileName)).
						WithHint("ccm mod get %s", name)
				}
			}
			text := x.File.Doc.Text
			for _, d := range x.File.Dependencies {
				if len(args) > 0 && !contains(args, d.Name) || x.File.Replace[d.Name] != "" {
					continue
				}
				latest, err := x.latest(ctx, d.Source, d.Version)
				if err != nil {
					return err
				}
				if latest == "" || semver.Compare(latest, d.Version) <= 0 {
					continue
				}
				file, err := module.ParseFile(x.File.Doc.File, text)
				if err != nil {
					return err
				}
				if text, err = file.SetDependency(d.Name, latest, module.Source{}); err != nil {
					return err
				}
			}
			return x.relock(ctx, text)
		}),
	}
}

// latest returns the newest release of a module with the major version of another one, "" if
// nobody can say.
func (x *modSite) latest(ctx context.Context, source module.Source, version string) (string, error) {
	if source.Git == "" {
		return "", nil
	}
	versions, err := x.r.Versions(ctx, source)
	return resolve.Latest(versions, semver.Major(version)), err
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}
