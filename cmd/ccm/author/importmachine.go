package author

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/machine"
)

// machineFlags are the flags of import machine.
type machineFlags struct {
	cli.SiteFlags
	only, ignore []string
	since        string
	stateDir     string
	out          string
	against      string
	siteName     string // of the site to compare with, in the output; "" for its path
	recipients   []string
	like         string
	contents     bool
	versions     bool
	report       string
	output       *cli.Choice
}

// newMachineCommand returns the command import machine.
func newMachineCommand(e *cli.Env) *cobra.Command {
	f := &machineFlags{output: cli.NewChoice("json", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Find what was changed on the machine since its installation",
		Long: `Find what was changed on the machine since its installation, and write it as a site.
Read-only, apart from the site.

  ccm import machine --out site
  ccm plan site/site.lua                     # nothing to do on this machine

It finds packages that somebody asked for, changed configuration files, files in /etc,
/usr/local and /opt that no package owns, services, users, groups, and settings.
README.md lists what was left out, and why. Without --out, the scan is printed; it
contains no contents of files.

With --against, it lists what neither the site nor its unmanaged.txt describes. Exit
status: 2 if there is something. It takes seconds: run it every night.

  ccm import machine --against site --report drift.html

With --like, the site is for two machines: it declares once what both have, and what
differs is data of each.

  ssh web2 sudo ccm import machine --contents > web2.json
  ccm import machine --out site --like web2.json

Files that may contain secrets are left out. With --recipient, they and password
hashes are encrypted to that age or ssh key, and to the host key of the machine.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			defer func() {
				if errors.Is(err, context.Canceled) {
					err = site.ErrInterrupted
				}
			}()
			cmd.SetContext(ctx)
			if len(f.recipients) > 0 && f.out == "" && !f.contents {
				return diag.Requires("--recipient", "--out or --contents")
			}
			if f.like != "" && f.out == "" {
				return diag.Requires("--like", "--out")
			}
			if f.report != "" && f.against == "" {
				return diag.Requires("--report", "--against")
			}
			if f.against != "" {
				return f.compare(e, cmd)
			}
			scan, err := f.scan(e, cmd)
			switch {
			case err != nil:
				return err
			case f.out != "":
				return f.write(e, cmd, scan)
			case f.contents:
				return f.printContents(e, cmd, scan)
			}
			return f.print(e, scan)
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.only, "only", nil, "find only `GROUPS`: packages, files, services, users, system")
	fs.StringArrayVar(&f.ignore, "ignore", nil, "leave out names and paths that match `PATTERN` (repeatable)")
	fs.StringVar(&f.since, "since", "", "leave out what is older than `DURATION`, such as 30d")
	fs.StringVar(&f.out, "out", "", "write the site to `DIR`, which must be new or empty")
	fs.StringVar(&f.against, "against", "", "list what `SITE`, a script, directory or bundle, does not describe")
	fs.StringArrayVar(&f.recipients, "recipient", nil, "encrypt secrets to `KEY`, an age or ssh public key (repeatable)")
	fs.StringVar(&f.report, "report", "", cli.ReportUsage)
	fs.BoolVar(&f.contents, "contents", false, "print the scan with the resources of its site, for --like")
	fs.BoolVar(&f.versions, "versions", false, "pin the packages of the site to their versions")
	fs.StringVar(&f.like, "like", "", "write one site for two machines: `FILE` has --contents of the other")
	fs.StringVar(&f.stateDir, "state-dir", "", "state `DIR` (default CCM_STATE_DIR, /var/lib/ccm, ~/.local/state/ccm)")
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory")
	cli.AddBundleFlags(fs, &f.Bundle)
	cli.AddDataFlags(fs, &f.Data)
	fs.Var(f.output, "output", "output format of the scan: json or yaml")
	fs.StringVar(&f.siteName, "against-name", "", "`NAME` of the site of --against in the output")
	_ = fs.MarkHidden("against-name") // for ccm ssh, whose hosts have the site as a bundle elsewhere
	cmd.MarkFlagsMutuallyExclusive("out", "against", "contents")
	return cmd
}

// scan scans the machine.
func (f *machineFlags) scan(e *cli.Env, cmd *cobra.Command) (*machine.Scan, error) {
	o := machine.Options{Only: f.only, Ignore: f.ignore}
	if f.since != "" {
		age, err := host.ParseDuration(f.since)
		if err != nil {
			return nil, diag.About("--since", err)
		}
		o.Since = e.Clock.Now().Add(-age)
	}
	scan, err := machine.Read(cmd.Context(), &e.Host(f.Root).View, o)
	if err == nil && scan.Damage != "" {
		cli.Say(e, "ccm: warning: the package database is damaged: %s", scan.Damage)
	}
	return scan, err
}

// write writes the scan as a site.
func (f *machineFlags) write(e *cli.Env, cmd *cobra.Command, scan *machine.Scan) error {
	if err := cli.CheckNewDirectory(e, f.out); err != nil {
		return err
	}
	w, err := f.writer(e, cmd)
	if err != nil {
		return err
	}
	if f.like != "" {
		if w.Like, err = machine.ReadContents(e.Files.ReadFile, f.like); err != nil {
			return err
		}
	}
	out, err := w.Write(cmd.Context(), scan)
	if err != nil {
		return err
	}
	line, err := cli.SaveSite(e, f.out, out)
	if err != nil {
		return err
	}
	cli.Say(e, "%s", line)
	return nil
}

// print prints a result as JSON or YAML.
func (f *machineFlags) print(e *cli.Env, x any) error {
	if f.output.Value == "yaml" {
		return e.Print().YAML(x)
	}
	return e.Print().JSON(x)
}

// printContents prints the scan with the resources of a site.
func (f *machineFlags) printContents(e *cli.Env, cmd *cobra.Command, scan *machine.Scan) error {
	w, err := f.writer(e, cmd)
	if err != nil {
		return err
	}
	contents, err := w.Contents(cmd.Context(), scan)
	if err != nil {
		return err
	}
	return e.Print().JSON(contents)
}

// writer returns what writes the site.
func (f *machineFlags) writer(e *cli.Env, cmd *cobra.Command) (*machine.Writer, error) {
	v := &e.Host(f.Root).View
	fs, err := e.Facts(cmd.Context(), v, f.Facts)
	if err != nil {
		return nil, err
	}
	reg, err := site.NewRegistry(&site.TemplateEnv{Clock: e.Clock, Facts: fs})
	if err != nil {
		return nil, err
	}
	store, err := e.Store(f.stateDir, state.DefaultLimits)
	if err != nil {
		return nil, err
	}
	secrets, err := store.Sensitive()
	if err != nil {
		return nil, diag.About("state directory", err)
	}
	return &machine.Writer{View: v, Registry: reg, Facts: fs, Recipients: f.recipients, Sensitive: secrets.HeldIn, Versions: f.versions}, nil
}

// compare lists what a site does not describe.
func (f *machineFlags) compare(e *cli.Env, cmd *cobra.Command) (err error) {
	var form cli.ReportForm
	if f.report != "" {
		if form, err = cli.ReportFormOf(f.report); err != nil {
			return err
		}
	}
	file, start := f.against, e.Clock.Now()
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "site.lua")
	}
	leave, err := f.Enter(cmd.Context(), e, file, &f.report, &f.stateDir)
	if err != nil {
		return err
	}
	defer leave(&err)
	dir := filepath.Dir(file)
	if now, err := os.Getwd(); err == nil && now != here {
		dir = "." // of a bundle
	}
	s, err := e.Load(cmd.Context(), file, nil, f.SiteOptions())
	if err != nil {
		return err
	}
	scan, err := f.scan(e, cmd)
	if err != nil {
		return err
	}
	unmanaged, err := readUnmanaged(e, filepath.Join(dir, machine.UnmanagedFile))
	if err != nil {
		return err
	}
	found, err := machine.Undescribed(cmd.Context(), &e.Host(f.Root).View, scan, s.Catalog.Resources, unmanaged)
	if err != nil {
		return err
	}
	if f.report != "" {
		run := report.Run{Command: "ccm " + shellquote.Join(e.Args...), Version: e.Version, Drift: true, Summary: report.Summary{
			Host: scan.Hostname, StartTime: start, Duration: e.Clock.Now().Sub(start), Noop: true,
		}}
		if err := f.writeReport(e, form, &run, scan.All(), found); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("output") {
		scan.Items = found
		err = f.print(e, scan)
	} else {
		for _, i := range found {
			if _, err := terminal.Fprintf(e.Stdout, "%s\n", i); err != nil {
				return err
			}
		}
		_, err = terminal.Fprintf(e.Stdout, "%d of %d items are not described by %s\n", len(found), len(scan.All()), cmp.Or(f.siteName, f.against))
	}
	if err == nil && len(found) > 0 {
		err = cli.Status(cli.ExitChanges)
	}
	return err
}

// writeReport writes the report: the items of a scan, of which those found have drifted.
func (f *machineFlags) writeReport(e *cli.Env, form cli.ReportForm, run *report.Run, items, found []machine.Item) error {
	drifted := map[string]bool{}
	for _, i := range found {
		drifted[i.String()] = true
	}
	for _, i := range items {
		ev := report.Event{Type: string(i.Kind), Name: i.Name, Outcome: event.Stable.String()}
		if drifted[i.String()] {
			ev.Outcome, ev.Changed, ev.Noop, ev.NoopMessage = event.Pending.String(), true, true, i.Reason+", and the site does not describe it"
		}
		run.Summary.Count(ev.Outcome)
		if ev.Changed || form.Most == 0 || run.Summary.Stable <= form.Most {
			run.Events = append(run.Events, ev)
		}
	}
	var text bytes.Buffer
	if err := form.Write(&text, run); err != nil {
		return err
	}
	return cli.Machine(e).Save(f.report, text.Bytes(), 0o600)
}

// readUnmanaged reads what a site leaves out on purpose, nothing if it has no such file.
func readUnmanaged(e *cli.Env, name string) (machine.Unmanaged, error) {
	text, err := e.Files.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return machine.ParseUnmanaged(string(text))
}
