package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inOwnMounts returns a command in a mount namespace in which before has been run.
func inOwnMounts(t *testing.T, before string, words ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("unshare -m: %s", out)
	}
	return exec.Command("unshare", append([]string{"-m", "sh", "-ec", before + "\nexec \"$@\"", "sh"}, words...)...)
}

// ownEtc gives a command a copy of /etc.
const ownEtc = `copy=$(mktemp -d); mount -t tmpfs etc "$copy"; cp -a /etc/. "$copy"; mount --bind "$copy" /etc; umount "$copy"; rmdir "$copy"; : > /etc/fstab`

// Paths that a user could replace by links are not given to mount and useradd, which follow links, and root runs no
// program from a directory of a user.
func TestUsersPaths(t *testing.T) {
	base, err := os.MkdirTemp("/var/tmp", "ccm-users-") // other users have no access to t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	for _, dir := range []string{"", "home", "home/d", "home/www", "home/project", "victim", "root", "root/www", "open", "open/made"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	require.NoError(t, os.Chmod(base, 0o755))
	require.NoError(t, os.Symlink("../victim", filepath.Join(base, "home/link")))
	require.NoError(t, os.Symlink("../home/www", filepath.Join(base, "root/users")))
	require.NoError(t, os.Symlink("www", filepath.Join(base, "root/current")))
	require.NoError(t, os.Chmod(filepath.Join(base, "open"), 0o777|os.ModeSticky))
	site := siteFile(t, "lua", `
		local mount, language_package = require "std.mount", require "std.language_package"
		local base, bind = "`+base+`", { "bind" }
		mount { base .. "/root/1", device = base .. "/home/link", type = "none", options = bind }
		mount { base .. "/root/2", device = base .. "/home/www", type = "none", options = bind }
		mount { base .. "/root/3", device = base .. "/root/users", type = "none", options = bind }
		mount { base .. "/home/d/new", device = "tmpfs", type = "tmpfs" }
		mount { base .. "/home/link", device = "tmpfs", type = "tmpfs", ensure = "present" }
		mount { base .. "/root/users/x", device = "tmpfs", type = "tmpfs" }
		mount { base .. "/root/4", device = "overlay", type = "overlay", options = { "lowerdir=" .. base .. "/root:" .. base .. "/home/link" } }
		mount { base .. "/root/5", device = "overlay", type = "overlay", options = { "lowerdir=" .. base .. "/root", "upperdir=" .. base .. "/home/d", "workdir=/" } }
		mount { base .. "/open/made", device = "tmpfs", type = "tmpfs" }
		for manager in pairs { pip = 1, npm = 1, gem = 1 } do
			language_package { manager, manager = manager, path = base .. "/home/project" }
		end
		local user = require "std.user"
		for i, home in ipairs { "home/new", "home/link/new", "root/users/new", "open/made/new" } do
			user { "ccm-" .. i, home = base .. "/" .. home, manage_home = true }
		end
		mount { base .. "/root/good", device = base .. "/root/current", type = "none", options = bind }
		mount { base .. "/open/roots", device = "tmpfs", type = "tmpfs" }`)
	require.NoError(t, exec.Command("chown", "-R", "-h", "54321:54321", filepath.Join(base, "home"), filepath.Join(base, "open/made")).Run())
	for _, verb := range []string{"plan", "run"} {
		out, err := inOwnMounts(t, ownEtc, "sh", "-c", `ccm "$@"; cat /etc/fstab /proc/self/mountinfo`, "sh", verb, "--state-dir", t.TempDir(), site).CombinedOutput()
		require.NoError(t, err, "%s", out)
		text := string(out)
		for _, name := range []string{"root/1", "root/2", "root/3", "root/4", "root/5", "home/d/new", "home/link", "root/users/x", "open/made"} {
			require.Regexp(t, `x mount#`+base+"/"+name+`: failed: .*( belongs to 54321, so a link could redirect mount| is a link to )`, text)
		}
		for _, name := range []string{"pip", "npm", "gem"} {
			require.Regexp(t, `x language_package#`+name+`: failed: .*/home belongs to 54321, who could make root run anything there`, text)
		}
		for i, home := range []string{"home/new", "home/link/new", "root/users/new", "open/made/new"} {
			require.Regexp(t, fmt.Sprintf(`x user#ccm-%d: failed: .* belongs to 54321, so a link could redirect manage_home on the way to %s/%s `, i+1, base, home), text)
		}
		require.Len(t, listed(t, filepath.Join(base, "victim")), 1, "nothing is made where a link of a user leads")
		require.Equal(t, 2, strings.Count(text, "+ mount#"), text)
		if verb == "run" {
			_, mounted, _ := strings.Cut(text, "failed (")
			require.Len(t, regexp.MustCompile(`(?m)^.*`+base+`/.*$`).FindAllString(mounted, -1), 4, "the two that are mounted and in fstab: %s", mounted)
		}
	}
}
