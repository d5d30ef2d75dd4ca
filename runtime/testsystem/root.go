package testsystem

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/command"
)

// rootName is the driver of root:DIR.
const rootName = "root"

// rootDriver makes copies of a directory with a system, whose commands have it as their root: see
// [command.Cmd.Chroot]. No daemon survives a command, and /tmp and /run are those of the command.
type rootDriver struct{}

func (rootDriver) Name() string { return rootName }

func (rootDriver) Check() error {
	if !command.CanChroot {
		return diag.Requires("", "Linux")
	}
	return nil
}

func (rootDriver) Make(ctx context.Context, r *Record) (System, error) {
	dir, err := filepath.Abs(r.Target.Arg)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, diag.At(diag.Pos{}, fmt.Errorf("%s: %w", r.Target.Name, diag.Expected("a directory with a system")))
	}
	s := &rootSystem{record: r, from: dir}
	return s, s.Restore(ctx)
}

func (rootDriver) Attach(_ context.Context, r *Record) (System, error) {
	return &rootSystem{record: r}, nil
}

func (rootDriver) Reclaim(*Record) error { return nil } // the copy is in the folder of the record

type rootSystem struct {
	record *Record
	from   string // the directory that Restore copies
}

func (s *rootSystem) dir() string { return filepath.Join(s.record.dir(), "root") }

func (s *rootSystem) Exec(ctx context.Context, c Cmd) (int, error) {
	if c.Terminal {
		return 0, diag.At(diag.Pos{}, diag.Lacks(s.record.Target.Name, "a terminal")).WithHint("use a system that boots")
	}
	argv := append([]string{"env", "-i", "SYSTEMD_OFFLINE=1"}, environ(c, "")...) // not the environment of this process
	cmd := command.Cmd{Argv: append(argv, c.Argv...), Chroot: s.dir(), NoDaemons: true}
	if c.Stdin != nil {
		text, err := io.ReadAll(c.Stdin)
		if err != nil {
			return 0, err
		}
		cmd.Stdin = text
	}
	res, err := command.Exec{}.Run(ctx, cmd)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil {
		return 0, err
	}
	for _, out := range []struct {
		w    io.Writer
		text []byte
	}{{c.Stdout, res.Stdout}, {c.Stderr, res.Stderr}} {
		if out.w != nil {
			if _, err := out.w.Write(out.text); err != nil {
				return 0, err
			}
		}
	}
	return res.Code, nil
}

func (s *rootSystem) Snapshot(ctx context.Context) error {
	to := s.dir() + ".snapshot"
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	s.from = to
	return copyTree(ctx, s.dir(), to)
}

func (s *rootSystem) Restore(ctx context.Context) error {
	if err := os.RemoveAll(s.dir()); err != nil {
		return err
	}
	return copyTree(ctx, s.from, s.dir())
}

func (*rootSystem) Reboot(context.Context) error { return ErrNoInit }

func (*rootSystem) Keep(context.Context) error { return nil }

func (s *rootSystem) Remove(context.Context) error { return os.RemoveAll(s.dir()) }

// copyTree copies a directory with everything that a system has. File systems that can do so share the content.
func copyTree(ctx context.Context, from, to string) error {
	out, err := exec.CommandContext(ctx, "cp", "-a", "--one-file-system", "--reflink=auto", from, to).CombinedOutput()
	if err != nil {
		return diag.SubjectCannot("", "copy %s: %w%s", from, err, lastLine(string(out)))
	}
	return nil
}
