//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// luaSite is the step of the site of Lua types in a state.
func luaSite(state string, does ...string) step {
	return step{site: "lua/site.lua " + state, does: does}
}

// TestLuaTypes converges a site of three modules with the Lua types that need a real system: resources are made,
// changed, and removed, each time twice.
func TestLuaTypes(t *testing.T) {
	l := boot(t, debian)
	l.sh(`mkdir -p /srv/extra
		cp /srv/ccm-lab/apt/ccm-demo_1.0* /srv/extra
		cd /srv/extra && apt-ftparchive packages . > Packages && apt-ftparchive release . > Release`)

	one := luaSite("one",
		"group#deploy: Created the group",
		"user#app: Created the user",
		"group#ops: Created the group",
		"directory#/srv/www: Created the directory",
		"link#/srv/current: Created the link",
		"unit#it.service: Created the unit",
		"unit#it limits: Created the unit",
		"timer#report: Created the timer",
		"file#/etc/it.conf: Created an empty file",
		"kv#Port: Added the setting",
		"kv#Name: Added the setting",
		"line#/etc/it.conf: Added the line",
		"block#hosts: Added the block",
		"ini#listen: Added the setting",
		"cron#report: Created the cron job",
		"sysctl#net.ipv4.ip_default_ttl: Set the kernel setting",
		"apt_repo#extra: Added the repository",
	)
	l.converge(one)
	l.says("uid=4100(app) gid=4100(app) groups=4100(app),4200(deploy),4001(ops)", "id app | sed 's/gid=[0-9]*(app)/gid=4100(app)/; s/groups=[0-9]*(app)/groups=4100(app)/; s/[0-9]*(ops)/4001(ops)/'")
	l.says("app:x:4100:App:/srv/app:/usr/sbin/nologin", "getent passwd app | cut -d: -f1-3,5-")
	l.says("root:root 640", "stat -c %U:%G' '%a /srv/www/css/site.css")
	l.says("<html></html>", "cat /srv/current/index.html")
	l.is("it", "active", "enabled")
	require.Equal(t, "1234", l.show("it", "LimitNOFILE"))
	l.is("report.timer", "active", "enabled")
	require.Contains(t, l.show("report.timer", "TimersCalendar"), "OnCalendar=*-*-* *:00:00")
	l.sh("systemctl start report.service")
	l.says("ran", "cat /run/report")
	l.says("Port 22\nName one\n# kept\n\n[server]\nlisten = one", "cat /etc/it.conf")
	l.says("root:root 640", "stat -c %U:%G' '%a /etc/it.conf")
	l.says("63", "cat /proc/sys/net/ipv4/ip_default_ttl")
	l.says("file:/srv/extra ./ Packages", "apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(CREATED_BY)' | grep extra | sed 's|file:/srv/extra/ |file:/srv/extra |'")

	two := luaSite("two",
		"group#deploy: Updated the group",
		"user#app: Updated the user",
		"group#ops: Updated the group",
		"directory#/srv/www: Updated the attributes of 4 entries",
		"link#/srv/current: Updated the link",
		"unit#it.service: Updated the unit",
		"unit#it limits: stable",
		"timer#report: Updated the timer",
		"file#/etc/it.conf: stable",
		"kv#Port: Changed the setting",
		"kv#Name: Changed the setting",
		"line#/etc/it.conf: stable",
		"block#hosts: stable",
		"ini#listen: Changed the setting",
		"cron#report: Updated the cron job",
		"sysctl#net.ipv4.ip_default_ttl: Changed the kernel setting",
		"apt_repo#extra: stable",
	)
	two.plan = one.plan
	l.converge(two)
	l.says("4300", "getent group deploy | cut -d: -f3")
	l.says("app,daemon", "getent group ops | cut -d: -f4")
	l.says("The app", "getent passwd app | cut -d: -f5")
	l.says("*", "getent shadow app | cut -d: -f2")
	l.is("it", "active", "disabled")
	require.Equal(t, "no", l.show("it", "NeedDaemonReload"))
	require.Equal(t, "two", l.show("it", "Description"))
	require.Contains(t, l.show("report.timer", "TimersCalendar"), "OnCalendar=Mon *-*-* 03:00:00")
	l.says("62", "cat /proc/sys/net/ipv4/ip_default_ttl")

	// Files and accounts were changed manually, and systemd has not read a unit.
	l.sh(`usermod -s /bin/sh app; systemctl stop report.timer; sysctl -q -w net.ipv4.ip_default_ttl=70
		touch /srv/www/mine; echo '# mine' >> /etc/systemd/system/it.service.d/limits.conf; sleep 0`)
	third := luaSite("two",
		"group#deploy: stable",
		"user#app: Updated the user",
		"group#ops: stable",
		"directory#/srv/www: Purged 1 entry",
		"link#/srv/current: stable",
		"unit#it.service: Reloaded systemd",
		"unit#it limits: Updated the unit",
		"timer#report: Updated the timer",
		"file#/etc/it.conf: stable",
		"kv#Port: stable",
		"kv#Name: stable",
		"line#/etc/it.conf: stable",
		"block#hosts: stable",
		"ini#listen: stable",
		"cron#report: stable",
		"sysctl#net.ipv4.ip_default_ttl: Changed the kernel setting",
		"apt_repo#extra: stable",
	)
	third.plan = one.plan
	_, run := l.converge(third)
	require.Equal(t, "corrective", run.event("user#app").Reason)
	require.Equal(t, "shell: /bin/sh → /usr/sbin/nologin", run.event("user#app").Diff[0].String())
	require.Equal(t, "value: 70 → 62", run.event("sysctl#net.ipv4.ip_default_ttl").Diff[0].String())
	l.says("62", "cat /proc/sys/net/ipv4/ip_default_ttl")

	gone := luaSite("gone",
		"user#app: Removed the user",
		"group#deploy: Removed the group",
		"group#ops: Removed the group",
		"directory#/srv/www: Removed the directory",
		"link#/srv/current: Removed the link",
		"unit#it.service: Removed the unit",
		"unit#it limits: Removed the unit",
		"timer#report: Removed the timer",
		"file#/etc/it.conf: stable",
		"kv#Port: Removed the setting",
		"kv#Name: Removed the setting",
		"line#/etc/it.conf: Removed the line",
		"block#hosts: Removed the block",
		"ini#listen: Removed the setting",
		"cron#report: Removed the cron job",
		"sysctl#net.ipv4.ip_default_ttl: Removed the kernel setting",
		"apt_repo#extra: Removed the repository",
	)
	gone.plan = one.plan
	l.converge(gone)
	l.says("", "getent passwd app || getent group deploy || getent group ops || ls /etc/cron.d | grep report || :")
	l.says("inactive", "systemctl is-active report.timer || :")
	l.says("inactive", "systemctl is-active it || :")
	l.says("62", "cat /proc/sys/net/ipv4/ip_default_ttl")
}

// TestLuaAptRepoUnread: a repository that apt cannot read is removed again, so that the next run tries again.
func TestLuaAptRepoUnread(t *testing.T) {
	l := boot(t, debian)
	l.converge(step{
		site: "lua/repo.lua file:/no/such/repository",
		does: []string{"apt_repo#extra: failed"},
		plan: map[string]string{"apt_repo#extra": "Would have added the repository"},
		errs: map[string][]string{"apt_repo#extra": {"apt-get", "/no/such/repository"}},
	})
	l.says("", "ls /etc/apt/sources.list.d")
}
