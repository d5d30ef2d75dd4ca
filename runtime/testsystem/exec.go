package testsystem

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
)

// runCommand runs a program for a command in a system, and returns the exit status of the command.
func runCommand(ctx context.Context, cmd *exec.Cmd, c Cmd) (int, error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.WaitDelay = 2 * time.Second // a daemon may hold the output open
	err := cmd.Run()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() >= 0 {
		return exit.ExitCode(), nil
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return 0, fmt.Errorf("%s: %w", cmd.Args[0], err)
	}
	return 0, nil
}

// shellWords quotes a command for a shell.
func shellWords(argv []string) string { return shellquote.Join(argv...) }

// run runs a program on this machine. Its error has the last line that it printed.
func run(ctx context.Context, stdin string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var out, problem strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("%s: %w%s", strings.Join(argv[:min(len(argv), 2)], " "), err, lastLine(problem.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
