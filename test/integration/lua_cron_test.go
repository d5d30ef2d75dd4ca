//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// cronJobs is the step of the site of jobs in a state.
func cronJobs(state, boot, night string) step {
	return step{site: "lua/cron.lua " + state, does: []string{"cron#it_boot: " + boot, "cron#it-night: " + night}}
}

// TestLuaCron: the real cron accepts every file of the type, and runs the @reboot job when it starts.
func TestLuaCron(t *testing.T) {
	l := boot(t, debian)
	l.bringPackages("cron", "cron-daemon-common", "sensible-utils")
	l.is("cron", "active", "enabled")
	l.sh("mkdir -m 0777 /run/it")

	l.converge(cronJobs("one", "Created the cron job", "Created the cron job"))
	l.cron()
	l.says("one hello there daemon one 50%\ndaemon", "cat /run/it/boot; stat -c %U /run/it/boot")

	l.converge(cronJobs("two", "Updated the cron job", "Updated the cron job"))
	l.cron()
	l.says("two good bye nobody \"two\" 50%\nnobody", "cat /run/it/boot; stat -c %U /run/it/boot")

	// Owners and modes with which cron ignores the files: cron logs that, and the run repairs them.
	l.sh("cd /etc/cron.d; chown daemon it_boot; chmod 0664 it-night")
	complaints := l.restartCron()
	require.Contains(t, complaints, "(*system*it_boot) WRONG FILE OWNER")
	require.Contains(t, complaints, "(*system*it-night) INSECURE MODE")
	l.sh("! test -e /run/it/boot")
	_, run := l.converge(cronJobs("two", "Updated the cron job", "Updated the cron job"))
	require.Contains(t, run.event("cron#it-night").Diff[0].String(), "in a file that cron rejects")
	l.says("root 644\nroot 644", "cd /etc/cron.d; stat -c '%U %a' it_boot it-night")
	l.cron()

	l.sh("printf '99 3 * * * root /bin/true\n' > /etc/cron.d/it-night")
	require.Contains(t, l.restartCron(), "Error: bad minute; while reading /etc/cron.d/it-night")
	l.converge(cronJobs("two", "stable", "Updated the cron job"))
	l.cron()

	l.converge(cronJobs("gone", "Removed the cron job", "Removed the cron job"))
	require.Empty(t, l.restartCron())
	l.sh("! test -e /run/it/boot; ! ls /etc/cron.d/it*")
}

// cron restarts cron, which must accept all files and run the @reboot job.
func (l *lab) cron() {
	l.t.Helper()
	require.Empty(l.t, l.restartCron())
	l.until("cron ran the job", "test -s /run/it/boot")
}

// restartCron restarts cron as after a boot and returns its complaints about files.
func (l *lab) restartCron() (complaints string) {
	l.t.Helper()
	l.sh("systemctl stop cron; systemctl reset-failed cron; rm -f /run/crond.reboot /run/it/boot; systemctl start cron")
	// It has read all files once it has started the jobs of a boot.
	const said = `journalctl -q --no-pager -o cat _PID="$(systemctl show -P MainPID cron)"`
	l.until("cron read its files", said+" | grep -q 'Running @reboot jobs'")
	return l.sh(said + " | grep -Ev 'INFO|^pam_' || :")
}
