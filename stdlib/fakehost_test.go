package stdlib_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lua that calls the functions of a module with a host of its own: what they say of a running system.
func TestModulesOnFakeHosts(t *testing.T) {
	for name, script := range map[string]string{
		"units": `
			local systemd = require "std.systemd"
			-- Starts a unit, of which systemctl show tells that, and returns the error.
			local function start(unit, shown, fails)
				local host = {
					root = "/", live = true, stat = function() return { kind = "directory" } end, which = function(c) return "/bin/" .. c end,
					run = function() if fails then error(fails, 0) end end,
					query = function(c)
						if c[1] == "journalctl" then return c[2] == "--sync" and "" or "boom\nexited, status=3", 0 end
						return str.join(shown, "\n"), 0
					end,
				}
				local ok, err = pcall(systemd.start, host, unit)
				return not ok and err or nil
			end
			local log = "\nend of its log:\n  boom\n  exited, status=3"
			check(start("a.service", { "ActiveState=active", "SubState=running", "ExecMainCode=0" }), nil)
			check(start("a.timer", { "ActiveState=active", "SubState=waiting" }), nil)
			check(start("a.service", { "ActiveState=failed", "Result=exit-code", "ExecMainCode=1", "ExecMainStatus=3" }), "the unit failed after the start (result exit-code, exit status 3)" .. log)
			check(start("a.service", { "ActiveState=activating", "SubState=auto-restart", "Result=signal", "ExecMainCode=2", "ExecMainStatus=9" }), "the unit failed after the start (result signal, signal 9)" .. log)
			check(start("a.timer", { "ActiveState=failed", "Result=resources" }), "the unit failed after the start (result resources)" .. log)
			check(start("a.service", { "ActiveState=inactive", "Type=oneshot" }), "the unit finished: a oneshot service without RemainAfterExit=yes is never active" .. log)
			check(start("a.service", { "ActiveState=inactive", "Type=simple" }), "the unit is not active after the start" .. log)
			check(start("a.timer", {}, "has a bad unit file setting"), "has a bad unit file setting" .. log)`,
		"busybox": `
			local accounts, busybox = require "std.accounts", require "std.busybox"
			-- Runs a command of shadow on a machine with these programs, and returns what was run.
			local function ran(has, root, ...)
				local list = {}
				local host = { root = root, which = function(c) return tbl.contains(has, c) and "/usr/sbin/" .. c or nil end, run = function(c) c.below_root, c.changes = nil, nil; list[#list + 1] = c end }
				local ok, err = pcall(accounts.run, host, ...)
				if not ok then return err end
				return str.join(tbl.map(list, function(c) return str.join(tbl.map(c, function(w) return w == "" and "''" or w end), " ") end), "; ")
			end
			local alpine = { "adduser", "deluser", "addgroup", "delgroup" }
			check(ran(alpine, "/", "groupadd", { "--gid", 4000 }, "web"), "addgroup -g 4000 web")
			check(ran(alpine, "/", "groupadd", nil, "--system", "web"), "addgroup -S web")
			check(ran(alpine, "/", "groupdel", "web"), "delgroup web")
			check(ran(alpine, "/", "userdel", "bob"), "deluser bob")
			check(ran(alpine, "/", "useradd", { "--user-group", "--no-create-home" }, "bob"), "adduser -D -H -g '' -s /bin/sh bob")
			check(ran(alpine, "/", "useradd", { "--uid", 4001, "--gid", "web", "--comment", "Bob", "--shell", "/bin/ash", "--groups", "adm,wheel", "--home-dir", "/srv/bob", "--create-home" }, "bob"),
				"adduser -D -u 4001 -G web -g Bob -s /bin/ash -h /srv/bob bob; delgroup bob web; addgroup bob adm; addgroup bob wheel")
			check(ran(alpine, "/", "useradd", { "--user-group", "--system", "--no-create-home" }, "d"), "addgroup -S d; adduser -D -S -H -g '' -s /bin/sh -G d d; delgroup d d")
			check(ran(alpine, "/", "useradd", { "--uid", 1, "--non-unique" }, "d"), "adduser of busybox has no --non-unique (install the package shadow)")
			check(ran(alpine, "/", "usermod", "--shell", "/bin/sh", "bob"), "usermod --shell /bin/sh bob")
			-- A plan says that too.
			local here = { root = "/", which = function(c) return tbl.contains(alpine, c) and "/usr/sbin/" .. c or nil end }
			check(busybox.program(here, "useradd", { non_unique = true }), "useradd")
			check(busybox.program(here, "userdel", { non_unique = true }), "deluser")
			check(busybox.program(here, "groupadd", {}), "addgroup")
			-- Debian has both; in an image it is this machine that has them.
			check(ran({ "useradd", "adduser" }, "/", "useradd", "bob"), "useradd bob")
			check(ran(alpine, "/r", "useradd", "bob"), "useradd --prefix /r bob")
			check(ran({}, "/", "useradd", "bob"), "useradd bob")`,
		"linked unit": `
			local systemd = require "std.systemd"
			for _, links in ipairs { true, false } do
				local ran, there = {}, true
				local host = { root = "/r",
					stat = function(p) return there and { kind = "link", target = links and "/opt/lk.service" or "/dev/null" } or nil end,
					run = function(c) ran[#ran + 1] = c[5]; if c[5] == "disable" then there = false end end }
				systemd.enable(host, "lk.service", false)
				check(str.join(ran, " "), links and "disable link" or "disable")
			end`,
		"calendar": `
			local calendar = require "std.calendar"
			for _, s in ipairs { "daily", "Mon *-*-* 03:30", "*-*-* *:00/15:00", "Mon..Fri 10:00", "Sat,Sun 20:00", "Mon,Wed-Fri 1:2:3.5", "2027-01-31", "*-02~01", "1..5:00",
				"*:0/5", "hourly UTC", "Mon 10:00 Europe/Berlin", "12-31 23:59", "weekly Europe/Berlin", "*-*-01,15 00:00", "05:40:23.4200004/3.1700005", "@1395716396", "Thu *-*-1..7" } do
				check(calendar.mistake(s), nil)
			end
			for _, s in ipairs { "", " ", "monda", "now", "half-yearly", "UTC", "Mon-", "2026", "*", "48hr", "5 minutes", "* *-*-* 10:00" } do
				check(calendar.mistake(s), "expected a time such as Mon *-*-* 03:30, or a word such as daily")
			end
			check(calendar.mistake "Mon *-*-* 25:00", 'hour must be 0 to 23, got "25"')
			check(calendar.mistake " ", 'expected a time such as Mon *-*-* 03:30, or a word such as daily')
			check(calendar.mistake "*:60", 'minute must be 0 to 59, got "60"')
			check(calendar.mistake "*-13-01", 'month must be 1 to 12, got "13"')
			check(calendar.mistake "*-*-32 03:00", 'day must be 1 to 31, got "32"')
			check(calendar.mistake "*-*-* *:0/0", 'minute must have a step above 0, got "0/0"')
			check(calendar.mistake "Foo 03:30", "no such day of the week: Foo")`,
		"devices": `
			local devices = require "std.devices"
			-- Whether the device of an entry is there on a machine with these paths.
			local function ok(e, paths, findfs)
				local host = { root = "/", live = true, which = function() return findfs and "/sbin/findfs" end,
					stat = function(p) return tbl.contains(paths, p) and { kind = "special" } or nil end,
					query = function() return "", findfs == "found" and 0 or 1 end }
				local ok, err = pcall(devices.check, host, tbl.merge({ type = "ext4", options = {} }, e))
				return ok or err
			end
			check(ok({ device = "UUID=0000-dead" }, {}), "no such device UUID=0000-dead")
			check(ok({ device = "UUID=0000-dead" }, {}, "none"), "no such device UUID=0000-dead")
			check(ok({ device = "UUID=0000-dead" }, {}, "found"), true)
			check(ok({ device = 'LABEL="data"' }, { "/dev/disk/by-label/data" }), true)
			check(ok({ device = "/dev/sdz1", type = "auto" }, {}), "no such device /dev/sdz1")
			check(ok({ device = "/dev/sdz1" }, { "/dev/sdz1" }), true)
			check(ok({ device = "/srv/img", type = "iso9660", options = { "loop" } }, {}), "no such device /srv/img")
			check(ok({ device = "/srv/src", type = "none", options = { "bind" } }, {}), "no such device /srv/src")
			check(ok({ device = "tmpfs", type = "tmpfs" }, {}), true)
			check(ok({ device = "nas:/export", type = "nfs" }, {}), true)
			check(ok({ device = "//nas/share", type = "cifs" }, {}), true)
			check(ok({ device = "overlay", type = "overlay" }, {}), true)`,
		"type of a file system": `
			local type_at = require("std.mount_options").type_at
			local mounts = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:5 / /run rw - tmpfs tmpfs rw\n3 2 8:2 / /run/disk rw - xfs /dev/sdb1 rw\n"
			local host = { read = function() return mounts end }
			for place, want in pairs { ["/"] = "ext4 /", ["/srv/a"] = "ext4 /", ["/run"] = "tmpfs /run", ["/run/x/y"] = "tmpfs /run", ["/run/disk/z"] = "xfs /run/disk", ["/running"] = "ext4 /" } do
				check(str.join({ type_at(host, place) }, " "), want)
			end
			check(type_at({ read = function() end }, "/srv"), nil)`,
		"options": `
			local lacks = require "std.mount_options".lacks
			local function of(wanted, now) return str.join(lacks(str.split(wanted, ","), str.split(now, ",")), ",") end
			check(of("noatime,nosuid,size=1M,nofail,x-systemd.automount", "rw,nosuid,relatime"), "noatime")
			check(of("exec,suid,rw", "rw,noexec,relatime"), "exec")
			check(of("ro,dev", "rw,relatime"), "ro")
			check(of("rw", "ro,relatime"), "rw")
			check(of("defaults", "rw,noexec"), "")
			local ran = {}
			local function remount(kind, refuses)
				ran = {}
				local host = { run = function(c) ran[#ran + 1] = str.join(c, " "); if #ran == 1 and refuses then error("bad option", 0) end end }
				return select(2, pcall(require "std.mount_options".remount, host, { device = "nas:/x", type = kind }, "/mnt", "ro"))
			end
			check(remount("nfs"), nil)
			check(str.join(ran, "; "), "mount -o remount,ro -- nas:/x /mnt")
			check(remount("nfs4", true), nil)
			check(str.join(ran, "; "), "mount -o remount,ro -- nas:/x /mnt; umount -- /mnt; mount -t nfs4 -o ro -- nas:/x /mnt")
			check(remount("ext4", true), "bad option")
			local is_same = require "std.fstab".is_same
			local trigger = { type = "autofs", device = "systemd-1", options = {} }
			check(is_same({}, { type = "nfs", device = "nas:/x", options = { "x-systemd.automount" } }, trigger, "/mnt"), true)
			check(is_same({}, { type = "nfs", device = "nas:/x", options = {} }, trigger, "/mnt"), false)`,
		"masked units": `
			local systemd = require "std.systemd"
			local function refused(target)
				local host = { stat = function() return { kind = "link", target = target } end }
				return select(2, pcall(systemd.refuse_mask, host, "/etc/systemd/system/x.timer"))
			end
			check(refused "/dev/null", "x.timer is masked: /etc/systemd/system/x.timer is a link to /dev/null (remove it with service { \"x.timer\", mask = false })")
			check(refused "/opt/x.timer", nil)`,
		"users of commands": `
			local accounts = require "std.accounts"
			local host = { root = "/", live = true, which = function() return "getent" end, pending_user = function() end,
				read = function(p) return p == "/etc/passwd" and "root:x:0:0::/:/bin/sh\n" or "" end,
				query = function(c) return c[3] == "0" and "root:x:0:0::/:/bin/sh" or c[3] == "ada" and "ada:x:5000:5000::/:/bin/sh" or "", 0 end }
			local function fails(name, by_number) return not pcall(accounts.check_user, host, name, "who runs it", by_number) end
			check(fails("root"), false)
			check(fails("ada"), false)
			check(fails("0"), true) -- cron looks for a name
			check(fails("0", true), false)
			check(fails("99999", true), true)`,
		"directory services": `
			local nss, ran = require "std.nss", {}
			local function with(root, pending, nsswitch) return { root = root, which = function() return "getent" end, read = function() return nsswitch end,
				pending_user = function() return pending end, pending_group = function() return pending end,
				query = function(c) return c[3] == "ada" and "ada:x:5000:5000::/:/bin/sh\n" or c[2] .. c[3] == "groupstaff" and "staff:x:5000:\n" or "", 0 end,
				run = function(c) ran[#ran + 1] = table.concat(c, " ") end } end
			local function refused(host, ...) return select(2, pcall(nss.refuse, host, ...)) end
			check(refused(with "/", "passwd", "ada", "useradd"), "the user ada exists in a directory service but not in /etc/passwd, so useradd cannot create it (see getent passwd ada)")
			check(refused(with "/", "group", "staff", "groupadd"), "the group staff exists in a directory service but not in /etc/group, so groupadd cannot create it (see getent group staff)")
			check(refused(with "/", "passwd", "bob", "useradd"), nil)
			check(refused(with "/image", "passwd", "ada", "useradd"), nil) -- a directory has no services
			check(refused(with("/", { ensure = "absent" }), "passwd", "ada", "useradd"), nil) -- an earlier resource removes it
			check(refused(with("/", nil, "passwd:\tfiles # ldap\ngroup: files sss\n"), "passwd", "ada", "useradd"), nil) -- nobody else is asked
			check(refused(with("/", nil, "passwd: files\ngroup: files sss\n"), "group", "staff", "groupadd") ~= nil, true)
			check(nss.has_user(with "/", "ada"), true)
			check(nss.has_user(with "/", "staff"), false)
			nss.add_member(with "/", "ada", "docker")
			nss.remove_member(with "/image", "gone", "docker")
			check(str.join(ran, "; "), "gpasswd --add ada docker; gpasswd --root /image --delete gone docker")`,
	} {
		_, _, mistakes := evaluate(t, `
			local function check(got, want) if got ~= want then error(("expected %s, got %s"):format(inspect(want), inspect(got)), 2) end end
			`+script)
		require.Empty(t, mistakes, name)
	}
}

// What std.calendar refuses, systemd refuses too, where it is installed.
func TestCalendarAsSystemd(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not installed")
	}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	part := func() string {
		return pick("*", "0", "1", "5", "12", "23", "24", "31", "32", "59", "60", "1..5", "*/5", "0/15", "1/0", "1,15", "2..4/2", "07")
	}
	for range 60 {
		s := strings.TrimSpace(strings.Join([]string{
			pick("", "Mon", "sat,sun", "Mon..Fri", "Foo", "friday"), pick("*", "2027", "1969") + "-" + part() + "-" + part(), part() + ":" + part() + pick("", ":"+part()), pick("", "", "UTC"),
		}, " "))
		_, _, refused := evaluate(t, fmt.Sprintf(`local m = require "std.calendar".mistake %q; if m then error(m) end`, s))
		if refused != "" {
			require.Error(t, exec.Command(tool, "calendar", "--", s).Run(), "%s: %s", s, refused)
		}
	}
}
