package testsystem

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/diag"
)

// sshName is the driver of ssh:HOST.
const sshName = "ssh"

// The variables with commands of this machine that make a snapshot of a host and restore it: ccm has no way of its own.
// They have the host in CCM_TEST_HOST.
const (
	snapshotVariable = "CCM_TEST_SNAPSHOT"
	restoreVariable  = "CCM_TEST_RESTORE"
)

// sshDriver is a machine that is there, by the ssh command of the user. CCM_SSH is another command, as for ccm ssh.
type sshDriver struct{}

func (sshDriver) Name() string { return sshName }

func (sshDriver) Check() error {
	argv, err := sshCommand()
	if err == nil {
		_, err = exec.LookPath(argv[0])
	}
	return err
}

func sshCommand() ([]string, error) {
	text := os.Getenv("CCM_SSH")
	if text == "" {
		return []string{"ssh"}, nil
	}
	argv, err := shellquote.Split(text)
	if err == nil && len(argv) == 0 {
		err = diag.Expected("a command")
	}
	if err != nil {
		return nil, fmt.Errorf("CCM_SSH: %w", err)
	}
	return argv, nil
}

func (sshDriver) Make(ctx context.Context, r *Record) (System, error) {
	if strings.HasPrefix(r.Target.Arg, "-") {
		return nil, diag.Expected("a host name").Got("%q", r.Target.Arg)
	}
	s := newSSHSystem(r)
	if os.Getenv(snapshotVariable) == "" || os.Getenv(restoreVariable) == "" {
		return nil, diag.Errorf(diag.Pos{}, "%s: a test changes the machine, and it must be restored afterwards", r.Target.Name).
			WithHint("set %s and %s to commands that save and restore $CCM_TEST_HOST", snapshotVariable, restoreVariable)
	}
	if _, err := Output(ctx, s, "true"); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Target.Name, err)
	}
	return s, s.Snapshot(ctx)
}

func (sshDriver) Attach(_ context.Context, r *Record) (System, error) { return newSSHSystem(r), nil }

func (sshDriver) Reclaim(r *Record) error {
	if r.Data["snapshot"] == "" {
		return nil
	}
	return newSSHSystem(r).hook(context.Background(), restoreVariable)
}

// sshSystem is a machine that is entered by ssh, with options of the driver.
type sshSystem struct {
	record  *Record
	host    string
	options []string
}

func newSSHSystem(r *Record) *sshSystem { return &sshSystem{record: r, host: r.Target.Arg} }

func (s *sshSystem) Exec(ctx context.Context, c Cmd) (int, error) {
	argv, err := sshCommand()
	if err != nil {
		return 0, err
	}
	argv = append(argv, s.options...)
	if c.Terminal {
		argv = append(argv, "-t")
	}
	words := shellWords(append(append([]string{"env"}, environ(c, "")...), c.Argv...))
	argv = append(argv, s.host, "--", "exec sh -c "+shellWords([]string{"exec " + words}))
	code, err := runCommand(ctx, exec.CommandContext(ctx, argv[0], argv[1:]...), c)
	if err == nil && code == 255 {
		err = diag.Cannot("reach", fmt.Sprintf("%s with %s", s.host, argv[0]), nil)
	}
	return code, err
}

// hook runs a command of the user on this machine.
func (s *sshSystem) hook(ctx context.Context, variable string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", os.Getenv(variable))
	cmd.Env = append(os.Environ(), "CCM_TEST_HOST="+s.record.Target.Arg)
	if os.Getenv(variable) == "" {
		return diag.Errorf(diag.Pos{}, "%s is to be restored", s.record.Target.Name).WithHint("set %s", variable)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w%s", variable, err, lastLine(string(out)))
	}
	return nil
}

func (s *sshSystem) Snapshot(ctx context.Context) error {
	if err := s.hook(ctx, snapshotVariable); err != nil {
		return err
	}
	return s.record.set("snapshot", "made")
}

func (s *sshSystem) Restore(ctx context.Context) error { return s.hook(ctx, restoreVariable) }

func (s *sshSystem) Reboot(ctx context.Context) error {
	boot, err := Output(ctx, s, "cat", "/proc/sys/kernel/random/boot_id")
	if err != nil {
		return err
	}
	_, _ = s.Exec(ctx, Cmd{Argv: []string{"systemctl", "reboot"}}) // the connection may be lost
	within, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, diag.TimedOut("the boot", "5m"))
	defer cancel()
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		if now, err := Output(within, s, "cat", "/proc/sys/kernel/random/boot_id"); err == nil && now != boot {
			_, _ = s.Exec(within, Cmd{Argv: []string{"systemctl", "is-system-running", "--wait"}})
			return nil
		}
		select {
		case <-within.Done():
			return context.Cause(within)
		case <-ticks.C:
		}
	}
}

func (*sshSystem) Keep(context.Context) error { return nil }

func (s *sshSystem) Remove(ctx context.Context) error {
	if s.record.Data["snapshot"] == "" {
		return nil
	}
	return s.Restore(ctx)
}
