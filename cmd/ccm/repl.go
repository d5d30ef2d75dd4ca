package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/trust"
	"github.com/luaccm/ccm/stdlib"
)

// replFlags are the flags of repl and eval.
type replFlags struct {
	runFlags
	noInit bool
	form   *choice // in which values are written
}

func (e *env) replCommand() *cobra.Command {
	f := &replFlags{}
	cmd := &cobra.Command{
		Use:   "repl [FILE [ARG...]]",
		Short: "Explore facts, try resources and see the plan, at a prompt",
		Long: `Evaluate what is typed, line by line. What is declared goes into a scratch
catalog; nothing on this machine is touched before .apply, which shows the plan
and asks. FILE is evaluated first. .help lists the commands, Tab completes.

  ccm> facts.os
  ccm> file { "/etc/motd", content = "hi\n", owner = "root", group = "root", mode = "0644" }
  ccm> .plan

If standard input is not a terminal, it is one script: there is no prompt, and
the exit status is that of run.`,
		RunE: func(cmd *cobra.Command, args []string) error { return e.repl(cmd.Context(), f, args) },
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.noInit, "no-init", false, "leave the file repl.lua in the configuration directory alone")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "begin without a word")
	_ = cmd.RegisterFlagCompletionFunc("output", f.form.complete)
	return cmd
}

func (f *replFlags) add(fs *pflag.FlagSet) {
	f.siteFlags.add(fs)
	f.recordFlags.add(fs)
	f.form = newChoice(repl.OutputLua, repl.Outputs...)
	f.output = newChoice("text")
	f.diff = newChoice(string(report.DiffSummary), report.DiffSummary.Values()...)
	fs.Var(f.form, "output", "form in which values are written: lua, json or yaml")
	fs.StringVar(&f.stateDir, "state-dir", "", "keep state in `DIR` (default CCM_STATE_DIR, else /var/lib/ccm or ~/.local/state/ccm)")
	fs.DurationVar(&f.lockTimeout, "lock-timeout", 0, "how long to wait for another run to end")
	fs.BoolVar(&f.debug, "debug", false, "log every effect on the machine")
}

// interactively is run --interactive.
func (e *env) interactively(ctx context.Context, f *runFlags, args []string) error {
	return e.repl(ctx, &replFlags{runFlags: *f, form: newChoice(repl.OutputLua, repl.Outputs...)}, args)
}

// noDeadline is how long a text may take that a person can interrupt.
const noDeadline = 365 * 24 * time.Hour

// repl prompts, or evaluates standard input if nobody is there to type.
func (e *env) repl(ctx context.Context, f *replFlags, args []string) error {
	typing := isTerminal(e.stdin)
	if typing {
		f.evalTimeout = noDeadline
	}
	p, err := e.newPrompt(ctx, f, args, e.stdout)
	if err != nil {
		return err
	}
	defer p.dialog.Close()
	if typing {
		return p.converse(ctx, args)
	}
	within, cancel := e.untilStopped(ctx)
	text, err := trust.ReadStream(within, e.stdin, stdin)
	if err = e.ifStopped(within, err); err != nil {
		cancel()
		return err
	}
	cancel()
	site := ""
	if len(args) > 0 {
		site = args[0]
	}
	return p.script(ctx, site, stdin, string(text))
}

// script evaluates a text, after a site if one is named. A signal ends it.
func (p *prompt) script(ctx context.Context, site, name, text string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.alsoStop(cancel)()
	if site != "" {
		err = p.loadSite(ctx, site)
	}
	if err == nil {
		err = p.dialog.Script(ctx, name, text)
	}
	if ctx.Err() != nil {
		return status(exitInterrupted)
	}
	return err
}

// A prompt is the dialog of a person with this machine.
type prompt struct {
	env     *env
	flags   *replFlags
	dialog  *repl.Dialog
	loading *loading
	site    string // the script that was given, as the state directory knows it
	events  liveEvents
	history *repl.History
	talk    lineReader // nil if nobody is there to type
	signals *interrupts
}

// newPrompt makes a dialog that has heard nothing yet. What scripts print goes
// to print.
func (e *env) newPrompt(ctx context.Context, f *replFlags, args []string, print io.Writer) (*prompt, error) {
	p := &prompt{env: e, flags: f}
	around := &surroundings{clock: e.clock}
	s := &site{host: p.host(), secrets: e.secrets}
	var scriptArgs []string
	if len(args) > 0 {
		f.site, scriptArgs = args[0], args[1:]
	}
	var err error
	if p.loading, err = e.newLoading(s, around, &f.siteFlags, scriptArgs, false); err != nil {
		return nil, err
	}
	u := p.loading.units.Root("repl", p.loading.cwd)
	if u.Data, err = p.loading.overlaid(); err != nil {
		return nil, err
	}
	p.dialog, err = repl.New(repl.Options{
		Script: luaapi.Options{
			Builder: &p.loading.builder, Args: scriptArgs, Version: readBuildInfo().Version,
			Env: os.LookupEnv, Print: print, Timeout: f.evalTimeout, Path: e.modules,
			Scope: u.Scope, Add: admit(ctx, u), Warn: e.scriptWarns, Secrets: e.secrets, Library: stdlib.Library,
			Extend: extending(p.loading.library(u)), ReadFile: e.readModule(f.site),
		},
		Begin: func() (*resource.Registry, *facts.Facts, error) {
			reg, err := registry(around)
			if err != nil {
				return nil, nil, err
			}
			fs, err := e.gatherFacts(ctx, &s.host.View, &f.siteFlags)
			around.facts, s.facts, p.loading.loader.Facts = fs, fs, fs
			s.registry, p.loading.loader.Registry = reg, reg
			return reg, fs, err
		},
		Dir: p.loading.cwd, Out: e.data(), Output: f.form.value, Paint: e.painter(), Now: e.clock.Now,
		Commands: p.commands(), Functions: p.functions(),
		Drawings:  []repl.Drawing{{Name: "dot", Draw: report.Dot}, {Name: "mermaid", Draw: report.Mermaid}},
		Document:  func() error { _, err := documented(); return err },
		Types:     sync.OnceValue(allTypes),
		Reference: reference,
		ListDir:   func(dir string) []string { return listDir(&s.host.View, dir) },
		LoadOther: p.loadManifest, Sources: p.loading.source,
		Brief: func() bool { return p.talk != nil && isTerminal(e.stdout) }, Page: p.page,
	})
	if err != nil {
		return nil, err
	}
	e.sources = p.dialog.Sources()
	return p, nil
}

// host returns the machine as it is now: nothing that was seen earlier is
// remembered.
func (p *prompt) host() *host.Host { return p.hostTelling(p.env.stderr, nil) }

// hostTelling is host. What commands say while they run goes to w, how far downloads are
// to progress.
func (p *prompt) hostTelling(w terminal.Printer, progress func(host.Progress)) *host.Host {
	e := p.env
	return host.New(host.Options{Runner: e.exec(),
		Refuse: e.secrets.RefuseArgv, Root: p.flags.root, Clock: e.clock, Log: e.logger(w, p.flags.debug), Effect: e.effect, BeforeChange: e.keep,
		Progress: progress,
	})
}

// loadSite evaluates the script that was given on the command line.
func (p *prompt) loadSite(ctx context.Context, name string) (err error) {
	shown, text, err := p.env.readInput(ctx, name)
	if err != nil {
		return err
	}
	if p.site, err = siteName(name); err != nil {
		return err
	}
	return p.dialog.Load(ctx, shown, []byte(text))
}

// loadManifest loads a file that is no script.
func (p *prompt) loadManifest(ctx context.Context, name string, text []byte) (handled bool, err error) {
	if isLua(name, string(text)) && p.flags.dialect.value == "" {
		return false, nil
	}
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return true, err
	}
	m, err := p.loading.loader.Load(ctx, p.loading.units.Root(name, dir), string(text))
	if err == nil {
		p.loading.site.manifest, p.loading.around.data = m, m.Data
	}
	return true, err
}

// catalog orders what was declared, and takes the targets of it: those of the
// command line, or the one that is named.
func (p *prompt) catalog(target string) (*catalog.Catalog, error) {
	flags := p.flags.siteFlags
	if target != "" {
		flags.targets = []string{target}
	}
	if err := p.loading.site.build(&p.loading.builder, &flags); err != nil {
		return nil, err
	}
	c := p.loading.site.catalog
	if len(c.Resources) == 0 {
		return nil, errors.New("nothing is declared yet")
	}
	return c, nil
}

// initFile returns the script that is evaluated before the first prompt.
func initFile() string {
	return filepath.Join(userConfig(), "repl.lua")
}

// prepare evaluates the file of the user and the script that was given. Their
// mistakes are printed and do not keep anyone from the prompt.
func (p *prompt) prepare(ctx context.Context, args []string) {
	if !p.flags.noInit {
		text, err := p.env.readFound(initFile(), "", "--no-init leaves it alone")
		if err == nil {
			err = p.dialog.Load(ctx, initFile(), text)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			p.dialog.Report(err)
		}
		p.dialog.Forget()
	}
	if len(args) > 0 {
		p.dialog.Report(p.loadSite(ctx, args[0]))
	}
}

// listDir lists a directory of a machine; directories end with a slash.
func listDir(v *host.View, dir string) []string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	if !filepath.IsAbs(dir) {
		v = &host.New(host.Options{}).View // beside the script, not on what is managed
	}
	names, err := v.ReadDir(abs)
	if err != nil {
		return nil
	}
	for i, name := range names {
		if is, err := v.IsDirectory(filepath.Join(abs, name)); err == nil && is {
			names[i] += "/"
		}
	}
	return names
}

// reference returns the reference of a type or of one of its properties.
func reference(topic string) (string, bool) {
	reg, err := documented()
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if err := (&env{stdout: terminal.NewWriter(&b)}).docOne(reg, topic, false); err != nil {
		return "", false
	}
	return b.String(), true
}

// painter returns what colours Lua, nil if nothing is to be coloured.
func (e *env) painter() func(string) terminal.Text {
	if !e.colorful(e.stdout) {
		return nil
	}
	return paintLua
}
