//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// lsbScript is an LSB init script. Each start adds a line to /srv/it.starts, and a reload copies its configuration.
const lsbScript = `#!/bin/sh
### BEGIN INIT INFO
# Provides: it
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
# Short-Description: it
### END INIT INFO
. /lib/lsb/init-functions
case "$1" in
start)
	echo >> /srv/it.starts
	start-stop-daemon --start --quiet --background --make-pidfile --pidfile /run/it.pid --startas /bin/sleep -- infinity ;;
stop) start-stop-daemon --stop --quiet --oknodo --remove-pidfile --pidfile /run/it.pid ;;
restart) $0 stop; $0 start ;;
reload) cp /etc/it.conf /srv/it.loads ;;
status) status_of_proc -p /run/it.pid /bin/sleep it ;;
*) echo "Usage: $0 {start|stop|restart|reload|status}"; exit 2 ;;
esac
`

// openrcScript is the same for OpenRC.
const openrcScript = `#!/sbin/openrc-run
command=/bin/sleep
command_args=infinity
command_background=yes
pidfile=/run/it.pid
retry=TERM/5
extra_started_commands=reload
start_pre() { echo >> /srv/it.starts; }
reload() { cp /etc/it.conf /srv/it.loads; }
`

// asInit gives process 1 the name that all init systems but systemd may have.
const asInit = "echo init > /run/comm; mount --bind /run/comm /proc/1/comm"

// initScripts tests all wanted states of the service it, whatever runs its script.
func (l *lab) initScripts(enabled string) {
	l.t.Helper()
	const conf, starts = "file#/etc/it.conf", "wc -l < /srv/it.starts"
	l.sh("rm -f /srv/it.* /etc/it.conf")
	site := func(args, file, service string) step {
		return step{site: "reload/site.lua " + args, does: []string{conf + ": " + file, itService + ": " + service}}
	}
	l.converge(only("it running true", "it", "Started. Enabled"))
	l.sh(enabled)
	l.converge(site("one reload", "Created the file", "Reloaded"))
	l.says("one", "cat /srv/it.loads")
	l.says("1", starts)
	l.converge(site("two restart", "Updated the file", "Restarted"))
	l.says("2", starts)
	l.converge(only("it stopped false", "it", "Stopped. Disabled"))
	l.sh("! " + enabled)
}

// The same script under systemd, which makes a unit of it, and without systemd.
func TestServiceSystemV(t *testing.T) {
	l := boot(t, debian)
	l.write("/etc/init.d/it", []byte(lsbScript))
	l.sh("chmod 755 /etc/init.d/it")
	l.initScripts("test -e /etc/rc3.d/S01it")

	// As after a boot with another init system, which is called init.
	l.sh("mount -t tmpfs tmpfs /run; " + asInit + "; update-rc.d it remove")
	l.initScripts("test -e /etc/rc3.d/S01it")

	// The daemon has died, and its PID file is still there.
	l.converge(only("it", "it", "Started"))
	l.sh("kill -9 $(cat /run/it.pid); sleep 0.1")
	run := l.ccm("run", only("it", "it", ""))
	require.Equal(t, []string{"service#it: Started"}, story(run))

	// A daemon that does not stay up.
	l.sh("sed -i 's|/bin/sleep -- infinity|/bin/sleep -- 0.3|' /etc/init.d/it; service it stop")
	run = l.ccm("run", only("it", "it", ""))
	require.Contains(t, run.event(itService).Errors[0], "the service was started and is not running (")
}

func TestServiceOpenRC(t *testing.T) {
	l := boot(t, debian)
	// OpenRC as after a boot with it.
	l.sh(`cd /srv/ccm-lab/archive; dpkg -i openrc_* insserv_* libeinfo1_* librc1_* > /dev/null 2>&1; cd /
mount -t tmpfs tmpfs /run
` + asInit + `
for d in starting started stopping inactive wasinactive failed hotplugged daemons options exclusive scheduled tmp; do mkdir -p /run/openrc/$d; done
echo default > /run/openrc/softlevel`)
	l.write("/etc/init.d/it", []byte(openrcScript))
	l.sh("chmod 755 /etc/init.d/it")
	l.initScripts("test -e /etc/runlevels/default/it")
}

// A user's service is started by the user's service manager, as that user.
func TestServiceOfUser(t *testing.T) {
	l := boot(t, debian)
	l.sh(`dpkg --force-depends -i /srv/ccm-lab/archive/libpam-systemd*.deb > /dev/null
useradd -m alice; install -d -o alice -g alice ~alice/.config/systemd/user`)
	const id = "file#/home/alice/.config/systemd/user/it.service"
	site := func(args, file, service string) step {
		return step{site: "service/user.lua " + args, does: []string{id + ": " + file, itService + ": " + service}}
	}
	s := site("one", "Created the file", "failed")
	s.errs = map[string][]string{itService: {"service manager of user alice is not running (log in, or run: loginctl enable-linger alice"}}
	l.ccm("run", s)
	l.sh("rm ~alice/.config/systemd/user/it.service; loginctl enable-linger alice")
	l.until("the directory of the user", "test -d /run/user/1000")
	// The service manager is just starting, and is waited for.
	s = site("one running true", "Created the file", "Started. Enabled")
	l.converge(s)
	l.says("alice\none", "cat ~alice/it.user ~alice/it.starts")
	l.sh("test -L ~alice/.config/systemd/user/default.target.wants/it.service; ! systemctl -q is-active it")
	l.converge(site("two running true", "Updated the file", "Restarted"))
	l.says("one\ntwo", "cat ~alice/it.starts")
	l.converge(site("two stopped false", "stable", "Stopped. Disabled"))
	l.sh("! test -e ~alice/.config/systemd/user/default.target.wants/it.service")

	// Its log is shown, and the user may do the same.
	l.sh(`printf '[Service]\nExecStart=/bin/sh -c "echo no such thing; sleep 0.3; exit 3"\n' > ~alice/.config/systemd/user/bad.service
echo 'service { "bad", scope = "user", user = "alice" }' > /srv/bad.lua; echo 'service { "it", scope = "user" }' > /srv/own.lua`)
	out := l.exec("/opt/ccm/ccm", "run", "/srv/bad.lua")
	require.Contains(t, out.stdout, "the service was started and failed (result exit-code, exit status 3)")
	require.Contains(t, out.stdout, "no such thing")
	l.sh("su alice -c '/opt/ccm/ccm run /srv/own.lua'; test $(wc -l < ~alice/it.starts) = 3")
}

// Two users have the same service, and their running services can be imported.
func TestServiceOfTwoUsers(t *testing.T) {
	l := boot(t, debian)
	l.sh(`dpkg --force-depends -i /srv/ccm-lab/archive/libpam-systemd*.deb > /dev/null
printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=default.target\n' > /etc/systemd/user/it.service
for u in alice bob; do useradd -m $u; loginctl enable-linger $u; done
cat > /srv/two.lua <<'END'
for _, u in ipairs { "alice", "bob" } do service { "it-" .. u, service = "it", scope = "user", user = u, enable = true } end
END`)
	l.until("their service managers run", "test -S /run/user/$(id -u alice)/systemd/private -a -S /run/user/$(id -u bob)/systemd/private")
	out := l.exec("/opt/ccm/ccm", "run", "/srv/two.lua")
	require.Equal(t, 0, out.status, out.stdout)
	require.Contains(t, out.stdout, "service#it-alice: Started. Enabled")
	require.Contains(t, out.stdout, "service#it-bob: Started. Enabled")
	l.says("alice\nbob", "ps -o user= -C sleep | sort")
	l.sh("/opt/ccm/ccm import service --user alice it > /srv/imported.lua; /opt/ccm/ccm import service --user bob it >> /srv/imported.lua")
	l.says("service { \"it-alice\", service = \"it\", enable = true, scope = \"user\", user = \"alice\" }", "head -1 /srv/imported.lua")
	l.says("Nothing to do: 2 resources up to date", "/opt/ccm/ccm plan /srv/imported.lua | sed 's/ (.*//'")
}
