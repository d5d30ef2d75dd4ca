//go:build integration

package integration

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A situation is one of a public report; test/field.md names the reports. After prepare, the site is planned and run
// twice.
type situation struct {
	name, prepare, site string
	// run is what the first run says of it, a regular expression. The plan says the same after "Would have".
	run string
	// fails says that plan and run fail, with run in the message, and touch nothing.
	fails bool
	// runFails says that only the run fails, in a way that a plan cannot know.
	runFails bool
	// env are variables of ccm.
	env []string
	// after is a script, and says its output, behind the second run, which finds nothing to do.
	after, says string
}

// field tries situations, one after the other, in a lab.
func field(l *lab, all []situation) {
	l.sh("mkdir -p /root/field")
	for _, s := range all {
		l.t.Run(s.name, func(t *testing.T) {
			in := &lab{t: t, name: l.name}
			if s.prepare != "" {
				in.sh(s.prepare)
			}
			file := "/root/field/site.lua"
			in.write(file, []byte(s.site))
			ccm := func(verb string) output {
				return in.exec(slices.Concat([]string{"env"}, s.env, []string{"/opt/ccm/ccm", verb, file})...)
			}
			plan := ccm("plan")
			run := ccm("run")
			again := ccm("run")
			if s.fails || s.runFails {
				if s.runFails {
					require.Zero(t, plan.status, plan.stdout+plan.stderr)
					plan = run
				}
				for _, out := range []output{plan, run, again} {
					require.NotZero(t, out.status, out.stdout+out.stderr)
					require.Regexp(t, s.run, out.stdout+out.stderr)
				}
			} else {
				require.Zero(t, plan.status, plan.stdout+plan.stderr)
				require.Zero(t, run.status, run.stdout+run.stderr)
				require.Regexp(t, "(?i)"+s.run, run.stdout+run.stderr)
				if s.run != "Nothing to do" {
					require.Contains(t, plan.stdout, "pending", plan.stdout)
				}
				require.Regexp(t, "^Nothing to do", again.stdout)
			}
			if s.after != "" {
				require.Equal(t, s.says, in.sh(s.after))
			}
		})
	}
}

// Packages on Debian.
func TestFieldApt(t *testing.T) {
	l := boot(t, debian)
	l.sh(`apt-get -qq update; cd /srv; for p in "mta all" "foreign i386"; do set -- $p; mkdir -p p/DEBIAN
		printf 'Package: field-%s\nVersion: 1.0\nArchitecture: %s\nMaintainer: x <x@example.org>\nProvides: field-%s-agent\nDescription: x\n' $1 $2 $1 > p/DEBIAN/control
		dpkg-deb -b p /srv/ccm-lab/apt/field-$1_1.0_$2.deb > /dev/null; done; /srv/ccm-lab/bin/index > /dev/null; apt-get -qq update`)
	field(l, []situation{
		{name: "present is not upgraded", prepare: "apt-get -qq install -y ccm-demo=1.0 2> /dev/null > /dev/null", site: `package { "ccm-demo" }`, run: "Nothing to do"},
		{
			name: "held and latest", prepare: "apt-mark -qq hold ccm-demo", site: `package { "ccm-demo", ensure = "latest" }`,
			run: "expected 2.0, found 1.0, which is on hold", fails: true,
		},
		{name: "held in the wanted version", site: `package { "ccm-demo", ensure = "1.0" }`, run: "Nothing to do"},
		{
			name: "held by the site", site: `package { "ccm-demo", ensure = "1.1", hold = true }`, run: "Released. Upgraded to 1.1. Held",
			after: "apt-mark showhold; dpkg-query -W -f '${Version}\n' ccm-demo", says: "ccm-demo\n1.1",
		},
		{
			name: "others stay on hold", site: `package { "ccm-demo-epoch", ensure = "latest" }`, run: "Installed latest",
			after: "apt-mark showhold", says: "ccm-demo",
		},
		{name: "virtual", site: `package { "field-mta-agent" }`, run: `field-mta-agent is a virtual package \(use one that provides it: field-mta\)`, fails: true},
		{
			name: "foreign architecture that dpkg does not take", site: `package { "field-foreign:i386" }`,
			run: `architecture i386 is not enabled, only amd64 \(run dpkg --add-architecture i386, then apt-get update\)`, fails: true,
		},
		{
			name: "foreign architecture", prepare: "dpkg --add-architecture i386; apt-get -qq update", site: `package { "field-foreign:i386" }`,
			run: "Installed", after: "dpkg-query -W -f '${Architecture}' field-foreign", says: "i386",
		},
		{
			name: "pinned", prepare: "apt-mark -qq unhold ccm-demo; apt-get -qq remove -y ccm-demo > /dev/null; printf 'Package: ccm-demo\nPin: version 1.1\nPin-Priority: 1001\n' > /etc/apt/preferences.d/field",
			site: `package { "ccm-demo", ensure = "latest" }`, run: `Installed latest \(version 1.1\)`, after: "rm /etc/apt/preferences.d/field", says: "",
		},
		{
			name: "another repository is out of reach", prepare: "apt-get -qq remove -y ccm-demo > /dev/null; echo 'deb http://apt.invalid/debian stable main' > /etc/apt/sources.list.d/bad.list",
			site: `package { "ccm-demo" }`, run: "Installed", after: "rm /etc/apt/sources.list.d/bad.list", says: "",
		},
		{
			name: "the same repository with another key", prepare: "echo 'deb [signed-by=/usr/share/keyrings/old.gpg] file:/srv/ccm-lab/apt ./' > /etc/apt/sources.list.d/old.list",
			site: `require "std.apt_repo" { "lab", uris = "file:/srv/ccm-lab/apt", suites = "./", trusted = true }`,
			run:  "old.list already has the repository file:/srv/ccm-lab/apt ./ with another value of", fails: true,
			after: "rm /etc/apt/sources.list.d/old.list; ls /etc/apt/sources.list.d", says: "",
		},
		{
			// A request to a proxy has the whole URL in the place of the path.
			name: "proxy in the configuration of apt", prepare: `mkdir -p /srv/proxy/http:; ln -s /srv/ccm-lab/apt /srv/proxy/http:/apt.example.org
				systemd-run -q python3 -m http.server 3128 -d /srv/proxy
				until python3 -c "import socket; socket.create_connection(('127.0.0.1', 3128))" 2> /dev/null; do :; done
				echo 'Acquire::http::Proxy "http://127.0.0.1:3128";' > /etc/apt/apt.conf.d/proxy`,
			site: `require "std.apt_repo" { "proxied", uris = "http://apt.example.org", suites = "./", trusted = true }`, run: "Added the repository",
			after: "rm /etc/apt/apt.conf.d/proxy /etc/apt/sources.list.d/proxied.sources", says: "",
		},
		{
			name: "proxy in the environment", env: []string{"http_proxy=http://127.0.0.1:3128"},
			site: `require "std.apt_repo" { "proxied", uris = "http://apt.example.org", suites = "./", trusted = true }`, run: "Added the repository",
		},
	})
}

// Packages on Fedora and its like.
func TestFieldDnf(t *testing.T) {
	l := boot(t, rhel)
	field(l, []situation{
		{
			name: "epoch left out", prepare: "dnf -q -y install ccm-demo-rpm-epoch-1.5", site: `package { "ccm-demo-rpm-epoch", ensure = "0.9" }`,
			run: "Upgraded to 0.9", after: "rpm -q --qf '%{EPOCH}:%{VERSION}' ccm-demo-rpm-epoch", says: "1:0.9",
		},
		{
			name: "older one installed", prepare: "dnf -q -y install ccm-demo-rpm-1.0", site: `package { "ccm-demo-rpm", ensure = "1.1" }`,
			run: "Upgraded to 1.1", after: "rpm -q --qf '%{VERSION}' ccm-demo-rpm", says: "1.1",
		},
		{name: "present is not upgraded", site: `package { "ccm-demo-rpm" }`, run: "Nothing to do", after: "rpm -q --qf '%{VERSION}' ccm-demo-rpm", says: "1.1"},
		{name: "another architecture", site: `package { "ccm-demo-rpm.i686" }`, run: "ccm-demo-rpm.i686", fails: true},
		{name: "what a package provides", site: `package { "ccm-demo-command" }`, run: "ccm-demo-command", fails: true},
		{name: "lock without the plugin", site: `package { "ccm-demo-rpm", hold = true }`, run: "the plugin is in dnf-plugins-core", fails: true},
		{
			name: "a repository without its key", prepare: `printf '[bad]\nname=bad\nbaseurl=http://rpm.invalid/\nskip_if_unavailable=1\nusername=u\npassword=p\n' > /etc/yum.repos.d/bad.repo`,
			site: `package { "ccm-demo-rpm-dep" }`, run: `exit status 1: dnf cannot verify packages of the repository bad: key missing \(set gpgkey, or run rpm --import\)`, fails: true,
		},
		{
			name: "a repository that may be away", prepare: `echo gpgcheck=0 >> /etc/yum.repos.d/bad.repo`,
			site: `package { "ccm-demo-rpm-dep" }`, run: "Installed", after: "rm /etc/yum.repos.d/bad.repo", says: "",
		},
	})
}

// Units of systemd.
func TestFieldUnits(t *testing.T) {
	l := boot(t, debian)
	l.sh(`cd /etc/systemd/system; run='[Service]\nExecStart=/bin/sleep infinity\n'
		printf "$run[Install]\nAlias=nick.service\n" > real.service
		printf "$run[Install]\nWantedBy=multi-user.target\n" > /usr/lib/systemd/system/vendor.service
		printf "$run" > static.service
		printf "$run[Install]\nAlso=also.socket\n" > also.service; printf '[Socket]\nListenStream=/run/also.sock\n[Install]\nWantedBy=sockets.target\n' > also.socket
		printf '[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=notify\nExecStart=/bin/sh -c "sleep 1; exit 1"\nRestart=always\nRestartSec=0\n' > flaps.service
		mkdir -p multi-user.target.wants; ln -s /etc/systemd/system/ghost.service multi-user.target.wants/ghost.service
		ln -s /dev/null masked.service; ln -s /dev/null masked.timer
		systemctl daemon-reload; systemctl enable -q --now vendor; useradd -m away`)
	field(l, []situation{
		{name: "only an alias", site: `service { "real", enable = true }`, run: "Started. Enabled"},
		{name: "by its alias", site: `service { "nick", enable = true }`, run: "Nothing to do"},
		{name: "disabled by its alias", site: `service { "nick", ensure = "unmanaged", enable = false }`, run: `it is an alias of real \(enable or disable that one\)`, fails: true},
		{name: "mask where a file is", site: `service { "real", mask = true }`, run: "/etc/systemd/system/real.service is where the mask would be", fails: true},
		{name: "stop, disable and mask", site: `service { "vendor", ensure = "stopped", enable = false, mask = true }`, run: "Stopped. Disabled. Masked", after: "systemctl is-enabled vendor || :", says: "masked"},
		{name: "unmask", site: `service { "vendor", enable = true, mask = false }`, run: "Unmasked. Started. Enabled"},
		{name: "mask before the package", site: `service { "ccm-demo-auto", ensure = "unmanaged", mask = true }`, run: "Masked", after: "readlink /etc/systemd/system/ccm-demo-auto.service", says: "/dev/null"},
		{name: "a link to a unit that is gone", site: `service { "ghost", ensure = "stopped", enable = false }`, run: `ghost.service remains: run systemctl disable ghost`, fails: true},
		{
			name: "stop what starts again and again", prepare: "systemctl start --no-block flaps; until systemctl is-active flaps | grep -q activating; do :; done",
			site: `service { "flaps", ensure = "stopped" }`, run: "Stopped", after: "systemctl is-active flaps || :", says: "inactive",
		},
		{name: "enabled by its socket", site: `service { "also", ensure = "stopped", enable = true }`, run: "Enabled", after: "systemctl is-enabled also.socket", says: "enabled"},
		{name: "disabled with its socket", site: `service { "also", ensure = "stopped", enable = false }`, run: "Disabled", after: "systemctl is-enabled also.socket || :", says: "disabled"},
		{name: "disable a static one", site: `service { "static", ensure = "stopped", enable = false }`, run: "its unit file lacks an .Install. section: other units start it", fails: true},
		{name: "a user who is not logged in", site: `service { "x", scope = "user", user = "away" }`, run: `is not running \(log in, or run: loginctl enable-linger away`, fails: true},
		{name: "a unit file in the place of a mask", site: `require "std.unit" { "masked.service", content = "[Service]\nExecStart=/bin/true\n" }`, run: `masked.service is masked: .* is a link to /dev/null \(remove it with service \{ "masked.service", mask = false \}`, fails: true},
		{name: "a timer in the place of a mask", site: `require "std.timer" { "masked", command = "/bin/true", schedule = "daily" }`, run: "masked.service is masked", fails: true},
		{
			name: "timer is enabled and started", site: `require "std.timer" { "field", command = "/bin/true", schedule = "daily" }`, run: "Created the timer",
			after: "systemctl is-enabled field.timer; systemctl is-active field.timer", says: "enabled\nactive",
		},
		{
			name: "another schedule is in force", site: `require "std.timer" { "field", command = "/bin/true", schedule = "*-*-* 05:06:07" }`, run: "Updated the timer",
			after: "systemctl show -P TimersCalendar field.timer | grep -c 05:06:07", says: "1",
		},
		{
			name: "drop-in of a socket",
			site: `local unit = require "std.unit"
unit { "port", unit = "also.socket", dropin = "port", content = "[Socket]\nListenStream=/run/other.sock\n" }
service { "also.socket", subscribe = "unit#port" }`,
			run: "Restarted|Started", after: "test -S /run/other.sock && echo listens", says: "listens",
		},
	})
}

// File systems.
func TestFieldMounts(t *testing.T) {
	l := boot(t, debian)
	l.sh("mkdir -p /srv/src /run/src /mnt/self")
	field(l, []situation{
		{
			name: "blanks", site: "require \"std.mount\" { \"/mnt/a b\\tc\", device = \"tmpfs\", type = \"tmpfs\", options = { \"size=1M\" } }", run: "Mounted it. Added it to /etc/fstab",
			after: `tail -n 1 /etc/fstab; findmnt -rno FSTYPE '/mnt/a b	c'; umount '/mnt/a b	c'; systemctl daemon-reload`, says: `tmpfs /mnt/a\040b\011c tmpfs size=1M 0 0` + "\ntmpfs",
		},
		{
			name: "bind", site: `require "std.mount" { "/mnt/bind", device = "/srv/src", type = "none", options = { "bind", "nodev", "noexec", "nosuid", "rw" } }`,
			run: "Mounted it", after: "tail -n 1 /etc/fstab", says: "/srv/src /mnt/bind none bind,nodev,noexec,nosuid,rw 0 0",
		},
		{name: "bind of a directory in a tmpfs", site: `require "std.mount" { "/mnt/run", device = "/run/src", type = "none", options = { "bind" } }`, run: "Mounted it"},
		{
			name: "bind that is mounted already", prepare: "mount -o bind /mnt/self /mnt/self; mount -o remount,bind,nosuid,noatime /mnt/self",
			site: `require "std.mount" { "/mnt/self", device = "/mnt/self", type = "none", options = { "bind", "nosuid" } }`, run: "Added it to /etc/fstab",
			after: "tail -n 1 /etc/fstab", says: "/mnt/self /mnt/self none bind,nosuid 0 0",
		},
		{
			name: "options that the kernel does not tell", site: `require "std.mount" { "/mnt/n", device = "tmpfs", type = "tmpfs", options = { "nofail", "x-systemd.device-timeout=5", "_netdev", "noatime" } }`,
			run: "Mounted it", after: "findmnt -no OPTIONS /mnt/n", says: "rw,noatime",
		},
		{
			name: "noexec is taken away", prepare: "mkdir -p /mnt/o; mount -t tmpfs -o nosuid,noexec tmpfs /mnt/o; echo 'tmpfs /mnt/o tmpfs nosuid,noexec 0 0' >> /etc/fstab",
			site: `require "std.mount" { "/mnt/o", device = "tmpfs", type = "tmpfs", options = { "nosuid" } }`, run: "Remounted it with its options. Updated /etc/fstab",
			after: "findmnt -no OPTIONS /mnt/o", says: "rw,nosuid,relatime",
		},
		{
			name: "only the mounted one has noexec", prepare: "mount -o remount,noexec /mnt/o",
			site: `require "std.mount" { "/mnt/o", device = "tmpfs", type = "tmpfs", options = { "nosuid", "exec" } }`, run: "Remounted it with its options",
			after: "findmnt -no OPTIONS /mnt/o", says: "rw,nosuid,relatime",
		},
		{
			name: "cannot be mounted", site: `require "std.mount" { "/mnt/f", device = "tmpfs", type = "tmpfs", options = { "size=bogus" } }`,
			run: "wrong fs type, bad option", after: "grep -c /mnt/f /etc/fstab || :; ls -d /mnt/f 2> /dev/null || :", says: "0", runFails: true,
		},
		{
			name: "another file system is there", prepare: "mkdir -p /mnt/r; mount -t ramfs ramfs /mnt/r; echo 'tmpfs /mnt/r tmpfs size=1M 0 0' >> /etc/fstab",
			site: `require "std.mount" { "/mnt/r", device = "tmpfs", type = "tmpfs", options = { "size=1M" } }`, run: "Mounted it in place of ramfs",
			after: "findmnt -no FSTYPE /mnt/r", says: "tmpfs",
		},
		{
			name: "unmount what has a file system in it", prepare: "mkdir /mnt/r/in; mount -t tmpfs in /mnt/r/in",
			site: `require "std.mount" { "/mnt/r", device = "tmpfs", type = "tmpfs", options = { "size=1M" }, ensure = "unmounted" }`, fails: true,
			run: `/mnt/r cannot be unmounted, because /mnt/r/in is mounted in it \(unmount that first\)`,
		},
	})
	// With ensure = "absent" both stay, with the line of fstab, and nothing fails.
	l.write("/root/field/site.lua", []byte(`require "std.mount" { "/mnt/r", ensure = "absent" }`))
	for _, verb := range []string{"plan", "run", "run"} {
		out := l.exec("/opt/ccm/ccm", verb, "/root/field/site.lua")
		require.Zero(t, out.status, out.stdout+out.stderr)
		require.Contains(t, out.stdout, "mount#/mnt/r: skipped, because a file system is mounted at /mnt/r/in (unmount it first)")
	}
	l.says("tmpfs", "grep -q '/mnt/r ' /etc/fstab && findmnt -no FSTYPE /mnt/r/in")
	l.sh("umount /mnt/r/in; /opt/ccm/ccm run /root/field/site.lua; ! grep '/mnt/r ' /etc/fstab /proc/self/mounts")
}

// Users of a real system.
func TestFieldUsers(t *testing.T) {
	l := boot(t, debian)
	l.sh("cp /etc/subuid /root/subuid; mkdir -p /nfs; mount -t tmpfs -o ro none /nfs; groupadd team; groupadd twin")
	field(l, []situation{
		{
			name: "range of numbers for containers", site: `require "std.user" { "ada", shell = "/bin/bash" }`, run: "Created the user",
			after: "grep -c ada:100000:65536 /etc/subuid /etc/subgid", says: "/etc/subuid:1\n/etc/subgid:1",
		},
		{name: "range goes with the user", site: `require "std.user" { "ada", ensure = "absent" }`, run: "Removed the user", after: "cmp /etc/subuid /root/subuid", says: ""},
		{
			name: "home on a file system that is read-only", site: `require "std.user" { "bob", home = "/nfs/bob", manage_home = true }`,
			run: "/nfs/bob", fails: true, after: "umount /nfs; userdel bob || :", says: "",
		},
		{
			name: "stale member", prepare: "sed -i 's/^team:.*/&gone,root/' /etc/group", site: `require "std.group" { "team", members = { "root" }, membership = "exact" }`,
			run: "Updated the group", after: "grep ^team: /etc/group | cut -d: -f4", says: "root",
		},
		{
			name: "locked", prepare: "useradd lo; echo 'lo:$6$abc$def' | chpasswd -e; usermod -L lo", site: `require "std.user" { "lo", password = "$6$abc$def", inactive_days = 30 }`,
			run: "Updated the user", after: "grep ^lo: /etc/shadow | cut -d: -f2,7", says: "!$6$abc$def:30",
		},
		{
			name: "unlocked", site: `require "std.user" { "lo", locked = false, expires = "never" }`, run: "Updated the user",
			after: "grep ^lo: /etc/shadow | cut -d: -f2", says: "$6$abc$def",
		},
		{name: "expired", prepare: "chage -E 2020-01-01 lo", site: `require "std.user" { "lo", expires = "never" }`, run: "Updated the user", after: "chage -l lo | grep -c 'Account expires.*never'", says: "1"},
		{name: "a group of that name is there", site: `require "std.user" { "twin" }`, run: "Created the user", after: "id -gn twin", says: "twin"},
		{
			name: "a group that is listed twice", prepare: "useradd tw; groupadd dup; gpasswd -a tw dup; line=$(grep ^dup: /etc/group); echo $line >> /etc/group",
			site: `require "std.user" { "tw", groups = { "dup" }, membership = "exact" }`, run: "Nothing to do",
		},
		{name: "no home", site: `require "std.user" { "nf", home = "/nonexistent", manage_home = true }`, run: "Created the user", after: "ls -d /nonexistent 2> /dev/null || :", says: ""},
		{name: "home that is a device", site: `require "std.user" { "dv", home = "/dev/null", system = true }`, run: "Created the user", after: "test -c /dev/null", says: ""},
		{
			name: "user and group go in one run", prepare: "useradd leaver",
			site: `local user, group = require "std.user", require "std.group"
user { "leaver", ensure = "absent" }
group { "leaver", ensure = "absent" }`,
			run: "Removed the user", after: "getent group leaver || :", says: "",
		},
		{name: "group of a user who stays", prepare: "useradd owner", site: `require "std.group" { "owner", ensure = "absent" }`, run: "owner is the primary group of the user owner and cannot be removed", fails: true},
		{name: "capital letters", site: `require "std.user" { "Carol" }`, run: "Created the user"},
		{
			name: "lines of NIS", prepare: `printf '+::::::\n' >> /etc/passwd; printf '+:::\n' >> /etc/group`,
			site: `local user, group = require "std.user", require "std.group"
group { "ops" }
user { "dan", groups = { "ops" } }`,
			run: "Created the user", after: "id -nG dan; grep -c ^+ /etc/passwd /etc/group", says: "dan ops\n/etc/passwd:1\n/etc/group:1",
		},
	})
}
