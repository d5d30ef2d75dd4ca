package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file system that is mounted below a directory, of another device or by mount --bind, is neither purged nor
// removed.
func TestMountsAreLeftAlone(t *testing.T) {
	long(t)
	const mounts = `mkdir -p d/device d/sub/bind d/other bound tree; echo mine > bound/precious; echo x > d/other/x; echo y > tree/keep; echo f > single; echo g > d/single
		mount -t tmpfs tmpfs d/device; echo mine > d/device/precious; mount --bind bound d/sub/bind; mount --bind single d/single
		%s
		ccm run --state-dir state site.lua || echo "status $?"
		cat bound/precious d/device/precious d/single; ls d`
	for what, c := range map[string]struct{ script, before, want string }{
		"purge of what nobody declares": {
			`require "std.directory" { DIR .. "/d", purge = true }`, "", "purge  other → removed",
		},
		"purge of what a source has not": {
			`require "std.directory" { DIR .. "/d", purge = true, source = "tree" }`, "", "purge  other, other/x → removed",
		},
		"purge of a scaffold": {
			`scaffold { DIR .. "/d", purge = true, source = "tree" }`, "rm -r d/other", "scaffold#",
		},
		"a declared mount": {
			`require "std.directory" { DIR .. "/d", purge = true }
			require "std.mount" { DIR .. "/d/other", device = "tmpfs", type = "tmpfs" }`, "", "Mounted it",
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir, err := os.MkdirTemp("/var/tmp", "ccm-mounts-") // t.TempDir may be on another file system
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(fmt.Sprintf("local DIR = %q\n%s", dir, c.script)), 0o644))
			cmd := inOwnMounts(t, ownEtc, "sh", "-ec", "cd "+dir+"\n"+fmt.Sprintf(mounts, c.before))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), c.want)
			require.NotContains(t, string(out), "status", "%s", out)
			require.Contains(t, string(out), "\nmine\nmine\nf\n", "%s", out)
		})
	}
	for what, script := range map[string]string{
		"directory": `require "std.directory" { DIR .. "/d/sub", ensure = "absent", with_data = true, backup = false }`,
		"file":      `file { DIR .. "/d/sub", ensure = "absent", force = true }`,
	} {
		t.Run("removal of a "+what, func(t *testing.T) {
			dir, err := os.MkdirTemp("/var/tmp", "ccm-mounts-")
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(fmt.Sprintf("local DIR = %q\n%s", dir, script)), 0o644))
			out, err := inOwnMounts(t, "", "sh", "-ec", "cd "+dir+"\n"+fmt.Sprintf(mounts, "")).CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "skipped, because a file system is mounted at "+dir+"/d/sub/bind (unmount it first)")
			require.NotContains(t, string(out), "status", "%s", out)
			require.Contains(t, string(out), "\nmine\nmine\nf\n", "%s", out)
		})
	}
}

// A failed mount leaves neither a line in fstab nor new directories.
func TestFailedMountLeavesNothing(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "ccm-mounts-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	site := fmt.Sprintf("require 'std.mount' { %q, device = '/dev/null', type = 'ext4' }", dir+"/made/deep")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(site), 0o644))
	out, err := inOwnMounts(t, ownEtc, "sh", "-ec", "cd "+dir+"\nccm run --state-dir state site.lua || :; ls; cat /etc/fstab").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "failed")
	require.Regexp(t, `\nsite\.lua\nstate\n$`, string(out))
}

// Undoing a mount keeps the mounted file system and its mount point, and that is no failure.
func TestUndoOfAMount(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "ccm-mounts-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(fmt.Sprintf(`require "std.mount" { "%s/a/b", device = "tmpfs", type = "tmpfs" }`, dir)), 0o644))
	cmd := inOwnMounts(t, ownEtc, "sh", "-ec", "cd "+dir+`
		: > /etc/fstab; ccm run --state-dir state site.lua; echo mine > a/b/precious
		ccm undo --state-dir state --noop; ccm undo --state-dir state; cat a/b/precious; wc -c /etc/fstab; ccm run --state-dir state site.lua`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, d := range []string{"/a", "/a/b"} {
		require.Equal(t, 2, strings.Count(string(out), ". file#"+dir+d+": skipped, because a file system is mounted at "+dir+"/a/b, which is kept (umount it, then remove the directory)"), "%s", out)
	}
	require.Contains(t, string(out), "3 resources: 1 changed, 2 skipped")
	require.Contains(t, string(out), "mine\n0 /etc/fstab")
	require.Contains(t, string(out), "Added it to /etc/fstab", "%s", out)
}

// The plan of an undo fails where the undo will: on a mount that is read-only now.
func TestUndoOfReadOnly(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "ccm-mounts-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(fmt.Sprintf(`std.line { "%s/d/f", line = "new" }`, dir)), 0o644))
	cmd := inOwnMounts(t, "", "sh", "-ec", "cd "+dir+`
		mkdir d; echo old > d/f; ccm run --state-dir state site.lua; mount --bind d d; mount -o remount,bind,ro d
		for noop in --noop ""; do ccm undo --state-dir state $noop && exit 9; done; cat d/f`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 2, strings.Count(string(out), dir+"/d/f is on a read-only mount, "+dir+"/d (mount -o remount,rw "), "%s", out)
	require.Contains(t, string(out), "old\nnew\n")
}

// Options that the kernel refuses for a module are not kept, and the old ones are restored.
func TestRefusedModuleOptions(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "ccm-module-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "modprobe"), []byte("#!/bin/sh\n[ \"$1\" = --dry-run ] || { cat /etc/modprobe.d/ccmdummy.conf; echo \"modprobe: ERROR: could not insert 'ccmdummy': Invalid argument\"; exit 1; } >&2\n"), 0o755))
	cmd := inOwnMounts(t, ownEtc+"\nPATH="+dir+":$PATH", "sh", "-ec", "cd "+dir+`
		mkdir -p /etc/modprobe.d; try() { ccm ensure --state-dir state kernel_module ccmdummy --options size=x || :; cat /etc/modprobe.d/ccmdummy.conf || :; }
		try; echo options ccmdummy size=1 > /etc/modprobe.d/ccmdummy.conf; try`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 2, strings.Count(string(out), "options ccmdummy size=x"), "%s", out)
	require.Regexp(t, "(?s)Invalid argument.*cat: /etc/modprobe.d/ccmdummy.conf: No such.*Invalid argument.*\noptions ccmdummy size=1\n", string(out))
}

// Swap: a missing file is made and put to use, a file in use is not removed by an undo, and what is no swap area is
// not formatted. The commands and the kernel's list are stand-ins, as swap belongs to the whole machine.
func TestSwap(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "ccm-swap-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	for name, script := range map[string]string{
		"swapon":    `echo "swapon $*" >> log; for at; do :; done; printf '%s file 1000 0 %s\n' "$at" -2 >> swaps`,
		"swapoff":   `echo "swapoff $*" >> log; echo Filename Type Size Used Priority > swaps`,
		"mkswap":    `echo "mkswap $*" >> log; echo SWAPSPACE2 > "$2"`,
		"fallocate": `echo "fallocate $*" >> log`,
		"chattr":    `:`,
		"blkid":     `for at; do :; done; if grep -q SWAPSPACE2 "$at"; then echo swap; else exit 2; fi`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ncd "+dir+"\n"+script+"\n"), 0o755))
	}
	site := fmt.Sprintf("local swap = require 'std.swap'\nswap { %q, size = '1G', options = { 'pri=5' } }\n", dir+"/area")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(site), 0o644))
	off := fmt.Sprintf("local swap = require 'std.swap'\nswap { %q, ensure = 'absent' }\n", dir+"/area")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "off.lua"), []byte(off), 0o644))
	cmd := inOwnMounts(t, ownEtc+"\nPATH="+dir+":$PATH", "sh", "-ec", "cd "+dir+`
		echo Filename Type Size Used Priority > swaps; mount --bind swaps /proc/swaps; : > /etc/fstab
		try() { ccm "$1" --state-dir state "$2" || :; }
		try plan site.lua; ls; try run site.lua; stat -c %a area; cat /etc/fstab; try run site.lua
		swapoff; try run site.lua; try run off.lua; cat /etc/fstab; try run off.lua; cat log
		echo a text > area; try run site.lua; cat area; rm area; sed -i "s/size = '1G', //" site.lua; try run site.lua`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	at := dir + "/area"
	for _, want := range []string{
		"+ swap#" + at + ": Would have created the file. Would have activated it. Would have added it to /etc/fstab (options pri=5)",
		"+ swap#" + at + ": Created the file. Activated it. Added it to /etc/fstab",
		"\n600\n" + at + " none swap pri=5 0 0\nNothing to do: 1 resource up to date",
		"~ swap#" + at + ": Activated it (corrective)\n    ensure  in fstab, but not in use → present",
		"- swap#" + at + ": Deactivated it. Removed it from /etc/fstab",
		"fallocate -l 1G -- " + at + "\nmkswap -- " + at + "\nswapon -o pri=5 -- " + at + "\nswapoff \nswapon -o pri=5 -- " + at + "\nswapoff -- " + at + "\n",
		"failed: " + at + ": expected a swap area, found unknown data (mkswap creates one, and destroys what is there)",
		"\na text\n",
		"failed: " + at + ` does not exist (size = "2G" creates it)`,
	} {
		require.Contains(t, string(out), want)
	}
	require.Equal(t, 2, strings.Count(string(out), "Nothing to do"), "%s", out)
}

// TestMountsBesideAnUncertainOne: a plan knows what becomes of mounts that have nothing to do with an uncertain one.
func TestMountsBesideAnUncertainOne(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(`exec { "mkfs", command = "sh -c true" }
std.mount { "/srv/data", device = "LABEL=ccm-none", type = "ext4", require = "exec#mkfs" }
std.mount { "/old", ensure = "absent" }
std.mount { "/gone", ensure = "absent" }
std.mount { "/srv", ensure = "absent" }
std.mount { "/bound", device = "/srv/data/bound", type = "none", options = { "bind" }, ensure = "present" }
std.mount { "/there", device = "LABEL=x", type = "ext4", ensure = "present" }
std.mount { "/new", device = "tmpfs", type = "tmpfs" }
`), 0o644))
	out, err := inOwnMounts(t, ownEtc, "sh", "-ec", `cd `+dir+`
		printf '%s\n' 'tmpfs /old tmpfs defaults 0 0' 'tmpfs /srv tmpfs defaults 0 0' 'LABEL=x /there ext4 defaults 0 0' > /etc/fstab
		ccm plan --state-dir state --diff off -v site.lua`).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var lines []string
	for line := range strings.Lines(string(out)) {
		mark, _, _ := strings.Cut(line, ":")
		lines = append(lines, mark)
	}
	require.Equal(t, []string{"~ exec#mkfs", "? mount#/srv/data", "- mount#/old", "= mount#/gone", "? mount#/srv", "+ mount#/bound", "= mount#/there", "+ mount#/new"},
		lines[:len(lines)-1], "%s", out)
}
