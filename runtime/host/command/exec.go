package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// Exec is the Runner of a real machine.
type Exec struct {
	// Commands registers the running commands; may be nil.
	Commands *Commands
}

// grace is the time that a command has to tidy up once it is told to end, and the time for which
// its outputs may stay open after its end. After a second interrupt, when nobody waits any more,
// it is shorter.
const (
	grace   = 2 * time.Second
	hurried = 300 * time.Millisecond
)

// Run implements Runner.
func (e Exec) Run(ctx context.Context, c Cmd) (Result, error) {
	if len(c.Argv) == 0 {
		return Result{}, diag.None("command specified")
	}
	file, err := c.Argv[0], error(nil)
	if c.Chroot == "" {
		file, err = LookPath(file, c.Path)
	}
	if err != nil {
		return Result{}, err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%w after %s", ErrTimeout, words.Duration(c.Timeout)))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, file)
	cmd.Args = c.Argv
	dir, err := c.openDir()
	if err != nil {
		return Result{}, err
	}
	defer dir.Close()
	if c.Chroot == "" {
		cmd.Dir = cmp.Or(dir.ProcPath(), c.workingDir())
	} else if dir != nil {
		c.Dir = dir.Path
	}
	other := c.As != nil && os.Geteuid() == 0
	running, environ := e.Commands.add(c.String(), other)
	cmd.Env = append(c.environ(), environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !other, Setsid: other}
	if other {
		// In the session of root it could open the terminal, and type there as root (TIOCSTI).
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.As.UID, Gid: c.As.GID, Groups: c.As.Groups}
	}
	in, err := c.enter(cmd, other)
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	if c.Umask != "" && in == nil {
		const shell = "/bin/sh"
		cmd.Path, cmd.Args = shell, append([]string{shell, "-c", underUmask, "sh", c.Umask, file}, c.Argv[1:]...)
	}
	if c.Stdin != nil || !hasNullDevice() { // a chroot may be without it; an empty pipe is as good
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	var stdout, stderr capture
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.OnLine != nil {
		var one sync.Mutex // what is told is told one after the other
		tell := func(line string) {
			one.Lock()
			defer one.Unlock()
			c.OnLine(line)
		}
		// Each has lines of its own: one that is not at its end yet may wait for long.
		out, errs := newLineWriter(tell), newLineWriter(tell)
		defer out.Close()
		defer errs.Close()
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, out), io.MultiWriter(&stderr, errs)
	}
	cmd.WaitDelay = grace + time.Second
	cmd.Cancel = func() error {
		group, patience := -cmd.Process.Pid, grace
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			patience, cmd.WaitDelay = hurried, hurried+100*time.Millisecond
		}
		time.AfterFunc(patience, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		return syscall.Kill(group, syscall.SIGTERM)
	}
	if err = cmd.Start(); err == nil {
		running.setProcess(cmd.Process.Pid)
		in.begin()
		err = cmd.Wait()
	}
	running.remove()
	res := Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	if cmd.ProcessState == nil {
		return res, in.explain(err)
	}
	res.Code = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Code, res.Signal = 128+int(ws.Signal()), ws.Signal()
	}
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return res, fmt.Errorf("%s: %w", c, context.Cause(ctx))
	}
	if in != nil {
		return in.result(res)
	}
	// A daemon that the command leaves behind keeps the outputs open too.
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return res, err
}

func (c Cmd) environ() []string {
	env := append(os.Environ(), "PWD="+c.workingDir())
	if c.Chroot != "" {
		env = append(chrootEnviron(), "PWD="+c.workingDir())
	}
	if c.Path != "" {
		env = append(env, "PATH="+c.Path)
	}
	if !c.KeepLocale {
		env = append(env, "LC_ALL=C.UTF-8", "LANGUAGE=")
	}
	if c.As != nil {
		env = append(env, c.As.environ()...)
	}
	return append(env, c.Env...)
}

// underUmask lets a shell set the umask and exec the command. Go can set the umask only for the
// whole process.
const underUmask = `umask "$1" && shift && exec "$@"`

// hasNullDevice reports whether there is something to open for an empty input.
func hasNullDevice() bool {
	_, err := os.Stat(os.DevNull)
	return err == nil
}
