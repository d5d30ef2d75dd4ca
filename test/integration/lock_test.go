//go:build integration

package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// While another apt-get holds the locks of dpkg, a plan does not wait and a run does.
func TestAptLock(t *testing.T) {
	l := boot(t, debian)
	l.publish("ccm-slow", "1.0", "touch /run/slow.begun; read line < /run/slow")
	l.waitsForLock(pkg("ccm-demo", "1.0", "Installed version 1.0"), "apt-get", "apt-get -qq -y install ccm-slow")
	l.says("ii 1.0\nii 1.0", dpkg("ccm-demo ccm-slow"))
}

// While another dnf is running, a plan does not wait and a run does.
func TestDnfLock(t *testing.T) {
	l := boot(t, rhel)
	l.sh(`cat > /tmp/slow.spec <<'EOF'
Name: ccm-slow
Version: 1.0
Release: 1
Summary: t
License: MIT
BuildArch: noarch
Requires(pre): /bin/sh
%description
t
%pre
touch /run/slow.begun
read line < /run/slow
%files
EOF
		rpmbuild --quiet -bb --define '_topdir /tmp/rpmbuild' --define '_rpmdir /srv/ccm-lab/rpm' /tmp/slow.spec > /dev/null 2>&1
		/srv/ccm-lab/bin/index; dnf -q clean expire-cache`)
	l.waitsForLock(pkg("ccm-demo-rpm", "1.0", "Installed version 1.0"), "dnf", "dnf -q -y install ccm-slow")
	l.sh("rpm -q ccm-slow ccm-demo-rpm-1.0")
}

// end is the end of a command.
type end struct {
	output
	err error
}

// waitsForLock checks that a run waits for another process, which is blocked by a package that makes /run/slow.begun
// and then reads /run/slow.
func (l *lab) waitsForLock(s step, command, other string) {
	l.t.Helper()
	l.sh("mkfifo /run/slow")
	first := l.start("sh", "-c", other)
	l.until("the other process is at work", "test -e /run/slow.begun")
	require.Equal(l.t, comparable(s.planned(), s.does), comparable(story(l.ccm("plan", s)), s.does))

	ended := make(chan end, 1)
	wait := l.startCCM("run", s)
	go func() {
		var e end
		e.output, e.err = wait()
		ended <- e
	}()
	l.until("a second process waits", `test "$(pgrep -c '^`+command+`$')" = 2`)
	select {
	case early := <-ended:
		require.Failf(l.t, "the run did not wait for the lock", "%v", early)
	case <-time.After(2 * time.Second): // they check the lock each second
	}

	l.sh("echo go on > /run/slow")
	out, err := first()
	require.NoError(l.t, err)
	require.Zero(l.t, out.status, "%v", out)
	run := <-ended
	require.NoError(l.t, run.err)
	require.Equal(l.t, s.does, story(l.verdict(run.output)))
	require.Equal(l.t, s.settled("run"), story(l.ccm("run", s)))
}
