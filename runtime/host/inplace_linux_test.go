//go:build !portable

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// mount mounts something at a path until the end of the test, and skips the test if this process may not.
func mount(t *testing.T, source, at, kind string, flags uintptr, data string) {
	t.Helper()
	err := unix.Mount(source, at, kind, flags, data)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENODEV) {
		t.Skipf("cannot mount: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Unmount(at, unix.MNT_DETACH)) })
}

// mountFile makes a file a mount point, as /etc/hosts is in a container, and returns its path.
func mountFile(t *testing.T, root, name, content string) string {
	t.Helper()
	source, at := filepath.Join(t.TempDir(), "source"), filepath.Join(root, name)
	require.NoError(t, os.WriteFile(source, []byte(content), 0o644))
	require.NoError(t, os.WriteFile(at, nil, 0o644))
	mount(t, source, at, "", unix.MS_BIND, "")
	return at
}

// TestMountPointIsWrittenInPlace: a file that is a mount point is written in place, whichever way, and put back by a
// rollback; longer and shorter contents, too, and no file is left beside it.
func TestMountPointIsWrittenInPlace(t *testing.T) {
	text := strings.Repeat("new\n", 3)
	for name, write := range map[string]func(h *host.Host) error{
		"WriteFile": func(h *host.Host) error { return h.WriteFile("/f", strings.NewReader(text), me()) },
		"edit": func(h *host.Host) error {
			e := h.NewEdit(context.Background(), "/f")
			err := errors.Join(e.Host().WriteFile("/f", strings.NewReader(text), me()), e.Commit())
			require.True(t, e.IsPlaced())
			return err
		},
		"batch": func(h *host.Host) error {
			b := h.NewBatch()
			err := b.File().WriteFile("/f", strings.NewReader(text), me())
			require.True(t, host.IsRetryable(err), "%v", err)
			b.Commit([]error{err}, func(int) {})
			return h.WriteFile("/f", strings.NewReader(text), me())
		},
		"checked": func(h *host.Host) error {
			tmp, err := h.Create("/f", me())
			if err == nil {
				_, err = tmp.Write([]byte(text))
			}
			require.NoError(t, err)
			seen, err := os.ReadFile(tmp.Name())
			require.NoError(t, err)
			require.Equal(t, text, string(seen), "a command can look at it")
			return tmp.Commit()
		},
		"rollback": func(h *host.Host) error {
			return errors.Join(h.WriteFile("/f", strings.NewReader(text), me()), h.Backups().Make("/f"),
				h.WriteFile("/f", strings.NewReader("refused"), me()), h.Backups().Rollback("/f"))
		},
	} {
		for _, old := range []string{"old", strings.Repeat("a long old text\n", 500)} {
			t.Run(fmt.Sprintf("%s over %d bytes", name, len(old)), func(t *testing.T) {
				h, root := hosttest.New(t, nil)
				at := mountFile(t, root, "f", old)
				before, err := h.Lstat("/f")
				require.NoError(t, err)
				require.NoError(t, write(h))
				got, err := os.ReadFile(at)
				require.NoError(t, err)
				require.Equal(t, text, string(got))
				after, err := h.Lstat("/f")
				require.NoError(t, err)
				require.Equal(t, before.Ino, after.Ino)
				require.Equal(t, me(), safepath.Attr{UID: after.UID, GID: after.GID, Mode: after.Mode})
				entries, err := os.ReadDir(root)
				require.NoError(t, err)
				require.Len(t, entries, 1)
			})
		}
	}
}

// TestFullInPlace: if there is no room for the new content, the old one stays.
func TestFullInPlace(t *testing.T) {
	h, root := hosttest.New(t, nil)
	small := t.TempDir()
	mount(t, "tmpfs", small, "tmpfs", 0, "size=64k")
	source, at := filepath.Join(small, "f"), filepath.Join(root, "f")
	require.NoError(t, os.WriteFile(source, []byte("old"), 0o644))
	require.NoError(t, os.WriteFile(at, nil, 0o644))
	mount(t, source, at, "", unix.MS_BIND, "")
	require.ErrorIs(t, h.WriteFile("/f", strings.NewReader(strings.Repeat("x", 1<<20)), me()), unix.ENOSPC)
	got, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
}

// chattr sets a flag of a file until the end of the test.
func chattr(t *testing.T, path string, flag int) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	old, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, old|flag)
	}
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
		t.Skipf("no flags: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, old))
	})
}

const (
	immutableFlag  = 0x10 // FS_IMMUTABLE_FL
	appendOnlyFlag = 0x20 // FS_APPEND_FL
)

// TestObstacles: what a plan says of a file that cannot be written, and that the run does what it says.
func TestObstacles(t *testing.T) {
	comm := fmt.Sprintf("/proc/%d/comm", os.Getpid())
	for _, tt := range []struct {
		name  string
		start func(t *testing.T, root string)
		path  string // "/f" by default
		kind  safepath.FileKind
		whole bool // the root is that of the operating system
		note  string
		err   string
	}{
		{name: "plain file", start: func(*testing.T, string) {}},
		{name: "mount point", start: func(t *testing.T, root string) { mountFile(t, root, "f", "old") }, note: "in place, because it is a mount point"},
		{name: "removed mount point", start: func(t *testing.T, root string) { mountFile(t, root, "f", "old") }, kind: safepath.Missing,
			err: "/f is a mount point, which cannot be removed (umount /f)"},
		{name: "read-only mount point", start: func(t *testing.T, root string) {
			at := mountFile(t, root, "f", "old")
			require.NoError(t, unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}, err: "/f is on a read-only mount, ROOT/f (mount -o remount,rw ROOT/f)"},
		{name: "immutable file", start: func(t *testing.T, root string) { chattr(t, root+"/f", immutableFlag) }, err: "/f is immutable (chattr -i /f)"},
		{name: "removed immutable file", start: func(t *testing.T, root string) { chattr(t, root+"/f", immutableFlag) }, kind: safepath.Missing,
			err: "/f is immutable (chattr -i /f)"},
		{name: "append-only file", start: func(t *testing.T, root string) { chattr(t, root+"/f", appendOnlyFlag) }, err: "/f is append-only (chattr -a /f)"},
		{name: "immutable directory", path: "/d/f", start: func(t *testing.T, root string) { chattr(t, root+"/d", immutableFlag) },
			err: "/d/f is in an immutable directory (chattr -i /d)"},
		{name: "append-only directory", path: "/d/f", start: func(t *testing.T, root string) { chattr(t, root+"/d", appendOnlyFlag) },
			err: "/d/f is in an append-only directory (chattr -a /d)"},
		{name: "read-only mount", path: "/d/f", start: func(t *testing.T, root string) {
			mount(t, "tmpfs", root+"/d", "tmpfs", unix.MS_RDONLY, "")
		}, err: "/d/f is on a read-only mount, ROOT/d (mount -o remount,rw ROOT/d)"},
		{name: "below a read-only mount", path: "/d/x/y/f", start: func(t *testing.T, root string) {
			mount(t, "tmpfs", root+"/d", "tmpfs", unix.MS_RDONLY, "")
		}, err: "/d/x/y/f is on a read-only mount, ROOT/d (mount -o remount,rw ROOT/d)"},
		{name: "full", path: "/d/f", start: func(t *testing.T, root string) {
			mount(t, "tmpfs", root+"/d", "tmpfs", 0, "size=64k")
			require.ErrorIs(t, os.WriteFile(root+"/d/full", make([]byte, 1<<20), 0o600), unix.ENOSPC)
		}, err: "the file system of /d is full: 0 B free, 3 B needed (df /d)"},
		{name: "full, in place", path: "/d/f", start: func(t *testing.T, root string) {
			mount(t, "tmpfs", root+"/d", "tmpfs", 0, "size=64k")
			require.NoError(t, os.WriteFile(root+"/d/f", []byte("old"), 0o600))
			require.NoError(t, unix.Mount(root+"/d/f", root+"/d/f", "", unix.MS_BIND, ""))
			require.ErrorIs(t, os.WriteFile(root+"/d/full", make([]byte, 1<<20), 0o600), unix.ENOSPC)
		}, note: "in place, because it is a mount point"},
		{name: "no more files", path: "/d/f", start: func(t *testing.T, root string) {
			mount(t, "tmpfs", root+"/d", "tmpfs", 0, "nr_inodes=2")
			require.NoError(t, os.WriteFile(root+"/d/last", nil, 0o600))
		}, err: "the file system of /d can hold no more files (df -i /d)"},
		{name: "setting of the kernel", whole: true, path: "/proc/sys/kernel/domainname",
			err: `/proc/sys/kernel/domainname is a kernel setting: use std.sysctl, which also sets it at boot (sysctl { "kernel.domainname", value = ... })`},
		{name: "file of the kernel", whole: true, path: comm, note: "in place, because the kernel provides it"},
		{name: "removed file of the kernel", whole: true, path: comm, kind: safepath.Missing, err: comm + " cannot be removed: the kernel provides it"},
		{name: "no such file of the kernel", whole: true, path: "/proc/no-such-file",
			err: "/proc/no-such-file cannot be created or removed: the kernel provides all files in /proc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, root := hosttest.New(t, nil)
			require.NoError(t, os.WriteFile(root+"/f", []byte("old"), 0o644))
			require.NoError(t, os.Mkdir(root+"/d", 0o755))
			if tt.whole {
				h = host.New(host.Options{})
			} else {
				tt.start(t, root)
			}
			path := tt.path
			if path == "" {
				path = "/f"
			}
			kind := safepath.Regular
			if strings.HasPrefix(tt.name, "removed") {
				kind = tt.kind
			}
			notes, err := host.Obstacles(h.Planning(t.Context()), overlay.PathEffect{Path: path, Kind: kind, Content: new("new")})
			if tt.err != "" {
				require.EqualError(t, err, strings.ReplaceAll(tt.err, "ROOT", root))
				if kind == safepath.Missing {
					require.Error(t, h.Remove(path))
				} else if path != "/proc/sys/kernel/domainname" { // which can be written, but does not stay
					require.Error(t, h.WriteFile(path, strings.NewReader("new"), me()))
				}
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.note, strings.Join(notes, ""))
			attr := me()
			if tt.whole {
				info, err := h.Lstat(path)
				require.NoError(t, err)
				attr.Mode = info.Mode
			}
			require.NoError(t, h.WriteFile(path, strings.NewReader("new"), attr))
			text, err := h.ReadText(path, 1<<10)
			require.NoError(t, err)
			require.Equal(t, "new", strings.TrimSpace(text))
		})
	}
}

// TestNoObstacle: what a command changes in a file system of the kernel, as std.sysctl does, and what is unknown, is not
// judged.
func TestNoObstacle(t *testing.T) {
	h := host.New(host.Options{})
	for _, p := range []overlay.PathEffect{
		{Path: "/proc/sys/kernel/domainname", Kind: safepath.Regular},
		{Path: "/proc/sys/kernel/no-such-setting", Kind: safepath.Regular},
		{Path: "/proc/no-such-directory", Kind: safepath.Directory},
		{Path: "/proc/sys", Vague: true},
		{Path: "/proc/version", Unsure: true},
	} {
		notes, err := host.Obstacles(&h.View, p)
		require.NoError(t, err, p.Path)
		require.Empty(t, notes)
	}
}

// TestRootMayNotWrite: a plan of root without the right to write everywhere says so.
func TestRootMayNotWrite(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.Chmod(root, 0o755))
	require.NoError(t, os.Mkdir(root+"/d", 0o755))
	require.NoError(t, os.Chown(root+"/d", 4711, 4711))
	plan, run := make(chan error), make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks it: the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		err := unix.Capget(&header, &data[0])
		data[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
		if err == nil {
			err = unix.Capset(&header, &data[0])
		}
		if err == nil {
			_, err = host.Obstacles(&h.View, overlay.PathEffect{Path: "/d/f", Kind: safepath.Regular})
		}
		plan <- err
		run <- h.WriteFile("/d/f", strings.NewReader("new"), me())
	}()
	require.EqualError(t, <-plan, "root cannot write in /d: permission denied (user namespace, missing capability, or root_squash of NFS)")
	require.ErrorIs(t, <-run, unix.EACCES)
}

// TestReadsBack: a file of the kernel has the value that it reads back, in its own way to write it.
func TestReadsBack(t *testing.T) {
	h := host.New(host.Options{})
	comm := fmt.Sprintf("/proc/%d/comm", os.Getpid())
	require.True(t, host.IsOfKernel(&h.View, comm))
	text, err := os.ReadFile(comm)
	require.NoError(t, err)
	for value, want := range map[string]bool{strings.TrimSpace(string(text)): true, string(text): true, "another": false} {
		same, err := host.ReadsBack(&h.View, comm, value)
		require.NoError(t, err)
		require.Equal(t, want, same, value)
	}
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(root+"/scheduler", []byte("none [mq-deadline] kyber\n"), 0o644))
	require.False(t, host.IsOfKernel(&h.View, "/scheduler"))
	for value, want := range map[string]bool{"mq-deadline\n": true, "none": false, "": false} {
		same, err := host.ReadsBack(&h.View, "/scheduler", value)
		require.NoError(t, err)
		require.Equal(t, want, same, value)
	}
}

// TestChosenValue: what a file of the kernel reads back, a list with the chosen value in brackets, can be written again,
// as an undo does.
func TestChosenValue(t *testing.T) {
	const path = "/sys/kernel/mm/transparent_hugepage/defrag"
	text, err := os.ReadFile(path)
	if err != nil || os.Geteuid() != 0 || !strings.Contains(string(text), "[") {
		t.Skip("no such setting")
	}
	h := host.New(host.Options{})
	if _, err := host.Obstacles(&h.View, overlay.PathEffect{Path: path, Kind: safepath.Regular}); err != nil {
		t.Skip(err)
	}
	info, err := h.Lstat(path)
	require.NoError(t, err)
	require.NoError(t, h.WriteFile(path, strings.NewReader(string(text)), safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}
