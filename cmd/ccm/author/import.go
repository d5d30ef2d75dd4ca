package author

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/machine"
)

// importFlags are the flags of import.
type importFlags struct {
	cli.SiteFlags
	files    string
	stateDir string
	user     string // the owner of the services; "" for services of the system
	output   *cli.Choice
}

// ImportCommand returns the command import.
func ImportCommand(e *cli.Env) *cobra.Command {
	f := &importFlags{output: cli.NewChoice("lua", "lua", "yaml", "json")}
	cmd := &cobra.Command{
		Use:   "import TYPE NAME...",
		Short: "Generate a script from the current state of the machine",
		Long: `Generate a Lua script from the current state of the machine. Read-only.

  ccm import file /etc/motd /etc/ssh/sshd_config > site.lua
  ccm import package zsh htop >> site.lua
  ccm import user deploy >> site.lua
  ccm import service --user alice syncthing >> site.lua

A plan of the script on this machine has nothing to do. Large and binary files are
copied to the directory of --files, and the script uses them as sources. Files
that held secrets, contain a private key or password hashes, or are readable only by
their owner are copied too: their content is not printed.

Exit status: 1 if some resources cannot be imported; the others are printed.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return diag.At(diag.Pos{}, diag.Expected("a type and names")).WithHint("%s", cmd.UseLine())
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			reg, err := site.NewRegistry(new(site.TemplateEnv))
			switch {
			case err != nil:
				return nil, cobra.ShellCompDirectiveError
			case len(args) == 0:
				return cli.TypeCompletions((*resource.Type).Importable), cobra.ShellCompDirectiveNoFileComp
			case reg.Type(args[0]) == nil:
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return cli.CompleteName(e, cmd, reg, reg.Type(args[0]), prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return importAll(e, cmd, f, args[0], args[1:]) },
	}
	cmd.AddCommand(newMachineCommand(e))
	fs := cmd.Flags()
	fs.Var(f.output, "output", "output format: lua, yaml (manifest) or json (one object per line)")
	fs.StringVar(&f.files, "files", "files", "copy large files to `DIR`, and write DIR/... as their source")
	fs.StringVar(&f.user, "user", "", "import services of user `NAME` instead of the system's")
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory")
	fs.StringVar(&f.stateDir, "state-dir", "", "state `DIR` (default CCM_STATE_DIR, /var/lib/ccm, ~/.local/state/ccm)")
	return cmd
}

// importable returns the names of the types that can be imported.
func importable(reg *resource.Registry) (names []string) {
	for _, t := range reg.Types() {
		if t.Importable() {
			names = append(names, t.Name)
		}
	}
	return names
}

// importAll prints the declarations of the named resources, and reports resources that cannot be
// declared.
func importAll(e *cli.Env, cmd *cobra.Command, f *importFlags, typ string, names []string) error {
	v := &e.Host(f.Root).View
	facts, err := e.Facts(cmd.Context(), v, f.Facts)
	if err != nil {
		return err
	}
	reg, err := site.NewRegistry(&site.TemplateEnv{Clock: e.Clock, Facts: facts})
	if err != nil {
		return err
	}
	t := reg.Type(typ)
	switch {
	case t == nil:
		return site.UnknownType(reg, typ)
	case !t.Importable():
		site.AddShipped(reg)
		return diag.At(diag.Pos{}, diag.SubjectCannot(fmt.Sprintf("resources of type %s", typ), "be imported")).
			WithHint("supported types: %s", strings.Join(importable(reg), ", "))
	}
	if f.user != "" && t.Name != "service" {
		return diag.At(diag.Pos{}, diag.AppliesOnly("--user", "services, not to type %s", typ))
	}
	store, err := e.Store(f.stateDir, state.DefaultLimits)
	if err != nil {
		return err
	}
	secrets, err := store.Sensitive()
	if err != nil {
		return diag.About("state directory", err)
	}
	var m manifest.Manifest
	var errs diag.List
	for _, name := range names {
		im := resource.Import{Name: name, View: v, Warn: e.Messages.Warn}
		im.Sensitive = secrets.HeldIn(name) || len(secrets.Held(resource.ID{Type: t.Name, Name: name})) > 0
		im.StoreFile = func(content []byte) (string, error) { return copyAside(e, filepath.Join(f.files, name), content) }
		d, err := machine.Import(cmd.Context(), reg, t, im, f.user, facts)
		if err != nil {
			var list diag.List
			list.Add(err)
			for _, x := range list {
				x.Subject = t.Name + "#" + name
			}
			errs = append(errs, list...)
			continue
		}
		m.Resources = append(m.Resources, d)
	}
	if err := f.print(e, &m); err != nil {
		return err
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// print prints the found resources as a manifest or script.
func (f *importFlags) print(e *cli.Env, m *manifest.Manifest) error {
	switch f.output.Value {
	case "yaml":
		text, err := m.Render()
		if err != nil {
			return err
		}
		_, err = e.Print().Data().Write(text)
		return err
	case "json":
		for _, d := range m.Resources {
			err := e.Print().Line(&schema.Table{Entries: []schema.Entry{
				{Key: "type", Val: schema.StringValue(d.Type.Name)}, {Key: "name", Val: schema.StringValue(d.Name)}, {Key: "properties", Val: schema.MapValue(d.Properties)},
			}})
			if err != nil {
				return err
			}
		}
		return nil
	}
	return m.Convert(e.Print().Data())
}

// copyAside writes the content of an imported file to a new file, to which the manifest or script
// refers. An existing file must have the same content.
func copyAside(e *cli.Env, path string, content []byte) (string, error) {
	if err := e.Files.CheckPlace(path); err != nil {
		return "", err
	}
	h := cli.Machine(e)
	have, err := readExisting(h, path)
	switch {
	case err == nil && bytes.Equal(have, content):
		return path, nil
	case err == nil:
		return "", diag.Exists(path, "with different content")
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	if err := h.SaveDirectory(filepath.Dir(path)); err != nil {
		return "", err
	}
	// The content may come from a file that only its owner may read.
	return path, h.SaveNew(path, content, 0o600)
}
