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
)

func newGetCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "get [MODULE[@VERSION]...]", Short: "Ask for modules, or get what the lock has",
		Long: `Ask for a module in ` + module.FileName + `, choose versions, and write ` + module.LockName + `. A module is a
name that ` + module.FileName + ` has, a name such as example.org/nginx, or an address: of a
git repository, or of an archive that ends in .tar.gz. A folder in it is written
after two slashes. Without a version it is the newest release.

  ccm mod get nginx@v1.3.0
  ccm mod get git@git.example.org:ops/modules.git//nginx@v1.2.0
  ccm mod get https://example.org/nginx-1.2.0.tar.gz@v1.2.0

Without arguments it gets what the lock has and this machine has not.`,
		Args: cli.WantArguments(0, cli.AnyNumber), ValidArgsFunction: completeModules(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := openModSite(e)
			if err != nil {
				return err
			}
			defer x.r.Close()
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			if len(args) == 0 {
				return x.getLocked(ctx)
			}
			text := x.File.Doc.Text
			for _, arg := range args {
				if text, err = x.ask(ctx, text, arg); err != nil {
					return err
				}
			}
			return x.relock(ctx, text)
		},
	}
}

// getLocked gets the modules of the lock.
func (x *modSite) getLocked(ctx context.Context) error {
	if err := x.Check(); err != nil {
		return err
	}
	if x.Lock == nil {
		_, err := terminal.Fprintf(x.e.Stdout, "nothing is locked\n")
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
	_, err := terminal.Fprintf(x.e.Stdout, "%s, all here\n", count(len(x.Lock.Modules), "module"))
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
			return "", diag.Errorf(diag.Pos{}, "%s: %w", arg, diag.Expected("a version behind the address of an archive")).WithHint("ccm mod get %s@v1.0.0", arg)
		}
		versions, err := x.r.Versions(ctx, source)
		if err != nil {
			return "", err
		}
		if version = resolve.Latest(versions, ""); version == "" {
			return "", diag.Errorf(diag.Pos{}, "%s has no tag that is a version, such as v1.0.0", source).
				WithHint("its author makes one: git tag v1.0.0; a folder can be used with replace")
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
		return "", source, "", diag.Errorf(diag.Pos{}, "%s does not say where %s comes from", module.FileName, at).
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
		Use: "update [MODULE...]", Short: "Ask for the newest versions",
		Long: `Ask in ` + module.FileName + ` for the newest release of each module that it names, or of
those that are given, and write ` + module.LockName + `. The first number of a version stays:
v2.0.0 after v1.9.0 may need changes of the site, and ccm mod get takes it.`,
		Args: cli.WantArguments(0, cli.AnyNumber), ValidArgsFunction: completeModules(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := openModSite(e)
			if err != nil {
				return err
			}
			defer x.r.Close()
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			for _, name := range args {
				if x.File.Dependency(name) == nil {
					return diag.Errorf(diag.Pos{}, "%s does not ask for %s", module.FileName, name).WithHint("ccm mod get %s", name)
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
		},
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
