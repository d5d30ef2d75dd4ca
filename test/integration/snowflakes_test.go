//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// snowflakes are machines that testdata/snowflakes/NAME.sh sets up by hand, as tutorials of hosting companies do, with
// the Debian packages that it installs.
var snowflakes = map[string][]string{
	"lamp":      {"apache2", "mariadb-server", "php", "libapache2-mod-php", "php-mysql", "curl"},
	"wordpress": {"nginx", "php-fpm", "php-mysql", "php-curl", "php-gd", "mariadb-server", "ssl-cert", "curl"},
	"mail":      {"postfix", "dovecot-imapd", "opendkim"},
	"postgres":  {"postgresql", "cron"},
	"samba":     {"samba", "smbclient", "prometheus-node-exporter", "nftables", "curl"},
}

// wholeListing lists a machine: packages, units, accounts, files. A line is a kind, a name, and the rest.
const wholeListing = `export LC_ALL=C
dpkg-query -W -f 'package ${Package} ${db:Status-Abbrev}\n'
apt-mark showmanual | sed 's/^/manual /'
apt-mark showhold | sed 's/^/hold /'
systemctl list-unit-files --no-legend --no-pager | awk '{print "unit", $1, $2}'
getent passwd | awk -F: '{print "user", $1, $6, $7}'
getent group | awk -F: '{print "group", $1, $4}'
find /etc /usr/local /opt /srv /var/www /var/spool/cron /root/.ssh /home/*/.ssh \
	\( -path /opt/ccm -o -path '/srv/ccm-lab' -o -path /srv/sites -o -path /srv/debs -o -path /etc/hosts \) -prune -o \
	\( -type f -o -type l -o -type d \) -printf 'file %p %y %m %u %g %l\n' -type f -exec sha256sum {} + 2> /dev/null |
	awk '$1 == "file" {print; next} {print "content", $2, $1}'`

// list returns the lines of wholeListing by their first two words.
func (l *lab) list() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(l.sh(wholeListing + " || :")) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), " ", 3)
		if len(f) == 3 {
			all[f[0]+" "+f[1]] = f[2]
		} else {
			all[strings.Join(f, " ")] = ""
		}
	}
	return all
}

// TestSnowflakes imports machines that were set up by hand. A plan there has nothing to do, and no secret is in plain text.
// A fresh machine becomes the same by the site: 95 % of what was changed, and the README names the rest. Its services
// answer, after the data that the README leaves out is there.
func TestSnowflakes(t *testing.T) {
	nightly(t)
	for name, packages := range snowflakes {
		t.Run(name, func(t *testing.T) {
			debs := ""
			var labs [2]*lab
			for n := range labs {
				labs[n] = bootAs(t, fmt.Sprintf("it-snowflake-%s-%d", name, n), debian)
				if debs == "" {
					debs = labs[n].download(packages)
				}
				labs[n].addPackages(debs)
			}
			script := "sh " + sites + "snowflakes/" + name + ".sh "
			old, fresh := labs[0], labs[1]
			before := fresh.list()
			old.sh(script + "setup")
			old.sh(script + "check")
			want := old.list()
			old.sh(`cd /root; /opt/ccm/ccm secret keygen -o key > pub; export CCM_AGE_IDENTITY_FILE=/root/key
				/opt/ccm/ccm import machine --out site --recipient "$(cat pub)"; /opt/ccm/ccm plan --detailed-exitcodes site/site.lua`)
			require.Regexp(t, `^0 of `, old.sh("cd /root; CCM_AGE_IDENTITY_FILE=/root/key /opt/ccm/ccm import machine --against site"))
			old.sh(`! grep -rE 'Battery-Staple-7|correct-horse-9|PRIVATE KEY|\$y\$' /root/site`)
			readme := old.sh("cat /root/site/README.md")

			fresh.sh("cd /root; echo '" + old.sh("tar -C /root -cz site key | base64 -w0") + "' | base64 -d | tar xz")
			fresh.sh("cd /root; export CCM_AGE_IDENTITY_FILE=/root/key; /opt/ccm/ccm run site/site.lua")
			fresh.sh(script + "data")
			fresh.sh("cd /root; export CCM_AGE_IDENTITY_FILE=/root/key; /opt/ccm/ccm plan --detailed-exitcodes site/site.lua")
			fresh.sh(script + "check")

			have, changed, same := fresh.list(), 0, 0
			var differ []string
			for key, value := range want {
				if was, ok := before[key]; ok && was == value {
					continue
				}
				changed++
				if now, ok := have[key]; ok && now == value {
					same++
				} else {
					differ = append(differ, key)
				}
			}
			for key := range before {
				if _, ok := want[key]; !ok { // was removed
					changed++
					if _, ok := have[key]; ok {
						differ = append(differ, key)
					} else {
						same++
					}
				}
			}
			for key := range have {
				if _, ok := want[key]; !ok && !slices.Contains(differ, key) {
					differ = append(differ, key)
				}
			}
			t.Logf("%d of %d changes are the same, %d differ", same, changed, len(differ))
			require.Greater(t, changed, 100)
			require.GreaterOrEqual(t, same*100, changed*95, differ)
			for _, key := range differ {
				_, at, _ := strings.Cut(key, " ")
				require.True(t, isListed(readme, at), "%s differs, and the README does not list it: %q, %q", key, want[key], have[key])
			}
		})
	}
}

// aListed matches what a README lists: names and patterns.
var aListed = regexp.MustCompile("(?m)^- `(?:[a-z_]+#)?([^`]+)`: ")

// isListed reports whether a README lists a path, or a directory above it.
func isListed(readme, name string) bool {
	for _, m := range aListed.FindAllStringSubmatch(readme, -1) {
		pattern := "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(strings.TrimSuffix(m[1], "/*"))) + "(/|$)"
		if regexp.MustCompile(pattern).MatchString(name) {
			return true
		}
	}
	return false
}

// download downloads Debian packages, and those that they need and the lab lacks, with this machine's apt. If that is not
// possible, the test is skipped, or fails if CI is set.
func (l *lab) download(names []string) (dir string) {
	l.t.Helper()
	dir = l.t.TempDir()
	status := filepath.Join(dir, "status")
	require.NoError(l.t, os.WriteFile(status, []byte(l.sh("cat /var/lib/dpkg/status")+"\n"), 0o644))
	cmd := exec.CommandContext(l.t.Context(), "apt-get", append([]string{
		"-q", "-y", "-o", "Dir::State::Status=" + status, "-o", "Dir::Cache::Archives=" + dir, "-o", "Debug::NoLocking=1",
		"--download-only", "--no-install-recommends", "install",
	}, names...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		give := l.t.Skipf
		if os.Getenv("CI") != "" {
			give = l.t.Fatalf
		}
		give("apt-get --download-only install %s: %v: this test needs a Debian mirror\n%s", strings.Join(names, " "), err, out)
	}
	return dir
}

// addPackages adds the packages in a directory to the repository of the lab.
func (l *lab) addPackages(dir string) {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), labCommand, "cp", l.name, dir, "/srv/debs").CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	l.sh("mv /srv/debs/*.deb /srv/ccm-lab/apt/; rm -r /srv/debs; /srv/ccm-lab/bin/index; apt-get -qq update")
}
