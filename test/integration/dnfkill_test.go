//go:build integration

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/tally"
)

// heldRPM publishes two versions of a package. Their scripts wait if /run/held-in names them, and write to /run/ran
// otherwise.
const heldRPM = `mkdir -p /tmp/rpm
	for version in 1.0 2.0; do
		printf '%s\n' 'Name: ccm-held' "Version: $version" 'Release: 1' 'Summary: t' 'License: t' 'BuildArch: noarch' %description t \
			%install 'mkdir -p %{buildroot}/usr/share/ccm-held' "echo $version > %{buildroot}/usr/share/ccm-held/version" \
			"touch %{buildroot}/usr/share/ccm-held/of-$version" %files /usr/share/ccm-held > /tmp/rpm/spec
		for script in pre post preun postun posttrans; do
			printf '%%%s\n[ "$(cat /run/held-in)" != %s-%s ] || { touch /run/at; exec sleep infinity; }\necho %s-%s >> /run/ran\n' \
				$script $script $version $script $version >> /tmp/rpm/spec
		done
		rpmbuild --quiet -bb --define '_topdir /tmp/rpm' --define '_rpmdir /srv/ccm-lab/rpm' \
			--define '_build_name_fmt %%{NAME}-%%{VERSION}.rpm' /tmp/rpm/spec > /tmp/rpm/log 2>&1
	done
	echo none > /run/held-in
	/srv/ccm-lab/bin/index
	dnf -q makecache --refresh`

// dnf is killed during a transaction of ccm. rpm then lists a package whose scripts have not run as installed, or two
// versions of a package of which one was to be removed. The next run completes it.
func TestDnfKilled(t *testing.T) {
	nightly(t)
	tries := tally.Of(t, "kill -9 of ccm and dnf while an rpm package is installed, upgraded or removed, in each script; then also a boot",
		"the next run says so and converges, without a hand: one version, all its files, its scripts have run")
	l := boot(t, rhel)
	l.sh(heldRPM)
	for _, x := range []struct {
		from, want, at string
		booted         bool // the traces of the transaction are gone
	}{
		{"", "2.0", "pre-2.0", false},
		{"", "2.0", "post-2.0", false},
		{"", "present", "posttrans-2.0", false},
		{"1.0", "2.0", "pre-2.0", false},
		{"1.0", "2.0", "post-2.0", false},
		{"1.0", "latest", "preun-1.0", false},
		{"1.0", "2.0", "postun-1.0", false},
		{"1.0", "2.0", "post-2.0", true},
		{"1.0", "latest", "postun-1.0", true},
		{"2.0", "1.0", "post-1.0", false},
		{"2.0", "absent", "preun-2.0", false},
		{"2.0", "absent", "postun-2.0", false},
	} {
		name := fmt.Sprintf("from %q to %s, killed in %s, booted: %t", x.from, x.want, x.at, x.booted)
		l.sh("echo none > /run/held-in; dnf -q -y remove ccm-held > /dev/null 2>&1 || :; rm -f /run/at")
		if x.from != "" {
			l.sh("dnf -q -y install ccm-held-" + x.from + " > /dev/null")
		}
		l.sh("echo " + x.at + " > /run/held-in")
		site := pkg("ccm-held", x.want, "")
		wait := l.startCCM("run", site)
		l.until("the package is at work", "test -e /run/at")
		l.sh("for name in ccm dnf sleep; do pkill -KILL -x $name || :; done")
		first, err := wait()
		require.NoError(t, err)
		require.NotZero(t, first.status, name)
		l.until("they are gone", "! pgrep -x dnf")
		l.sh("echo none > /run/held-in; rm -f /run/ran")
		if x.booted {
			l.sh("rm /var/lib/dnf/rpmdb_lock.pid") // as systemd-tmpfiles does
		}
		tries.Add(1)
		rpms := l.sh("rpm -qa 'ccm-held*'")
		next := l.ccm("run", site)
		require.Zero(t, next.summary.Failed, "%s\n%s\n%s", name, rpms, next)
		require.Equal(t, []string{"package#ccm-held: stable"}, story(l.ccm("run", site)), name)
		if x.want == "absent" {
			l.says("", "rpm -qa 'ccm-held*'; ls /usr/share/ccm-held 2> /dev/null || :")
			continue
		}
		version := x.want
		if !pinned(version) {
			version = "2.0"
		}
		l.says("ccm-held-"+version+"-1.noarch", "rpm -qa 'ccm-held*'")
		l.says(version+"\nof-"+version+"\nversion", "cat /usr/share/ccm-held/version; ls /usr/share/ccm-held")
		l.sh("grep -qx post-" + version + " /run/ran && grep -qx posttrans-" + version + " /run/ran")
		if l.sh("rpm -V ccm-held; dnf -q check"); x.at != "pre-2.0" {
			require.Contains(t, next.stderr, "dnf was interrupted earlier; unfinished packages are reinstalled first", name)
		}
		t.Logf("%s: rpm had %q; %q", name, rpms, story(next))
	}
}

// pinned reports whether ensure is a version.
func pinned(ensure string) bool { return ensure != "present" && ensure != "latest" }
