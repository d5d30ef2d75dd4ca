package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnwritableFiles: of a file that cannot be replaced by a rename the plan says what the run does, and what to do
// about it. The site is planned, run twice and, where it succeeds, undone.
func TestUnwritableFiles(t *testing.T) {
	const site = `file { "PATH", content = "new\n", owner = "0", group = "0", mode = "0644" }`
	const inPlace = "(in place, because it is a mount point)"
	for what, c := range map[string]struct {
		before string // commands in the directory of the test
		path   string // below that directory, or absolute; "f" if it is empty
		site   string // instead of one file
		want   string // in plan and run; "" if both succeed
		note   string // in plan and run that succeed
		as     string // a program that runs ccm
		after  string // commands that release the file
	}{
		"a mount point":                {before: "echo old > source; touch f; mount --bind source f", note: inPlace},
		"a mount point, edited":        {before: "echo old > source; touch f; mount --bind source f", site: `std.line { "PATH", line = "new" } std.ini { "a", path = "PATH", section = "s", value = "1" }`, note: inPlace},
		"a read-only mount point":      {before: "echo old > source; touch f; mount --bind source f; mount -o remount,ro,bind f", want: "PATH is on a read-only mount, PATH (mount -o remount,rw PATH)"},
		"immutable":                    {before: "echo old > f; chattr +i f", after: "chattr -i f", want: "PATH is immutable (chattr -i PATH)"},
		"append-only":                  {before: "echo old > f; chattr +a f", after: "chattr -a f", want: "PATH is append-only (chattr -a PATH)"},
		"in an immutable directory":    {before: "mkdir d; echo old > d/f; chattr +i d", after: "chattr -i d", path: "d/f", want: "PATH is in an immutable directory (chattr -i DIR/d)"},
		"new in an append-only one":    {before: "mkdir d; chattr +a d", after: "chattr -a d", path: "d/f", want: "PATH is in an append-only directory (chattr -a DIR/d)"},
		"on a read-only file system":   {before: "mkdir d; mount -t tmpfs tmpfs d; echo old > d/f; mount -o remount,ro d", path: "d/f", want: "PATH is on a read-only mount, DIR/d (mount -o remount,rw DIR/d)"},
		"new on a full file system":    {before: "mkdir d; mount -t tmpfs -o size=8k tmpfs d; head -c 8192 /dev/zero > d/x", path: "d/f", want: "the file system of DIR/d is full: 0 B free, 4 B needed (df DIR/d)"},
		"no inodes":                    {before: "mkdir d; mount -t tmpfs -o nr_inodes=2 tmpfs d; touch d/x", path: "d/f", want: "the file system of DIR/d can hold no more files (df -i DIR/d)"},
		"root may not write there":     {before: "mkdir d; echo old > d/f; chown 4000 d d/f", path: "d/f", as: "unshare -U -r", want: "root cannot write in DIR/d: permission denied (user namespace, missing capability, or root_squash of NFS)"},
		"a setting of the kernel":      {path: "/proc/sys/kernel/printk", want: "/proc/sys/kernel/printk is a kernel setting: use std.sysctl, which also sets it at boot"},
		"a new file of the kernel":     {path: "/proc/new", want: "/proc/new cannot be created or removed: the kernel provides all files in /proc"},
		"the kernel only shows it":     {path: "/proc/version", want: "/proc/version is read-only: the kernel lets nobody change it"},
		"sysfs only shows it":          {before: "test -e /sys/kernel/notes || exit 77", path: "/sys/kernel/notes", want: "/sys/kernel/notes is read-only: the kernel lets nobody change it"},
		"a setting that is only shown": {site: `std.sysctl { "kernel.ostype", value = "x", path = "PATH" }`, want: "/proc/sys/kernel/ostype is read-only: the kernel lets nobody change it"},
		"a swap file in use": {before: "dd if=/dev/zero of=f bs=64k count=2 2>/dev/null; chmod 600 f; mkswap f >/dev/null; swapon f 2>/dev/null || exit 77", after: "swapoff f",
			want: "PATH is a swap file in use (swapoff PATH)"},
		"a program that runs":     {before: "cp $(command -v sleep) f; ./f 60 & echo $! > pid; while ! readlink /proc/$!/exe | grep -q /f; do :; done", after: "kill $(cat pid)", note: "the file"},
		"a pipe":                  {before: "mkfifo f", want: "expected a file, found a device, socket or pipe, which is not replaced"},
		"below a file":            {before: "touch d", path: "d/f", want: "DIR/d is not a directory"},
		"a name that is too long": {path: strings.Repeat("x", 300), want: "file name too long"},
	} {
		t.Run(what, func(t *testing.T) {
			long(t)
			dir, err := os.MkdirTemp("/var/tmp", "ccm-unwritable-") // t.TempDir may be on a file system without attributes
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			require.NoError(t, os.Chmod(dir, 0o755))
			path := c.path
			if path == "" {
				path = "f"
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			text := c.site
			if text == "" {
				text = site
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(strings.ReplaceAll(text, "PATH", path)), 0o644))
			do := "for c in plan run run; do echo \"== $c\"; " + c.as + " ccm $c --state-dir state/s site.lua 2>&1 || true; done"
			if c.want == "" {
				do += "; echo == undo; ccm undo --state-dir state/s; cat " + path
			}
			if c.after != "" {
				do += "; " + c.after
			}
			cmd := inOwnMounts(t, "cd "+dir+"\nmkdir -m 1777 state\n"+c.before, "sh", "-c", do)
			cmd.Env = append(os.Environ(), "NO_COLOR=1", "HOME="+dir)
			raw, err := cmd.CombinedOutput()
			if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 77 {
				t.Skipf("this machine does not do that: %s", raw)
			}
			require.NoError(t, err, "%s", raw)
			parts := strings.Split(string(raw), "== ")
			expand := strings.NewReplacer("PATH", path, "DIR", dir).Replace
			if c.want == "" {
				require.Len(t, parts, 5, "%s", raw)
				require.Contains(t, parts[1], c.note, "the plan")
				require.Contains(t, parts[2], c.note, "the run")
				require.Contains(t, parts[3], "Nothing to do", "the second run")
				require.NotContains(t, parts[4], "new\n")
				return
			}
			require.Len(t, parts, 4, "%s", raw)
			require.Contains(t, parts[1], "failed: ", "the plan")
			require.Contains(t, parts[1], expand(c.want), "the plan")
			require.Contains(t, parts[2], expand(c.want), "the run")
			require.Contains(t, parts[3], expand(c.want), "the second run")
		})
	}
}
