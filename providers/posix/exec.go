package posix

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
)

// execs runs commands. Its field split makes the words of a command of a line.
type execs struct {
	doc   string
	split func(line string) ([]string, error)
}

var (
	_ resources.ExecProvider             = execs{}
	_ resource.Predictor[resources.Exec] = execs{}
)

// words splits a line into words as a shell would (go-shellquote).
func words(line string) ([]string, error) {
	argv, err := resource.SplitWords(line)
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, diag.None("command specified")
	}
	return argv, nil
}

// shell returns the command by which a shell runs a line.
func shell(line string) ([]string, error) {
	if strings.TrimSpace(line) == "" {
		return nil, diag.None("command to execute")
	}
	return []string{sh, "-c", line}, nil
}

func isExecutable(path string) bool {
	_, err := command.LookPath(path, "")
	return err == nil
}

// Describe implements resource.SelfDescriber.
func (x execs) Describe() resource.Description {
	return resource.Description{Doc: x.doc}
}

// Status implements resources.ExecProvider.
func (p execs) Status(ctx context.Context, v *host.View, want resources.Exec) (have resources.ExecState, err error) {
	if want.Creates != "" {
		if have.CreatesSatisfied, err = v.Exists(want.Creates); err != nil {
			return have, err
		}
	}
	if want.Removes != "" {
		there, err := v.Exists(want.Removes)
		if have.RemovesSatisfied = !there; err != nil {
			return have, err
		}
	}
	if !want.AsksGuards(have) {
		return have, nil
	}
	if want.OnlyIf != "" {
		if have.OnlyIfSatisfied, err = p.ask(ctx, v, want, "onlyif", want.OnlyIf); err != nil || !*have.OnlyIfSatisfied {
			return have, err
		}
	}
	if want.Unless != "" {
		if have.UnlessSatisfied, err = p.ask(ctx, v, want, "unless", want.Unless); err != nil || *have.UnlessSatisfied {
			return have, err
		}
	}
	if want.Check != "" {
		have.CheckSatisfied, err = p.ask(ctx, v, want, "check", want.Check)
	}
	return have, err
}

// Holds implements resources.ExecProvider.
func (p execs) Holds(ctx context.Context, v *host.View, want resources.Exec) (bool, error) {
	holds, err := p.ask(ctx, v, want, "check", want.Check)
	return err == nil && *holds, err
}

// ask runs a guard and reports whether it exited 0.
func (p execs) ask(ctx context.Context, v *host.View, want resources.Exec, name, line string) (*bool, error) {
	cmd, err := p.command(ctx, v, want, line)
	if err == nil {
		err = checkDir(v, cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	res, err := v.Query(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return new(res.Code == 0), nil
}

// command returns the command that runs line with the properties of want.
func (p execs) command(ctx context.Context, v *host.View, want resources.Exec, line string) (host.Cmd, error) {
	argv, err := p.split(line)
	cmd := host.Cmd{
		Argv: argv, Dir: want.Cwd, Env: want.Environment, Path: want.Path,
		Timeout: time.Duration(want.Timeout), KeepLocale: true,
	}
	if want.Umask != nil {
		cmd.Umask = want.Umask.String()
	}
	if err == nil {
		err = v.MayRun(cmd) // before anybody is asked about the user
	}
	if err == nil && (want.User != "" || want.Group != "") {
		cmd.As, err = v.Login(ctx, want.User, want.Group)
	}
	return cmd, err
}

// Predict implements resource.Predictor: a missing command cannot be run, nor one that the host
// refuses, in a missing directory, for another architecture or as a user that the user namespace
// does not have.
func (p execs) Predict(ctx context.Context, v *host.View, want resources.Exec) (string, error) {
	cmd, err := p.command(ctx, v, want, want.CommandLine())
	if err != nil {
		return "", err
	}
	if err := checkDir(v, cmd); err != nil {
		return "", err
	}
	return "", v.CheckProgram(ctx, cmd)
}

// checkDir returns an error if the directory of a command is missing: the system's error would
// name the command instead.
func checkDir(v *host.View, cmd host.Cmd) error {
	if err := v.CheckParent(path.Join("/", cmd.Dir, "x")); err != nil {
		return fmt.Errorf("cwd: %w", err)
	}
	return nil
}

// Execute implements resources.ExecProvider.
func (p execs) Execute(ctx context.Context, h *host.Host, want resources.Exec) (host.Result, error) {
	cmd, err := p.command(ctx, &h.View, want, want.CommandLine())
	if err == nil {
		err = checkDir(&h.View, cmd)
	}
	if err != nil {
		return host.Result{}, err
	}
	if want.Stdin != "" {
		cmd.Stdin = []byte(want.Stdin)
	}
	if want.LogOutput {
		cmd.OnLine = func(line string) { h.Log().Info(line) }
	}
	return h.Run(ctx, cmd)
}
