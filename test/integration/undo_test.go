//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUndoOfPrune: undo of a prune makes again what files do not bring back: packages, accounts, units, timers, mounts and
// alternatives. cmd/ccm/undoprune_test.go has the other types.
func TestUndoOfPrune(t *testing.T) {
	l := boot(t, debian)
	l.sh("mkdir -p /root/undo; apt-get -qq update")
	l.write("/root/undo/site.lua", []byte(`
local user, group = require "std.user", require "std.group"
local unit, timer, mount, alternative = require "std.unit", require "std.timer", require "std.mount", require "std.alternative"
package { "ccm-demo", ensure = "1.0" }
group { "crew", gid = 4242 }
group { "more", members = { "crewman" }, require = "user#crewman" }
user { "crewman", uid = 4343, groups = { "crew" }, comment = "A B", shell = "/bin/bash", manage_home = true, max_days = 90, expires = "2030-01-31" }
file { "/home/crewman/notes", content = "notes\n", owner = "crewman", group = "crewman", mode = "0640" }
unit { "app.service", content = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n", enable = true, active = true }
timer { "tick", command = "/bin/true", schedule = { "daily" } }
mount { "/mnt/x", device = "tmpfs", type = "tmpfs", options = { "size=1M" } }
alternative { "ed2", path = "/bin/true", link = "/usr/local/bin/ed2", priority = 5 }
`))
	l.write("/root/undo/none.lua", []byte(`exec { "nothing", command = "true", creates = "/" }`))
	out := l.sh(`set +e; cd /root/undo
		state() {
			getent passwd crewman; getent group crew more crewman; grep crewman: /etc/shadow /etc/subuid /etc/subgid
			ls -lan /home/crewman | awk '{print $1,$3,$4,$9}'; cat /home/crewman/notes
			dpkg-query -W -f '${Package} ${Version} ${Status}\n' ccm-demo
			systemctl is-enabled app.service tick.timer; systemctl is-active app.service tick.timer
			grep mnt/x /proc/mounts; grep mnt /etc/fstab; update-alternatives --query ed2; sha256sum /etc/systemd/system/app.service /etc/systemd/system/tick.*
		} 2>&1
		/opt/ccm/ccm run site.lua > log 2>&1 || cat log
		usermod -aG audio crewman; chage -W 3 crewman; usermod -L crewman
		state > before
		cp none.lua site.lua; /opt/ccm/ccm prune --yes site.lua > log 2>&1 || cat log
		state > between; cmp -s before between && echo nothing was removed
		/opt/ccm/ccm undo > log 2>&1 || cat log
		state > after; diff before after && echo SAME`)
	require.Equal(t, "SAME", out)

	// A version that no repository has any more is replaced by another, and that is said. A package that cannot be
	// installed fails.
	out = l.sh(`set +e; mkdir /root/away; mv /srv/ccm-lab/apt/ccm-demo_1.0*.deb /root/away; /srv/ccm-lab/bin/index > /dev/null; apt-get -qq update
		/opt/ccm/ccm ensure package ccm-demo absent
		/opt/ccm/ccm undo; echo "status $?"; dpkg-query -W ccm-demo
		mv /srv/ccm-lab/apt/ccm-demo_*.deb /root/away; /srv/ccm-lab/bin/index > /dev/null; apt-get -qq update
		/opt/ccm/ccm ensure package ccm-demo absent
		/opt/ccm/ccm undo; echo "status $?"`)
	require.Regexp(t, `(?s)Installed \(not as before: .*1\.0.*status 0\nccm-demo\t2\.0\n.*x package#ccm-demo: failed: .*status 4$`, out)
}
