package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/history"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// statusFlags are the flags of status.
type statusFlags struct {
	cli.SiteFlags
	output   *cli.Choice
	stateDir string
}

func newStatusCommand(e *cli.Env) *cobra.Command {
	f := &statusFlags{output: cli.NewChoice("text", "text", "json", "yaml")}
	cmd := &cobra.Command{
		Use: "status [TYPE NAME]", Aliases: []string{"info"},
		Short: "Show the resources of the last run, or the present state of one",
		Long: `Show the resources of the last run, or the present state of one. Read-only.

  ccm status
  ccm status service nginx

Without arguments, list the resources of the site that ran last, each with its last
outcome; with --root, of the site that ran last below DIR.

With a type and a name, show the present state of that resource. Only properties that
select what to check are needed, such as the source of a scaffold. Guards of an exec
are evaluated if given.

Exit status: 0 the state is shown, even if the resource is absent; 1 it cannot be
shown.`,
	}
	fs := cmd.PersistentFlags()
	fs.SortFlags = false
	fs.Var(f.output, "output", "output format: text, json or yaml")
	fs.StringVar(&f.stateDir, "state-dir", "", "state `DIR` (default CCM_STATE_DIR, /var/lib/ccm, ~/.local/state/ccm)")
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory")
	fs.StringArrayVar(&f.Facts.Assignments, "fact", nil, "set fact `NAME=VALUE` (repeatable)")
	fs.StringVar(&f.Facts.File, "facts", "", "read additional facts from `FILE` (JSON or YAML)")
	cli.AddDataFlags(fs, &f.Data)
	addTypeCommands(e, cmd, func(reg *resource.Registry, t *resource.Type) *cobra.Command {
		sub := &cobra.Command{Use: t.Name + " NAME", Short: "Show the present state of a " + t.Name}
		x := newTyped(e, sub, reg, t, fs, "ensure", "alias", "require", "before", "notify", "subscribe", "health_checks", "register_when_stable", "timeout", "backup")
		x.ensure = false
		sub.Args, sub.ValidArgsFunction = x.args, x.complete(e, reg)
		sub.RunE = func(cmd *cobra.Command, args []string) error {
			return printStatus(e, cmd, f, t.Name, x.properties(e, cmd, args))
		}
		return sub
	})
	forTypes := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return forTypes(cmd, args)
		}
		store, err := e.Store(f.stateDir, state.Limits{})
		if err != nil {
			return err
		}
		root := ""
		if fs.Changed("root") {
			root = e.Host(f.Root).Root()
		}
		return history.ListManaged(e, store, root, f.output.Value)
	}
	return cmd
}

// printStatus prints the state of the resource that the properties name.
func printStatus(e *cli.Env, cmd *cobra.Command, f *statusFlags, typ string, properties *schema.Table) error {
	v := &e.Host(f.Root).View
	fs, err := e.Facts(cmd.Context(), v, f.Facts)
	if err != nil {
		return err
	}
	templates := &site.TemplateEnv{Clock: e.Clock, Facts: fs}
	reg, err := site.NewRegistry(templates)
	if err != nil {
		return err
	}
	t := reg.Type(typ)
	e.Messages.Sources = properties.Positions.(*commandLine).source
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	r, err := t.DecodeQuery(properties, resource.Origin{Pos: diag.Pos{File: site.CommandLine}, Dir: dir})
	if err == nil {
		err = reg.CheckProvider(r)
	}
	if err != nil {
		return err
	}
	if templates.Data, err = f.Data.Resolve(e.Process, fs); err != nil {
		return err
	}
	if err := reg.MayWork(v, r); err != nil {
		return r.About(err)
	}
	provider, err := reg.Select(r, fs)
	if err != nil {
		return r.About(err)
	}
	present, err := provider.Inspect(cmd.Context(), v, r.Spec)
	if err != nil {
		return r.About(err)
	}
	found := report.StateOf(r.ID, provider.Name, present)
	if m, ok := found.Metadata.(resources.FileMetadata); ok && m.Checksum != "" {
		if m.Checksum, err = shownChecksum(e, f.stateDir, v, m); err != nil {
			return err
		}
		found.Metadata = m
	}
	return printState(e, found, f.output.Value)
}

// shownChecksum returns the checksum of a file; if the file holds or has held secrets, the mask
// that runs show: with a plain SHA-256 others could guess a secret.
func shownChecksum(e *cli.Env, stateDir string, v *host.View, m resources.FileMetadata) (string, error) {
	store, err := e.Store(stateDir, state.Limits{})
	if err != nil {
		return "", err
	}
	held, err := store.Sensitive()
	switch {
	case err != nil:
		return "", fmt.Errorf("state directory: %w", err)
	case !held.HeldIn(m.Name) && len(held.Held(resource.ID{Type: "file", Name: m.Name})) == 0:
		return m.Checksum, nil
	case m.Size != nil && *m.Size > resource.TextLimit:
		return e.Secrets.Mask(resource.DigestText(m.Checksum)), nil
	}
	text, err := v.ReadFile(m.Name)
	return resource.MaskContent(e.Secrets, string(text)), err
}

// printState prints a state.
func printState(e *cli.Env, s report.State, form string) error {
	switch form {
	case "json":
		return e.Print().JSON(s)
	case "yaml":
		return e.Print().YAML(s)
	}
	text, err := s.Text()
	_, _ = io.WriteString(e.Stdout, text) // a failed write is reported by run
	return err
}
