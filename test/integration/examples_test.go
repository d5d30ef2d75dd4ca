//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// publishWeb publishes small packages for the first sites of the documentation, with the names and paths of the real
// Debian packages.
func (l *lab) publishWeb() {
	l.t.Helper()
	l.sh(`
deb() { # NAME VERSION [DEPENDS]: packs /tmp/deb
	mkdir -p /tmp/deb/DEBIAN
	printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: t <t@example.invalid>\nDescription: t\n' $1 $2 > /tmp/deb/DEBIAN/control
	[ -z "${3-}" ] || echo "Depends: $3" >> /tmp/deb/DEBIAN/control
	dpkg-deb --root-owner-group --build /tmp/deb /srv/ccm-lab/apt/$1_$2_all.deb > /dev/null
	rm -r /tmp/deb
}
mkdir -p /tmp/deb/etc/nginx/conf.d
echo 'include conf.d/*.conf;' > /tmp/deb/etc/nginx/nginx.conf
deb nginx-common 1.22.1-9
mkdir -p /tmp/deb/usr/sbin /tmp/deb/lib/systemd/system /tmp/deb/DEBIAN
printf '#!/bin/sh\ngrep -q . /etc/nginx/conf.d/*.conf\n' > /tmp/deb/usr/sbin/nginx
printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n' > /tmp/deb/lib/systemd/system/nginx.service
printf '#!/bin/sh\nsystemctl daemon-reload\n' > /tmp/deb/DEBIAN/postinst
chmod 755 /tmp/deb/usr/sbin/nginx /tmp/deb/DEBIAN/postinst
deb nginx 1.22.1-9 'nginx-common (= 1.22.1-9)'
deb curl 7.88.1-10
deb htop 3.2.2-2
/srv/ccm-lab/bin/index
apt-get -qq update`)
}

// took matches the duration in the last line of a report.
var took = regexp.MustCompile(`\([0-9.]+m?s\)`)

// TestWebExample: examples/web/plan.txt is the plan of the web example on a machine without nginx, and a run does all
// of it. UPDATE=1 writes the file.
func TestWebExample(t *testing.T) {
	l := boot(t, debian)
	l.publishWeb()
	out, err := exec.CommandContext(t.Context(), labCommand, "cp", l.name, "../../examples/web", "/root/web").CombinedOutput()
	require.NoError(t, err, "%s", out)
	before := l.census()
	plan := took.ReplaceAllString(l.sh("/opt/ccm/ccm plan /root/web/site.lua"), "(0s)") + "\n"
	require.Empty(t, differing(before, l.census()), "the plan touched something")
	l.sh("systemd-run -q --unit other nats-server -p 80; until bash -c ': < /dev/tcp/127.0.0.1/80' 2> /dev/null; do :; done")
	require.Regexp(t, `~ service#nginx: after .*\(pending\): would start and enable \(port 80, which nginx uses by default, is in use by nats-server \(process \d+\)\)`,
		l.sh("/opt/ccm/ccm plan /root/web/site.lua"))
	l.sh("systemctl stop other")
	const golden = "../../examples/web/plan.txt"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(plan), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), plan)

	l.sh("/opt/ccm/ccm run /root/web/site.lua")
	require.Contains(t, l.sh("/opt/ccm/ccm run /root/web/site.lua"), "Nothing to do: 8 resources up to date")
	l.says("active\nenabled", "systemctl is-active nginx; systemctl is-enabled nginx")
	l.says("ii 1.22.1-9", dpkg("nginx"))
}

// TestREADME: the first script of the README runs on a fresh machine, and its plan has no failures.
func TestREADME(t *testing.T) {
	l := boot(t, debian)
	l.publishWeb()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, script, ok := strings.Cut(string(text), "\n```lua\n")
	require.True(t, ok)
	script, _, _ = strings.Cut(script, "\n```\n")
	l.write("/root/site.lua", []byte(script))
	plan := l.sh("/opt/ccm/ccm plan /root/site.lua")
	require.Contains(t, plan, "+ package#nginx: Would have installed latest (version 1.22.1-9, with nginx-common)")
	require.Contains(t, plan, "+ package#htop: Would have installed latest (version 3.2.2-2)")
	require.NotContains(t, plan, "failed")
	l.sh("/opt/ccm/ccm run /root/site.lua")
	require.Contains(t, l.sh("/opt/ccm/ccm run /root/site.lua"), "Nothing to do")
	require.Contains(t, l.sh("cat /etc/myapp/app.conf"), "port = 8080\nworkers = ")
}
