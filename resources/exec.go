package resources

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// ExecType is the type of commands.
var ExecType = resource.Define[Exec, ExecState, ExecProvider]("exec")

// Exec runs a command, unless a guard such as creates or onlyif shows that there is
// nothing to do. A change of something it subscribes to overrides all of these.
type Exec struct {
	// Name is the command. With the property command, it is any name.
	Name string `ccm:"name,name,example=/usr/bin/true"`
	// Ensure is always present.
	Ensure ExecEnsure `ccm:"ensure,default=present"`
	// Command is the command to run, if it is not the name: a line, or a list of words. The posix
	// provider splits a line into words as a shell does, and runs it without a shell, so words such as
	// | and && are errors. The shell provider passes it to /bin/sh -c.
	Command string `ccm:"command,argv,words,usual"`
	// Cwd is the working directory of the command and its guards.
	Cwd string `ccm:"cwd,default=/,kind=path"`
	// Environment is added to the environment: a list of KEY=VALUE, or a table.
	Environment []string `ccm:"environment,pairs"`
	// User is the user who runs the command and its guards, a name or number. Groups, HOME, USER,
	// LOGNAME and SHELL are those of the user. The default is the user who runs ccm.
	User string `ccm:"user,example=postgres,kind=owner"`
	// Group is the primary group of the command and its guards, a name or number. The default is the
	// primary group of the user.
	Group string `ccm:"group,kind=group"`
	// Umask is the file mode creation mask of the command and its guards, such as "027".
	Umask *Mode `ccm:"umask"`
	// Stdin is the standard input of the command, empty by default. Guards get no input.
	Stdin string `ccm:"stdin,kind=content"`
	// Path is the list of directories, separated by colons, to find the command and its guards in.
	Path string `ccm:"path"`
	// Returns lists the exit statuses that mean success.
	Returns []int `ccm:"returns,default=0"`
	// Timeout stops the command and its child processes after this time, such as "5m". Daemons, which
	// start a session of their own (setsid), keep running. 0 means no limit.
	Timeout host.Duration `ccm:"timeout,default=0"`
	// Creates is a path: the command does not run if it exists.
	Creates string `ccm:"creates,kind=path,usual"`
	// Removes is a path: the command runs only if it exists.
	Removes string `ccm:"removes,kind=path"`
	// OnlyIf is a command that changes nothing: the exec runs only if it exits with 0. Plans run it
	// too.
	OnlyIf string `ccm:"onlyif,argv,words"`
	// Unless is a command that changes nothing: the exec does not run if it exits with 0. Plans run it
	// too.
	Unless string `ccm:"unless,argv,words"`
	// Check is a command that changes nothing: the exec does not run if it exits with 0. After the exec
	// it runs again: if it still does not exit with 0, the resource fails. Plans run check too.
	Check string `ccm:"check,argv,words,quoted"`
	// ChangedIf is a regular expression (RE2). The command counts as a change only if a line of its
	// output matches.
	ChangedIf string `ccm:"changed_if,example=^Installing "`
	// UnchangedReturns lists the exit statuses that mean success without a change.
	UnchangedReturns []int `ccm:"unchanged_returns"`
	// RefreshOnly runs the command only after a resource that it subscribes to has changed.
	RefreshOnly bool `ccm:"refreshonly,alias=refresh_only,usual"`
	// LogOutput logs each line of output immediately.
	LogOutput bool `ccm:"logoutput,alias=log_output"`
}

// An ExecEnsure is a desired value of ensure for a command.
type ExecEnsure string

// Values implements schema.Enum.
func (ExecEnsure) Values() []string { return []string{"present"} }

// ExecState has the results of creates and of the guards. A guard that was not run is nil.
type ExecState struct {
	CreatesSatisfied bool
	RemovesSatisfied bool
	OnlyIfSatisfied  *bool
	UnlessSatisfied  *bool
	CheckSatisfied   *bool
}

// CurrentEnsure implements resource.StateEnsure: a command is always present.
func (ExecState) CurrentEnsure() string { return "present" }

// ExecProvider runs commands.
type ExecProvider interface {
	// Status looks at the paths of creates and removes. If these do not decide, it runs the
	// guards.
	Status(ctx context.Context, v *host.View, want Exec) (ExecState, error)
	// Holds runs check and reports whether it exits 0.
	Holds(ctx context.Context, v *host.View, want Exec) (bool, error)
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
			errs = append(errs, wrong("environment", "%w", diag.Expected("KEY=VALUE with a key and a value").Got("%q as item %d", entry, i+1)))
		}
	}
	if e.Path != "" {
		for dir := range strings.SplitSeq(e.Path, ":") {
			if !filepath.IsAbs(dir) {
				errs = append(errs, wrong("path", "%w", diag.Expected("absolute directories").Got("%q", dir)))
			}
		}
	}
	for _, list := range []struct {
		property string
		codes    []int
	}{{"returns", e.Returns}, {"unchanged_returns", e.UnchangedReturns}} {
		for _, code := range list.codes {
			if code < 0 || code > 255 {
				errs = append(errs, wrong(list.property, "%w", diag.Expected("exit codes from 0 to 255").Got("%d", code)))
			}
		}
	}
	if _, err := e.changes(); err != nil {
		errs = append(errs, wrong("changed_if", "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	if e.Umask != nil && (e.Umask.mask&permissionBits != permissionBits || e.Umask.bits > permissionBits) {
		errs = append(errs, wrong("umask", "%w", diag.MustBe("000 to 777").Got("%q", e.Umask)))
	}
	for _, p := range []struct{ property, text string }{{"name", e.Name}, {"command", e.Command}, {"onlyif", e.OnlyIf}, {"unless", e.Unless}, {"check", e.Check},
		{"environment", strings.Join(e.Environment, " ")}, {"cwd", e.Cwd}, {"creates", e.Creates}, {"removes", e.Removes}} {
		if strings.ContainsRune(p.text, 0) {
			errs = append(errs, wrong(p.property, "%w", diag.Expected("a text without NUL bytes").Got("%q", p.text)))
		}
	}
	for property, path := range e.paths() {
		if path != "" && !filepath.IsAbs(path) {
			err := wrong(property, "%w", diag.Expected("an absolute path").Got("%q", path))
			err.Hint = resource.HomeHint(path)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (e Exec) paths() func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		_ = yield("cwd", e.Cwd) && yield("creates", e.Creates) && yield("removes", e.Removes)
	}
}

// ValidateWith implements resource.CommonValidator: without a shell, the words have to be quoted
// correctly.
func (e Exec) ValidateWith(c resource.Common) error {
	if c.Provider == "shell" {
		return nil
	}
	command := "command"
	if e.Command == "" {
		command = "name"
	}
	var errs []error
	for _, p := range []struct{ property, line string }{{command, e.CommandLine()}, {"onlyif", e.OnlyIf}, {"unless", e.Unless}, {"check", e.Check}} {
		_, err := resource.SplitWords(p.line)
		syntax, ok := errors.AsType[*resource.ShellSyntaxError](err)
		switch {
		case ok:
			err := wrong(p.property, "%w", err)
			err.Hint = fmt.Sprintf(`use provider = "shell" to run it with /bin/sh, or quote it: '%s'`, syntax.Word)
			errs = append(errs, err)
		case err != nil && p.property != "name": // Validate has reported it
			errs = append(errs, wrong(p.property, "%w", err))
		}
	}
	return errors.Join(errs...)
}

// Traits implements resource.Characterized: a command is judged by its exit code, and runs in every run without a
// condition. Guards may look at anything, and are run in their turn.
func (e Exec) Traits() resource.Traits {
	guards := e.hasGuards()
	return resource.Traits{
		VerifiesItself: true, FreshState: func(*host.View) any { return ExecState{} }, IsUncertain: guards, MayPrefetch: !guards, Command: e.plannedCommand,
		ActsAlways: e.Creates == "" && e.Removes == "" && !guards && !e.RefreshOnly,
	}
}

func (e Exec) hasGuards() bool { return e.OnlyIf != "" || e.Unless != "" || e.Check != "" }

// AsksGuards reports whether the guards have to be run: the paths of creates and removes, or
// refreshonly, may decide without them.
func (e Exec) AsksGuards(have ExecState) bool {
	return !have.CreatesSatisfied && !have.RemovesSatisfied && !e.RefreshOnly
}

// Decide implements resource.Spec.
func (e Exec) Decide(have ExecState) (d resource.Decision) {
	switch {
	case e.Creates != "" && have.CreatesSatisfied:
	case e.Removes != "" && have.RemovesSatisfied:
	case e.OnlyIf != "" && have.OnlyIfSatisfied != nil && !*have.OnlyIfSatisfied:
	case e.Unless != "" && have.UnlessSatisfied != nil && *have.UnlessSatisfied:
	case e.Check != "" && have.CheckSatisfied != nil && *have.CheckSatisfied:
	case e.RefreshOnly:
	default:
		e.execute(&d, "executed")
	}
	return d
}

func (e Exec) execute(d *resource.Decision, phrase string) {
	d.AddAction("Execute", phrase)
	d.Effects, d.Complete = e.effects()
	switch {
	case e.ChangedIf != "":
		d.Uncertain = "its output decides whether it counts as a change (changed_if)"
	case len(e.UnchangedReturns) > 0:
		d.Uncertain = "its exit code decides whether it counts as a change (unchanged_returns)"
	}
}

// Refresh implements resource.Refresher. It overrides creates, guards and
// refreshonly.
func (e Exec) Refresh(ExecState, resource.Decision) (d resource.Decision) {
	e.execute(&d, "executed via subscribe")
	return d
}

func (e Exec) plannedCommand() host.Cmd {
	words, err := shellquote.Split(e.CommandLine())
	if err != nil {
		words = []string{e.CommandLine()}
	}
	return host.Cmd{Argv: words, Dir: e.Cwd, Env: e.Environment, Path: e.Path, Stdin: []byte(e.Stdin)}
}

// Perform implements resource.Spec.
func (e Exec) Perform(ctx context.Context, h *host.Host, p ExecProvider, a resource.Action) error {
	if a.Verb != "Execute" {
		return diag.Unknown("verb of exec", a.Verb, nil)
	}
	res, err := p.Execute(ctx, h, e)
	if err != nil {
		return err
	}
	unchanged := slices.Contains(e.UnchangedReturns, res.Code)
	if !unchanged && !slices.Contains(e.Returns, res.Code) {
		ended := fmt.Sprintf("exit code %d", res.Code)
		if res.Signal != 0 {
			ended = fmt.Sprintf("%s (exit code %d)", res.Status(), res.Code)
		}
		return fmt.Errorf("%w: %s, %w%s", resource.ErrDesiredStateFailed, ended, diag.Expected("%s", e.wantedCodes()), res.LastOutputs())
	}
	if e.Check != "" {
		holds, err := p.Holds(ctx, &h.View, e)
		if err != nil {
			return err
		}
		if !holds {
			return fmt.Errorf("%w: after the command, check still does not exit 0: %s%s", resource.ErrDesiredStateFailed, e.Check, res.LastOutputs())
		}
	}
	if unchanged || !e.changed(res) {
		return resource.ErrUnchanged
	}
	return nil
}

// changes returns the expression that matches output about a change, nil if there is none.
func (e Exec) changes() (*regexp.Regexp, error) {
	if e.ChangedIf == "" {
		return nil, nil
	}
	if _, err := regexp.Compile(e.ChangedIf); err != nil {
		return nil, err
	}
	return regexp.Compile("(?m)" + e.ChangedIf)
}

// changed reports whether the command's output says that it changed something.
func (e Exec) changed(res host.Result) bool {
	re, err := e.changes()
	return err != nil || re == nil || re.Match(res.Stdout) || re.Match(res.Stderr)
}

func (e Exec) wantedCodes() string {
	var codes []string
	for _, c := range slices.Concat(e.Returns, e.UnchangedReturns) {
		codes = append(codes, fmt.Sprint(c))
	}
	return strings.Join(codes, " or ")
}
