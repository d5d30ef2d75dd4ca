//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// A plannedSite is a site of which the plan for fresh machines is measured.
type plannedSite struct {
	name string
	// debian are packages of Debian for a machine with apt; those of the site that are neither there nor in demos are
	// empty packages. A machine with dnf has demos only.
	debian []string
	// edit is a shell script that changes the settings, run in the directory of the site.
	edit string
	// page is the document with the files of the site; "" for examples/roles.
	page string
	// prepare readies the machine.
	prepare func(l *lab, family string)
}

// demos are small packages with the names and places of real ones: shell scripts that fill a package, with the
// functions of packDemo.
var demos = map[string]string{
	"nginx":             `who nginx; unit nginx; prog /usr/sbin/nginx; conf /etc/nginx/nginx.conf; conf /etc/nginx/mime.types; conf /etc/nginx/conf.d/default.conf`,
	"docker-ce":         `who docker; unit docker; prog /usr/bin/dockerd`,
	"postgresql-server": `who postgres; unit postgresql; prog /usr/bin/postgresql-setup 'mkdir -p /var/lib/pgsql/data; cd /var/lib/pgsql/data; touch PG_VERSION postgresql.conf pg_hba.conf; chown -R postgres:postgres /var/lib/pgsql'; prog /usr/bin/psql "$PSQL"`,
	"openssh-server":    `who sshd; unit sshd; prog /usr/sbin/sshd; conf /etc/ssh/sshd_config; mkdir -p $d/etc/ssh/sshd_config.d`,
	"openssh-clients":   `conf /etc/ssh/ssh_config; mkdir -p $d/etc/ssh/ssh_config.d`,
	"audit":             `unit auditd; conf /etc/audit/auditd.conf`,
	"haproxy":           `who haproxy; unit haproxy; prog /usr/sbin/haproxy; conf /etc/haproxy/haproxy.cfg`,
	"postfix":           `who postfix; unit postfix; prog /usr/sbin/postfix; prog /usr/bin/newaliases; conf /etc/postfix/main.cf`,
	"wireguard-tools":   `unit wg-quick@; prog /usr/bin/wg 'echo key'; mkdir -p $d/etc/wireguard`,
	"prometheus2":       `who prometheus; unit prometheus; prog /usr/bin/promtool; conf /etc/prometheus/prometheus.yml; conf /etc/default/prometheus`,
	"node_exporter":     `unit node_exporter`,
	"blackbox_exporter": `unit blackbox_exporter; conf /etc/prometheus/blackbox.yml`,
	"redis":             `who redis; unit redis; conf /etc/redis/redis.conf; mkdir -p $d/var/lib/redis`,
	"borgbackup":        `prog /usr/bin/borg`,
	"php-fpm":           `unit php-fpm; conf /etc/php-fpm.d/www.conf; conf /etc/php-fpm.conf`,
	"php-cli":           `prog /usr/bin/php`,
}

// packDemo has functions that fill the directory $d, and one that makes a package of it.
const packDemo = `
PSQL='known=/var/tmp/psql; touch $known
case "$*" in
*--username=*) name=${*#*--username=}; grep -qx "role ${name%% *}" $known ;;
*--command=SELECT*) for last; do :; done; grep -qx "db $last" $known ;;
*) sed -n "s/^CREATE DATABASE \"\([^\"]*\)\".*/db \1/p; s/^ALTER ROLE \"\([^\"]*\)\".*/role \1/p" >> $known ;;
esac'
prog() { mkdir -p "$d${1%/*}"; printf '#!/bin/sh\n%s\n' "${2:-exit 0}" > "$d$1"; chmod 755 "$d$1"; }
conf() { mkdir -p "$d${1%/*}"; echo '# of the package' > "$d$1"; }
unit() {
	mkdir -p $d/usr/lib/systemd/system
	printf '[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/true\n[Install]\nWantedBy=multi-user.target\n' > $d/usr/lib/systemd/system/$1.service
}
who() { pre="getent passwd $1 > /dev/null || useradd --system --user-group --no-create-home $1"; }
pack() { # NAME SCRIPT
	d=/tmp/demo/$1 pre=:
	mkdir -p $d/usr/share/doc/$1
	echo t > $d/usr/share/doc/$1/copyright
	eval "$2"
	if [ $family = debian ]; then
		mkdir $d/DEBIAN
		printf 'Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: t <t@example.invalid>\nDescription: t\n' $1 > $d/DEBIAN/control
		printf '#!/bin/sh\n%s\n' "$pre" > $d/DEBIAN/preinst
		printf '#!/bin/sh\nsystemctl daemon-reload\n' > $d/DEBIAN/postinst
		chmod 755 $d/DEBIAN/p*
		dpkg-deb --root-owner-group --build $d /srv/ccm-lab/apt/${1}_1.0_all.deb > /dev/null
		return
	fi
	{
		printf '%s\n' "Name: $1" 'Version: 1.0' 'Release: 1' 'Summary: t' 'License: MIT' 'BuildArch: noarch' 'AutoReqProv: no' %description t. \
			%install 'mkdir -p %{buildroot}' "cp -a $d/. %{buildroot}/" %pre "$pre" %post 'systemctl daemon-reload || :' %files
		find $d -mindepth 3 -type d ! -path '*/usr/*' -printf '%%dir /%P\n'
		find $d ! -type d -path "$d/etc/*" -printf '%%config(noreplace) /%P\n'
		find $d ! -type d ! -path "$d/etc/*" -printf '/%P\n'
	} > /tmp/demo.spec
	rpmbuild --quiet -bb --define '_topdir /tmp/demo.build' --define '_rpmdir /srv/ccm-lab/rpm' --define '__os_install_post %{nil}' /tmp/demo.spec > /tmp/demo.log 2>&1 ||
		{ cat /tmp/demo.log >&2; exit 1; }
}
`

// publishContents publishes the lists of files of Debian's packages, and lets apt fetch them as apt-file does.
const publishContents = `
(cd /srv/ccm-lab/apt; apt-ftparchive contents . > Contents-$(dpkg --print-architecture))
echo 'Acquire::IndexTargets::deb::Contents-deb {
	MetaKey "$(COMPONENT)/Contents-$(ARCHITECTURE)"; flatMetaKey "Contents-$(ARCHITECTURE)";
	ShortDescription "Contents"; Description "Contents"; flatDescription "Contents"; KeepCompressed "true";
};' > /etc/apt/apt.conf.d/50apt-file.conf
`

// servedRunner and servedK3s are what the runner and the node download: programs that only start.
const (
	servedRunner = `
mkdir -p /tmp/runner/bin "/srv/www/v2.319.1"
touch /tmp/runner/bin/Runner.Listener
printf '#!/bin/sh\nexec sleep infinity\n' > /tmp/runner/run.sh
printf '#!/bin/sh\ntouch .runner\n' > /tmp/runner/config.sh
chmod 755 /tmp/runner/*.sh
tar -czf "/srv/www/v2.319.1/actions-runner-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')-2.319.1.tar.gz" -C /tmp/runner .`
	servedK3s = `
mkdir -p /srv/www/v1.30.4+k3s1
cat > /srv/www/v1.30.4+k3s1/k3s << 'END'
#!/usr/bin/python3
import os, socket, time
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
time.sleep(1e9)
END
cp /srv/www/v1.30.4+k3s1/k3s /srv/www/v1.30.4+k3s1/k3s-arm64`
)

var plannedSites = []plannedSite{
	{name: "tutorial", page: "../../docs/tutorial.md", debian: []string{"nginx", "curl"}, prepare: func(l *lab, family string) {
		if family == rhel {
			l.fromArchive("nginx", "curl", "openssl")
		}
	}},
	{name: "nginx", debian: []string{"nginx"}, edit: "sed -i 's/nginx_org: true/nginx_org: false/' site.yaml"},
	{name: "docker", edit: "sed -i 's/add_repo: true/add_repo: false/' site.yaml"},
	{name: "postgresql", debian: []string{"postgresql", "postgresql-contrib", "locales"}},
	{name: "users"},
	{name: "hardening", debian: []string{"openssh-server", "openssh-client", "auditd", "libpam-passwdqc"}},
	{name: "proxy", debian: []string{"haproxy"}},
	{name: "mail", debian: []string{"postfix", "libsasl2-modules"}},
	{name: "runner", edit: "sed -i 's,url: https://github.com/actions.*,url: http://127.0.0.1:8080,' site.yaml", prepare: func(l *lab, _ string) {
		l.serve()
		l.sh(servedRunner)
	}},
	{name: "wireguard"},
	{
		name: "prometheus", debian: []string{"prometheus", "prometheus-node-exporter", "prometheus-blackbox-exporter"},
		edit: "sed -i -e 's,url: https://.*,url: file:///srv/other,' -e 's,gpgkey: .*,gpgkey: [\"file:///srv/other/key\"],' site.yaml",
		prepare: func(l *lab, family string) {
			if family == rhel {
				l.sh("for v in 7 8 9 10 11 12; do mkdir -p /srv/other/el/$v/$(uname -m); createrepo_c -q /srv/other/el/$v/$(uname -m); done")
			}
		},
	},
	{name: "redis", debian: []string{"redis-server"}},
	{name: "backup", debian: []string{"borgbackup", "openssh-server"}},
	{name: "bastion", debian: []string{"openssh-server"}},
	{
		name: "php", debian: []string{"nginx", "php8.2-fpm", "php8.2-cli", "php8.2-mbstring", "php8.2-xml", "php8.2-curl", "php8.2-pgsql"},
		edit: "sed -i 's,repository: https.*,repository: file:///srv/app.git,' site.yaml",
		prepare: func(l *lab, _ string) {
			l.bringGit()
			l.sh(`export HOME=/root; git init -q -b main /srv/app.git; cd /srv/app.git; mkdir public bin; touch public/index.php bin/schedule.php
git add .; git -c user.name=t -c user.email=t@example.invalid commit -qm t`)
		},
	},
	{name: "k3s", debian: []string{"curl", "iptables"}, edit: "sed -i 's,url: https://github.*,url: http://127.0.0.1:8080,' site.yaml", prepare: func(l *lab, family string) {
		l.serve()
		l.sh(servedK3s)
		if family == rhel {
			l.fromArchive("curl")
		}
	}},
}

// offers publishes the packages that a site names: Debian's own, those of demos, and empty ones for the others.
func (l *lab) offers(s plannedSite, family string) {
	l.t.Helper()
	offered := []string{"curl"}
	if family == debian {
		offered = s.debian
		if len(s.debian) > 0 {
			l.fromDebian(s.debian...)
		}
	}
	script := "family=" + family + packDemo
	var catalog struct {
		Resources []struct {
			Type, Name string
			Properties struct{ Ensure string }
		}
	}
	require.NoError(l.t, json.Unmarshal([]byte(l.sh("/opt/ccm/ccm catalog --output json /root/"+s.name+"/site.lua")), &catalog))
	for _, x := range catalog.Resources {
		if x.Type != "package" || x.Properties.Ensure == "absent" || slices.Contains(offered, x.Name) {
			continue
		}
		offered = append(offered, x.Name)
		script += fmt.Sprintf("pack %s '%s'\n", x.Name, strings.ReplaceAll(demos[x.Name], "'", `'\''`))
	}
	if family == debian {
		script += publishContents + "/srv/ccm-lab/bin/index\napt-get -qq update\n"
	} else {
		script += "/srv/ccm-lab/bin/index\n"
		script += "dnf -q makecache\n"
	}
	l.sh(script)
}

// figures are what is measured of one plan.
type figures struct {
	site, family                           string
	resources, pending, uncertain, unknown int
	blamed                                 []string
	took                                   time.Duration
}

// TestPlansOfRoles: the plan of each role, and of the tutorial's site, for a fresh machine comes true, and at most a tenth of it is unknown. With -v
// it prints the figures of docs/plans.md.
func TestPlansOfRoles(t *testing.T) {
	nightly(t)
	var all []figures
	var mu sync.Mutex
	t.Run("sites", func(t *testing.T) {
		for _, s := range plannedSites {
			for _, family := range []string{debian, rhel} {
				t.Run(s.name+"-"+family, func(t *testing.T) {
					t.Parallel()
					l := bootAs(t, "rp-"+s.name+"-"+family, family)
					f := l.planOfSite(s, family)
					mu.Lock()
					defer mu.Unlock()
					all = append(all, f)
				})
			}
		}
	})
	total := make(map[string]*figures)
	for _, f := range all {
		t.Logf("%-12s %-7s %3d resources %3d pending, %2d of them uncertain, %2d unknown, %v: %s", f.site, f.family, f.resources, f.pending, f.uncertain, f.unknown,
			f.took.Round(time.Millisecond), strings.Join(f.blamed, "; "))
		sum := total[f.family]
		if sum == nil {
			sum = new(figures)
			total[f.family] = sum
		}
		sum.resources, sum.pending, sum.uncertain, sum.unknown = sum.resources+f.resources, sum.pending+f.pending, sum.uncertain+f.uncertain, sum.unknown+f.unknown
	}
	for family, f := range total {
		t.Logf("%s: %d resources, %d pending, %d of them uncertain, %d unknown (%.1f %%)", family, f.resources, f.pending, f.uncertain, f.unknown,
			100*float64(f.unknown)/float64(f.resources))
		if len(all) == 2*len(plannedSites) {
			require.Less(t, 10*f.unknown, f.resources)
		}
	}
}

// ready copies a site to a fresh machine, which then has what the site needs.
func (l *lab) ready(s plannedSite, family string) {
	l.t.Helper()
	l.sh("mkdir /root/" + s.name)
	if s.page == "" {
		out, err := exec.CommandContext(l.t.Context(), labCommand, "cp", l.name, "../../examples/roles/"+s.name, "/root/").CombinedOutput()
		require.NoError(l.t, err, "%s", out)
	} else {
		text, err := os.ReadFile(s.page)
		require.NoError(l.t, err)
		for _, b := range dialog.Blocks(string(text)) {
			if b.File != "" {
				l.write("/root/"+s.name+"/"+b.File, []byte(b.Text))
			}
		}
	}
	if s.prepare != nil {
		s.prepare(l, family)
	}
	l.sh("cd /root/" + s.name + "\n" + s.edit)
	l.offers(s, family)
}

// planOfSite plans and runs a site on a fresh machine, compares both, and returns the figures of the plan.
func (l *lab) planOfSite(s plannedSite, family string) figures {
	l.t.Helper()
	l.ready(s, family)
	ccm := func(command string) verdict {
		return l.verdict(l.exec("/opt/ccm/ccm", command, "--output", "json", "--detailed-exitcodes", "/root/"+s.name+"/site.lua"))
	}
	started := time.Now()
	plan := ccm("plan")
	f := figures{site: s.name, family: family, resources: len(plan.events), took: time.Since(started)}
	text := l.sh("/opt/ccm/ccm plan /root/" + s.name + "/site.lua")
	if dir := os.Getenv("CCM_TEST_PLANS"); dir != "" {
		require.NoError(l.t, os.WriteFile(filepath.Join(dir, s.name+"-"+family+".txt"), []byte(text+"\n"), 0o644))
	}
	run := ccm("run")
	require.Len(l.t, run.events, len(plan.events))
	for i, would := range plan.events {
		did, id := run.events[i], would.Type+"#"+would.Name
		require.Equal(l.t, id, did.Type+"#"+did.Name)
		require.NotContains(l.t, []string{"failed", "skipped"}, did.Outcome, "%s\n%s\n%s", id, text, run)
		switch {
		case would.Outcome == "unknown":
			f.unknown++
			f.blamed = append(f.blamed, id+" ("+strings.Join(would.Because[:min(len(would.Because), 2)], ", ")+")")
		case would.Outcome == "pending" && would.Certain != nil && !*would.Certain:
			f.pending++
			f.uncertain++
		case would.Outcome == "pending":
			f.pending++
			require.Equal(l.t, "changed", did.Outcome, "%s is pending\n%s\n%s", id, text, run)
		default:
			require.Equal(l.t, would.Outcome, did.Outcome, "%s\n%s\n%s", id, text, run)
		}
	}
	require.Zero(l.t, ccm("run").status, "a second run changes something")
	return f
}
