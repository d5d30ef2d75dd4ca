//go:build integration

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/tally"
)

// apt or dpkg is killed during a transaction of ccm. The next run completes it, whatever state it has left.
func TestDpkgKilled(t *testing.T) {
	nightly(t)
	tries := tally.Of(t, "kill -9 of ccm, apt and dpkg while a package is unpacked or configured, and of dpkg alone",
		"the next run converges, without a hand, and nothing is left unfinished")
	l := boot(t, debian)
	l.sh(`mkdir -p /tmp/deb/DEBIAN /tmp/deb/usr/share/ccm-held
		for script in preinst postinst; do
			printf '#!/bin/sh\n[ "$(cat /run/held-in)" != %s ] || { touch /run/at; exec sleep infinity; }\n' $script > /tmp/deb/DEBIAN/$script
			chmod 755 /tmp/deb/DEBIAN/$script
		done
		for version in 1.0 2.0; do
			echo $version > /tmp/deb/usr/share/ccm-held/version
			printf 'Package: ccm-held\nVersion: %s\nArchitecture: all\nMaintainer: t <t@example.invalid>\nDescription: t\n' $version > /tmp/deb/DEBIAN/control
			dpkg-deb --root-owner-group --build /tmp/deb /srv/ccm-lab/apt/ccm-held_${version}_all.deb > /dev/null
		done
		/srv/ccm-lab/bin/index
		apt-get -qq update`)
	for _, x := range []struct{ from, at, kill string }{
		{"", "preinst", "ccm apt-get dpkg preinst sleep"},
		{"", "postinst", "ccm apt-get dpkg postinst sleep"},
		{"1.0", "preinst", "ccm apt-get dpkg preinst sleep"},
		{"1.0", "postinst", "ccm apt-get dpkg postinst sleep"},
		{"", "postinst", "dpkg sleep"},
		{"1.0", "preinst", "dpkg sleep"},
	} {
		name := fmt.Sprintf("from %q, killed in %s: %s", x.from, x.at, x.kill)
		l.sh("echo none > /run/held-in; dpkg --configure -a; apt-get -qq -y purge ccm-held > /dev/null 2>&1 || :")
		if x.from != "" {
			l.sh("apt-get -qq -y install ccm-held=" + x.from + " > /dev/null")
		}
		l.sh("rm -f /run/at; echo " + x.at + " > /run/held-in")
		wait := l.startCCM("run", pkg("ccm-held", "2.0", ""))
		l.until("the package is at work", "test -e /run/at")
		l.sh("for name in " + x.kill + "; do pkill -KILL -x $name || :; done")
		first, err := wait()
		require.NoError(t, err)
		require.NotZero(t, first.status, name)
		l.until("they are gone", "! pgrep -x 'apt-get|dpkg'")
		l.sh("echo none > /run/held-in")
		tries.Add(1)
		next := l.ccm("run", pkg("ccm-held", "2.0", ""))
		require.Zero(t, next.summary.Failed, "%s\n%s\n%s", name, l.sh("dpkg -l ccm-held || :"), next)
		l.says("ii 2.0", dpkg("ccm-held"))
		l.says("2.0", "cat /usr/share/ccm-held/version")
		l.says("", "dpkg --audit; ls -A /var/lib/dpkg/updates")
		require.Equal(t, []string{"package#ccm-held: stable"}, story(l.ccm("run", pkg("ccm-held", "2.0", ""))), name)
		t.Logf("%s: dpkg --configure -a was needed: %t", name, len(next.stderr) > 0)
	}
}
