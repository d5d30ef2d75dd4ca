package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestUndoOfPrune: for every type that can remove a thing and works without packages, undo of a prune makes what it
// removed as it was: files, accounts with numbers, groups, administrators, ages and passwords, and mounts. That of packages, units and
// others is in test/integration/undo_test.go.
func TestUndoOfPrune(t *testing.T) {
	long(t)
	archive := hosttest.TarGzip(t, hosttest.Dir("lib", 0o755), hosttest.File("lib/f", "x"))
	sites := maps.Clone(removable)
	more := func(name, site string) {
		x := sites["file"]
		x.site = site
		sites[name] = x
	}
	more("accounts", `
		local user, group = require "std.user", require "std.group"
		group { "ccm-crew", gid = 64001 }
		user { "ccm-u", uid = 64002, groups = { "ccm-crew" }, comment = "A B", shell = "/bin/sh", password = "$6$abcdefgh$0123456789abcdefghijklmnopqrstuvwxyz", max_days = 90, expires = "2030-01-31", last_change = "2025-03-04", subuids = { "700000:65536" } }
		user { "ccm-fresh", system = true, password = "*", last_change = "1970-01-01" }
		user { "ccm-locked", uid = 64003, last_change = "never", password = "!$6$abcdefgh$0123456789abcdefghijklmnopqrstuvwxyz", system = true }
		user { "ccm-none", uid = 64002, non_unique = true, group = "ccm-crew" }
		group { "ccm-more", gid = 64004, members = { "ccm-u" }, admins = { "ccm-fresh", "ccm-u" }, password = "$6$abcdefgh$Gabcdefghijklmnopqrstuvwxyz" }
		group { "ccm-star", password = "*" }
		exec { "gpasswd --administrators ccm-u audio", unless = "grep -q audio:.*:ccm-u: /etc/gshadow" }
		exec { "gpasswd --administrators ccm-u,ccm-locked ccm-u", unless = "grep -q ccm-u:.*:ccm-u,ccm-locked: /etc/gshadow" }`)
	more("mount", `require "std.mount" { DIR .. "/w/m", device = "tmpfs", type = "tmpfs", options = { "size=1M" } }`)
	more("timer and unit", `
		require "std.unit" { "ccm-foreign.service", content = "[Service]\nExecStart=/bin/true\n" }
		require "std.timer" { "ccm-tick", command = "/bin/true", schedule = { "daily" } }`)
	for name, c := range sites {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("/var/tmp", "ccm-undo-")
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			require.NoError(t, os.Chmod(dir, 0o755))
			head := fmt.Sprintf("local DIR = %q\n", dir)
			for file, text := range map[string]string{"site.lua": head + strings.ReplaceAll(c.site, "MORE", ""), "none.lua": head, "tree/f": "x\n", "a.tgz": string(archive)} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
			}
			prepare := ""
			if c.file != "" {
				prepare = "echo '# mine' > w/" + c.file
			}
			if c.stay != "" {
				prepare = "mkdir -p $(dirname w/" + c.stay + "); echo mine > w/" + c.stay
			}
			do := "cd " + dir + `
				state() {
					find w /etc -xdev \( -name w -o -path 'w/*' -o -name '*ccm-*' \) -printf '%p %y %m %U %G %l\n' | sort
					find w /etc -xdev -type f \( -path 'w/*' -o -name '*ccm-*' \) ! -path '*/.git/index' -exec sha256sum {} + | sort
					grep -h ccm- /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/subuid /etc/subgid | sort
					grep -h ` + dir + ` /etc/fstab
					grep -c ' ` + dir + `/w/m ' /proc/self/mountinfo
				}
				export HOME=` + dir + `
				mkdir w; git init -q repository; cd repository; echo x > f; git add f; git -c user.name=x -c user.email=x@y commit -qm x; cd ..
				` + prepare + `
				ccm run --state-dir state site.lua || exit
				state > before
				cp none.lua site.lua
				ccm prune --yes --state-dir state site.lua || exit
				state > between
				cmp -s before between && echo "nothing was removed"
				ccm undo --state-dir state --noop > plan || exit
				ccm undo --state-dir state || exit
				state > after
				diff before after && echo SAME
				ccm undo last --state-dir state --noop > /dev/null`
			out, err := inOwnMounts(t, ownEtc, "sh", "-c", do).CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "\nSAME\n", "%s", out)
			require.NotContains(t, string(out), "nothing was removed", "%s", out)
			require.NotContains(t, string(out), "is not changed", "%s", out)
			require.NotContains(t, string(out), "are not changed", "%s", out)
			records, err := filepath.Glob(filepath.Join(dir, "state/runs/*"))
			require.NoError(t, err)
			require.NotEmpty(t, records)
			for _, file := range records {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				require.NotContains(t, string(text), "abcdefgh", "a password is in %s", file)
			}
		})
	}
}
