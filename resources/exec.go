package resources

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// ExecType is the type of commands.
var ExecType = resource.Define[Exec, ExecState, ExecProvider]("exec")

// Exec runs a command, unless creates, a guard or refreshonly says that there is
// nothing to do. A change of something it subscribes to overrides all of these.
type Exec struct {
	// Name is the command, or with command any name for it.
	Name string `ccm:"name,name,example=/usr/bin/true"`
	// Ensure is always present; a manifest may say so.
	Ensure ExecEnsure `ccm:"ensure,default=present"`
	// Command is the command to run, if it is not the name. The posix provider
	// splits it into words as a shell would, and runs it without one; the shell
	// provider hands it to /bin/sh -c.
	Command string `ccm:"command,argv"`
	// Cwd is the directory in which the command and its guards run.
	Cwd string `ccm:"cwd,default=/"`
	// Environment is added to the environment, each entry as KEY=VALUE.
	Environment []string `ccm:"environment"`
	// Stdin is what the command reads from its standard input. Left out, that is
	// empty. Guards read nothing.
	Stdin string `ccm:"stdin"`
	// Path is the colon-separated list of directories in which the command and
	// its guards are found.
	Path string `ccm:"path"`
	// Returns lists the exit codes that mean success.
	Returns []int `ccm:"returns,default=0"`
	// Timeout ends the command and all that it started, such as "5m".
	Timeout host.Duration `ccm:"timeout,default=0"`
	// Creates is a path; if something is there, the command does not run.
	Creates string `ccm:"creates"`
	// OnlyIf is a command that looks; unless it exits 0, the command does not
	// run. It runs in a plan too.
	OnlyIf string `ccm:"onlyif,argv"`
	// Unless is a command that looks; if it exits 0, the command does not run.
	// It runs in a plan too.
	Unless string `ccm:"unless,argv"`
	// RefreshOnly runs the command only when something it subscribes to changed.
	RefreshOnly bool `ccm:"refreshonly,alias=refresh_only"`
	// LogOutput logs each line of output as it comes.
	LogOutput bool `ccm:"logoutput,alias=log_output"`
}

// An ExecEnsure is what can be wanted of a command.
type ExecEnsure string

// Values implements schema.Enum.
func (ExecEnsure) Values() []string { return []string{"present"} }

// ExecState says whether there is anything to do. A guard that did not have to
// be asked is nil.
type ExecState struct {
	CreatesSatisfied bool
	OnlyIfSatisfied  *bool
	UnlessSatisfied  *bool
}

// CurrentEnsure implements resource.StateEnsure: a command is always present.
func (ExecState) CurrentEnsure() string { return "present" }

// ExecProvider runs commands.
type ExecProvider interface {
	// Status looks whether the creates path is there and, if it is not and it
	// matters, asks the guards.
	Status(ctx context.Context, v *host.View, want Exec) (ExecState, error)
	// Execute runs the command. An exit code is not an error.
	Execute(ctx context.Context, h *host.Host, want Exec) (host.Result, error)
}

// CommandLine returns the command to run.
func (e Exec) CommandLine() string {
	if e.Command != "" {
		return e.Command
	}
	return e.Name
}

// Validate implements resource.Spec.
func (e Exec) Validate() error {
	var errs []error
	if _, err := shellquote.Split(e.Name); err != nil {
		errs = append(errs, wrong("name", "%s in %q", strings.ToLower(err.Error()), e.Name))
	}
	if strings.TrimSpace(e.CommandLine()) == "" {
		errs = append(errs, wrong("command", "no command specified"))
	}
	for i, entry := range e.Environment {
		key, val, ok := strings.Cut(entry, "=")
		if !ok || key == "" || val == "" {
			errs = append(errs, wrong("environment", "want KEY=VALUE with a key and a value, got %q as item %d", entry, i+1))
		}
	}
	if e.Path != "" {
		for _, dir := range strings.Split(e.Path, ":") {
			if !filepath.IsAbs(dir) {
				errs = append(errs, wrong("path", "want absolute directories, got %q", dir))
			}
		}
	}
	for _, code := range e.Returns {
		if code < 0 || code > 255 {
			errs = append(errs, wrong("returns", "want exit codes from 0 to 255, got %d", code))
		}
	}
	for property, path := range e.paths() {
		if path != "" && !filepath.IsAbs(path) {
			errs = append(errs, wrong(property, "want an absolute path, got %q", path))
		}
	}
	return errors.Join(errs...)
}

func (e Exec) paths() func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		_ = yield("cwd", e.Cwd) && yield("creates", e.Creates)
	}
}

// ValidateWith implements resource.CommonValidator: what no shell reads has to be
// quoted correctly.
func (e Exec) ValidateWith(c resource.Common) error {
	if c.Provider == "shell" {
		return nil
	}
	var errs []error
	for _, p := range []struct{ property, line string }{{"command", e.Command}, {"onlyif", e.OnlyIf}, {"unless", e.Unless}} {
		if _, err := shellquote.Split(p.line); err != nil {
			errs = append(errs, wrong(p.property, "%s in %q", strings.ToLower(err.Error()), p.line))
		}
	}
	return errors.Join(errs...)
}

// VerifiesItself implements resource.SelfVerifier: a command is judged by its exit
// code.
func (Exec) VerifiesItself() bool { return true }

// UncertainAfterPending implements resource.UncertainState: guards may look at
// anything.
func (e Exec) UncertainAfterPending() bool { return e.OnlyIf != "" || e.Unless != "" }

// Fresh implements resource.InitialState: guards that cannot be asked yet may let it
// run.
func (Exec) Fresh() ExecState { return ExecState{} }

// ActsAlways implements resource.Repeater: without anything that says when to,
// the command runs in every run.
func (e Exec) ActsAlways() bool {
	return e.Creates == "" && e.OnlyIf == "" && e.Unless == "" && !e.RefreshOnly
}

// MayPrefetch implements resource.Prefetchable: guards are asked in their turn.
func (e Exec) MayPrefetch() bool { return e.OnlyIf == "" && e.Unless == "" }

// AsksGuards reports whether the guards matter, given that the creates path is
// there or not: refreshonly and a satisfied creates settle it without them.
func (e Exec) AsksGuards(created bool) bool { return !created && !e.RefreshOnly }

// Decide implements resource.Spec.
func (e Exec) Decide(have ExecState) (d resource.Decision) {
	switch {
	case e.Creates != "" && have.CreatesSatisfied:
	case e.OnlyIf != "" && have.OnlyIfSatisfied != nil && !*have.OnlyIfSatisfied:
	case e.Unless != "" && have.UnlessSatisfied != nil && *have.UnlessSatisfied:
	case e.RefreshOnly:
	default:
		d.Act("Execute", "executed")
		d.Effects, d.Complete = e.leaves()
	}
	return d
}

// Refresh implements resource.Refresher. It overrides creates, guards and
// refreshonly.
func (e Exec) Refresh(ExecState, resource.Decision) (d resource.Decision) {
	d.Act("Execute", "executed via subscribe")
	d.Effects, d.Complete = e.leaves()
	return d
}

// PlannedCommand implements resource.CommandRunner.
func (e Exec) PlannedCommand() host.Cmd {
	words, err := shellquote.Split(e.CommandLine())
	if err != nil {
		words = []string{e.CommandLine()}
	}
	return host.Cmd{Argv: words, Dir: e.Cwd, Env: e.Environment, Path: e.Path, Stdin: []byte(e.Stdin)}
}

// Perform implements resource.Spec.
func (e Exec) Perform(ctx context.Context, h *host.Host, p ExecProvider, a resource.Action) error {
	if a.Verb != "Execute" {
		return fmt.Errorf("an exec has no verb %s", a.Verb)
	}
	res, err := p.Execute(ctx, h, e)
	if err != nil {
		return err
	}
	if !slices.Contains(e.Returns, res.Code) {
		return fmt.Errorf("%w: exit code %d, want %s%s", resource.ErrDesiredStateFailed, res.Code, e.wantedCodes(), res.LastOutputs())
	}
	return nil
}

func (e Exec) wantedCodes() string {
	codes := make([]string, len(e.Returns))
	for i, c := range e.Returns {
		codes[i] = fmt.Sprint(c)
	}
	return strings.Join(codes, " or ")
}
