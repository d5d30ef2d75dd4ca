package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/kballard/go-shellquote"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/safepath"
)

// edited lets the user edit a text in an editor and returns the result. No plain text stays on the
// machine. If the editor fails, edited returns an error together with the text so far, if that can
// be read.
func edited(ctx context.Context, e *cli.Env, name string, text []byte) (after []byte, err error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	argv, err := shellquote.Split(editor)
	if err != nil || len(argv) == 0 {
		return nil, fmt.Errorf("EDITOR: %w", diag.Expected("a command").Got("%q", editor))
	}
	private, err := newPrivateDir()
	if err != nil {
		return nil, err
	}
	defer private.shred()
	path := filepath.Join(private.path, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // the editor restores the terminal
	cmd.WaitDelay = 5 * time.Second
	failed := cmd.Run()
	after, err = (&safepath.Resolver{Root: "/"}).ReadRegular(path, encryption.LargestFile)
	switch {
	case failed != nil && (err != nil || bytes.Equal(after, text)):
		return nil, diag.Errorf(diag.Pos{}, "editor %s: %w", argv[0], failed).WithHint("set another one in EDITOR; nothing was changed")
	case failed != nil:
		return after, fmt.Errorf("editor %s: %w", argv[0], failed)
	case err != nil:
		return nil, fmt.Errorf("editor removed the file: %w", err)
	}
	return after, nil
}

// A privateDir is a directory that only its owner can enter, for files that must not outlive the
// process. The process keeps a lock on it; directories of killed processes are removed by the next
// process.
type privateDir struct {
	path string
	lock *os.File
}

// privatePrefix is the beginning of the directories' names.
const privatePrefix = "ccm-edit-"

// newPrivateDir makes a privateDir, in memory if the system has such a place, and removes the
// directories of dead processes.
func newPrivateDir() (*privateDir, error) {
	parent := memoryDirectory()
	if parent == "" {
		parent = os.TempDir()
	}
	left, _ := filepath.Glob(filepath.Join(parent, privatePrefix+"*"))
	for _, path := range left {
		if d, err := lockPrivateDir(path); err == nil {
			d.shred()
		}
	}
	for range 10 {
		path, err := os.MkdirTemp(parent, privatePrefix+"*") // mode 0700
		if err != nil {
			return nil, err
		}
		if d, err := lockPrivateDir(path); err == nil {
			return d, nil
		} // another process took the directory for a leftover
	}
	return nil, diag.Cannot("create", "a private directory in "+parent, nil)
}

// lockPrivateDir locks a directory of this user that no process has locked.
func lockPrivateDir(path string) (*privateDir, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	err = filelock.TryLock(f, filelock.Exclusive)
	var open, now unix.Stat_t
	if err == nil {
		err = unix.Fstat(int(f.Fd()), &open)
	}
	if err == nil {
		err = unix.Lstat(path, &now)
	}
	if err == nil && (int(open.Uid) != os.Geteuid() || open.Ino != now.Ino) {
		err = fs.ErrPermission
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &privateDir{path, f}, nil
}

// memoryDirectory returns a directory whose files are in memory, "" if there is none.
func memoryDirectory() string {
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/dev/shm"} {
		if dir != "" && filepath.IsAbs(dir) && isTmpfs(dir) {
			if probe, err := os.MkdirTemp(dir, "ccm-probe-*"); err == nil {
				_ = os.Remove(probe)
				return dir
			}
		}
	}
	return ""
}

// shred overwrites all files in the directory, backups of editors too, and removes the directory.
func (d *privateDir) shred() {
	_ = filepath.WalkDir(d.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // the rest is overwritten all the same
		}
		if f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW, 0); err == nil {
			if info, err := f.Stat(); err == nil {
				_, _ = f.Write(make([]byte, min(info.Size(), encryption.LargestFile)))
			}
			_ = f.Sync()
			_ = f.Close()
		}
		return nil
	})
	_ = os.RemoveAll(d.path)
	_ = filelock.Close(d.lock)
}
