package mod

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/module/resolve"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// A modRow is a module in the output of ccm mod list.
type modRow struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Source  string `json:"source,omitempty"`
	Replace string `json:"replace,omitempty"`
	Latest  string `json:"latest,omitempty"`
	Direct  bool   `json:"direct"` // required by the site itself
	Signer  string `json:"signer,omitempty"`
}

func newListCommand(e *cli.Env) *cobra.Command {
	outdated := false
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use: "list", Short: "List the locked modules",
		Long: `List the modules in ` + module.LockName + ` with their versions. Read-only.

  ccm mod list --outdated

--outdated asks the repositories, and lists modules with a newer release.`,
		Args: cli.WantArguments(0, 0),
		RunE: inSite(e, true, func(ctx context.Context, x *modSite, _ []string) error {
			rows, err := x.rows(ctx, outdated)
			if err != nil {
				return err
			}
			if output.Value == "json" {
				return e.Print().JSON(rows)
			}
			var table [][]string
			for _, r := range rows {
				latest := ""
				if r.Latest != "" {
					latest = "-> " + r.Latest
				}
				row := []string{r.Name, r.Version, latest, cmp.Or(r.Source, "folder "+r.Replace), map[bool]string{false: "(for others)"}[r.Direct]}
				if !outdated {
					row = slices.Delete(row, 2, 3)
				}
				table = append(table, row)
			}
			e.Print().Table(table)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&outdated, "outdated", false, "only modules with a newer release")
	cmd.Flags().Var(output, "output", "output format: text or json")
	return cmd
}

func (x *modSite) rows(ctx context.Context, outdated bool) ([]modRow, error) {
	rows := []modRow{}
	if x.Lock == nil {
		return rows, nil
	}
	for i := range x.Lock.Modules {
		m := &x.Lock.Modules[i]
		r := modRow{Name: m.Name, Version: m.Version, Source: m.Source.String(), Replace: m.Replace, Direct: x.File.Dependency(m.Name) != nil, Signer: m.Signer}
		if outdated {
			if m.Git == "" {
				continue
			}
			versions, err := x.r.Versions(ctx, m.Source)
			if err != nil {
				return nil, err
			}
			if r.Latest = resolve.Latest(versions, ""); semver.Compare(r.Latest, m.Version) <= 0 {
				continue
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func newTidyCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "tidy", Short: "Remove unused modules and update the lock file",
		Long: `Remove modules that no script of the site requires from ` + module.FileName + `, and
update ` + module.LockName + `.

  ccm mod tidy

If a script requires a computed name, no module is removed.`,
		Args: cli.WantArguments(0, 0),
		RunE: inSite(e, false, func(ctx context.Context, x *modSite, _ []string) error {
			// The exports of a module are known only after the module was got.
			lock, err := x.r.Lock(ctx, x.Dir, x.File, x.Lock)
			if err != nil {
				return err
			}
			used, err := resolve.UsageIn(x.Dir)
			if err != nil {
				return err
			}
			text := x.File.Doc.Text
			for _, d := range x.File.Dependencies {
				if m := lock.Module(d.Name); used.Requires(m) {
					continue
				}
				if len(used.Unsure) > 0 {
					terminal.Fprintf(e.Stdout, "kept %s, which may be unused: %s requires a computed name\n", d.Name, used.Unsure[0])
					continue
				}
				file, err := module.ParseFile(x.File.Doc.File, text)
				if err != nil {
					return err
				}
				if text, err = file.RemoveDependency(d.Name); err != nil {
					return err
				}
				terminal.Fprintf(e.Stdout, "%s: not required by any script\n", d.Name)
			}
			return x.relock(ctx, text)
		}),
	}
}

func newVendorCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "vendor", Short: "Copy the locked modules into the site",
		Long: `Copy the modules of ` + module.LockName + ` to ` + module.VendorDir + `, for machines without a
network.

  ccm mod vendor

Runs use these copies before the cache. Modules that are no longer locked are removed
from ` + module.VendorDir + `; other files there are kept.`,
		Args: cli.WantArguments(0, 0),
		RunE: inSite(e, true, func(ctx context.Context, x *modSite, _ []string) error {
			if x.Lock == nil {
				return nil
			}
			copies, err := x.fromCache(ctx)
			if err != nil {
				return err
			}
			removed, err := x.r.Vendor(x.Dir, copies)
			if err != nil {
				return err
			}
			for _, name := range removed {
				terminal.Fprintf(e.Stdout, "- %s/%s\n", module.VendorDir, name)
			}
			_, err = terminal.Fprintf(e.Stdout, "%s in %s\n", words.Count(len(copies), "module"), module.VendorDir)
			return err
		}),
	}
}

// fromCache returns the modules of the lock from the cache, and gets missing ones.
func (x *modSite) fromCache(ctx context.Context) ([]module.Copy, error) {
	var copies []module.Copy
	for i := range x.Lock.Modules {
		m := &x.Lock.Modules[i]
		if m.Replace != "" {
			continue
		}
		if c, err := x.Open(m.Name); err == nil {
			copies = append(copies, c)
			continue
		}
		got, err := x.r.GetLocked(ctx, m)
		if err != nil {
			return nil, resolve.About(m, err)
		}
		copies = append(copies, module.Copy{LockedModule: m, Dir: got.Dir})
	}
	return copies, nil
}

func newVerifyCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Verify the modules against the lock file",
		Long: `Verify the hashes of all files of the modules in ` + module.LockName + `. Read-only.

  ccm mod verify

Runs verify the modules that they use too, but read only files that changed since the
last time.`,
		Args: cli.WantArguments(0, 0),
		RunE: inSite(e, true, func(_ context.Context, x *modSite, _ []string) error {
			if x.Lock == nil {
				return nil
			}
			x.Forget()
			var wrong diag.List
			for i := range x.Lock.Modules {
				m := &x.Lock.Modules[i]
				c, err := x.Open(m.Name)
				switch {
				case err != nil:
					wrong.Add(err)
				case m.Replace != "":
					terminal.Fprintf(e.Stdout, "%s: a directory, not hashed\n", m)
				default:
					terminal.Fprintf(e.Stdout, "%s: matches the lock file, in %s\n", m, c.Dir)
				}
			}
			return wrong.Err()
		}),
	}
}

func newWhyCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "why MODULE", Short: "Show which modules require a module, and in which version",
		Args: cli.WantArguments(1, 1), ValidArgsFunction: completeModules(e),
		RunE: inSite(e, true, func(_ context.Context, x *modSite, args []string) error {
			if x.Lock == nil || x.Lock.Module(args[0]) == nil {
				return x.unknown(args[0])
			}
			terminal.Fprintf(e.Stdout, "%s\n", x.Lock.Module(args[0]))
			x.why(args[0], "  ", nil)
			return nil
		}),
	}
}

func (x *modSite) unknown(name string) error {
	err := diag.At(diag.Pos{}, diag.None("module %s in %s", name, module.LockName))
	if x.Lock != nil {
		var names []string
		for _, m := range x.Lock.Modules {
			names = append(names, m.Name)
		}
		err.Hint = diag.DidYouMean(name, names)
	}
	return err
}

// why prints the modules that require a module, and recursively the modules that require those.
func (x *modSite) why(name, indent string, above []string) {
	if d := x.File.Dependency(name); d != nil {
		terminal.Fprintf(x.e.Stdout, "%s%s requires %s %s\n", indent, module.FileName, name, d.Version)
	}
	for _, by := range x.Dependent(name) {
		if by == "" || slices.Contains(above, by) {
			continue
		}
		m := x.Lock.Module(by)
		terminal.Fprintf(x.e.Stdout, "%s%s requires %s %s\n", indent, m, name, m.Dependencies[name])
		x.why(by, indent+"  ", append(above, name))
	}
}
