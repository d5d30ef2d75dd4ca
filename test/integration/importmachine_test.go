//go:build integration

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// byHand sets up a machine as people do who know no ccm.
const byHand = `
apt-get -qq -y install ccm-demo ccm-demo-service ccm-demo-auto > /dev/null
apt-mark -q hold ccm-demo > /dev/null
useradd -m -s /bin/bash -u 1200 ada
useradd -m -s /bin/bash -G sudo deploy
echo 'deploy:correct-horse' | chpasswd
install -d -o deploy -g deploy -m 700 /home/deploy/.ssh
echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv ada@laptop' > /home/deploy/.ssh/authorized_keys
chown deploy: /home/deploy/.ssh/authorized_keys
chmod 600 /home/deploy/.ssh/authorized_keys
mkdir -p /etc/sudoers.d
echo 'deploy ALL=(ALL) NOPASSWD: /usr/bin/systemctl restart ccm-demo' > /etc/sudoers.d/deploy
chmod 440 /etc/sudoers.d/deploy
cp /etc/ccm-demo/demo.conf /etc/ccm-demo/demo.conf.orig
echo 'workers = 4' >> /etc/ccm-demo/demo.conf
echo 'listen = 192.0.2.7' > /etc/ccm-demo/extra.conf
systemctl -q enable --now ccm-demo
systemctl -q disable --now ccm-demo-auto
systemctl -q mask fstrim.service
printf '#!/bin/sh\nexec sleep infinity\n' > /usr/local/bin/worker
chmod 755 /usr/local/bin/worker
mkdir -p /opt/shop/conf /srv/www
echo 'shop = "main"' > /opt/shop/conf/shop.toml
echo 'DB_PASSWORD=battery-staple' > /opt/shop/conf/env
chmod 600 /opt/shop/conf/env
printf '[Unit]\nDescription=the worker\n[Service]\nExecStart=/usr/local/bin/worker\n[Install]\nWantedBy=multi-user.target\n' > /etc/systemd/system/worker.service
mkdir -p /etc/systemd/system/ccm-demo.service.d
printf '[Service]\nNice=5\n' > /etc/systemd/system/ccm-demo.service.d/nice.conf
systemctl daemon-reload
systemctl -q enable --now worker
printf '# jobs\n17 3 * * * root /usr/local/bin/worker --once\n' > /etc/cron.d/worker
echo '192.0.2.10 db.example.org db' >> /etc/hosts
ln -s /opt/shop/conf/shop.toml /etc/shop.toml
ln -sf /usr/share/zoneinfo/Europe/Berlin /etc/localtime
echo Europe/Berlin > /etc/timezone
`

// machineListing lists what matters of a machine, without what the README of the site lists as left out.
const machineListing = `
apt-mark showmanual | sed 's/^/package /'
apt-mark showhold | sed 's/^/hold /'
dpkg-query -W -f 'version ${Package} ${Status}\n' 'ccm-demo*'
systemctl list-unit-files --no-legend | awk '{print "unit", $1, $2}' | sort
systemctl is-active ccm-demo ccm-demo-auto worker || true
getent hosts db.example.org
getent passwd | awk -F: '$3 >= 1000 {print "user", $0}' | sort
getent group | awk -F: '$3 >= 1000 || $1 == "sudo" {print "group", $0}' | sort
find /etc /usr/local /opt/shop /home/deploy/.ssh \( -type f -o -type l \) -printf '%p %m %u %g %l ' -exec sh -c 'test -h "$1" && echo || sha256sum < "$1"' sh {} \; | sort |
	grep -Ev '^(/etc/(passwd|group|shadow|gshadow|subuid|subgid)-? |/etc/(hosts|hostname|machine-id|ld.so.cache|resolv.conf|mtab) |/etc/ccm-demo/demo.conf.orig |/opt/shop/conf/env |/etc/.pwd.lock )'
`

// A machine that was set up by hand becomes a site with nothing to do there. A fresh machine becomes the same by it, in
// all that the README does not list. No secret is in the site.
func TestImportMachine(t *testing.T) {
	l := boot(t, debian)
	l.sh(byHand)
	l.sh("cd /root && /opt/ccm/ccm import machine --out site && /opt/ccm/ccm plan --detailed-exitcodes site/site.lua")
	l.sh(`! grep -rE 'correct-horse|battery-staple|\$y\$' /root/site`)
	readme := l.sh("cat /root/site/README.md")
	for _, left := range []string{"/etc/ccm-demo/demo.conf.orig", "/srv/www", "file#/opt/shop/conf/env", "user#deploy"} {
		require.Contains(t, readme, "- `"+left+"`: ")
	}
	require.Regexp(t, `^0 of `, l.sh("/opt/ccm/ccm import machine --against /root/site"))
	out := l.exec("sh", "-c", "rm /root/site/unmanaged.txt; /opt/ccm/ccm import machine --against /root/site")
	require.Equal(t, 2, out.status, out.stderr)
	require.Equal(t, "file#/opt/shop/conf/env: no package owns it", strings.SplitN(out.stdout, "\n", 2)[0])
	require.Contains(t, out.stdout, "\n1 of ")

	fresh := bootAs(t, l.name+"-fresh", debian)
	fresh.sh("cd /root && echo '" + l.sh("tar -C /root -cz site | base64 -w0") + "' | base64 -d | tar xz && /opt/ccm/ccm run site/site.lua")
	want := strings.Split(l.sh(machineListing), "\n")
	require.Greater(t, len(want), 100)
	require.Equal(t, want, strings.Split(fresh.sh(machineListing), "\n"))
	fresh.sh("/opt/ccm/ccm plan --detailed-exitcodes /root/site/site.lua")
}

// On a machine with rpm and dnf, rpm's digests and dnf's marks are the source. The lab is a Debian system, so what rpm
// does not know in /etc is left out, and the databases of other package managers are put away.
func TestImportMachineOfDnf(t *testing.T) {
	const away = "mkdir /srv/away; mv /var/lib/dpkg /var/lib/zypp /srv/away/; "
	l := boot(t, rhel)
	l.sh(away + `dnf -q -y install ccm-demo-rpm-dep ccm-demo-rpm-service > /dev/null 2>&1
		echo 'workers = 4' >> /etc/ccm-demo-rpm.conf; mkdir /etc/ccm-own; echo own > /etc/ccm-own/a
		systemctl -q enable --now ccm-demo-rpm`)
	ignore := "--ignore '/etc/[^c]*' --ignore '/etc/c[^c]*' --ignore /opt --ignore /usr/local"
	l.sh("cd /root; /opt/ccm/ccm import machine --out site --only packages,files,services --versions " + ignore)
	l.sh("cd /root; /opt/ccm/ccm plan --detailed-exitcodes site/site.lua")
	lua := l.sh("cat /root/site/lib/*.lua")
	for _, want := range []string{`package { "ccm-demo-rpm-dep", "ccm-demo-rpm-service", `, `"/etc/ccm-demo-rpm.conf"`, `"/etc/ccm-own/a"`, `"1.0-1.lab"`} {
		require.Contains(t, lua, want)
	}
	require.NotContains(t, lua, `package { "ccm-demo-rpm", `) // installed for another package

	fresh := bootAs(t, l.name+"-fresh", rhel)
	fresh.sh(away + "cd /root; echo '" + l.sh("tar -C /root -cz site | base64 -w0") + "' | base64 -d | tar xz; /opt/ccm/ccm run site/site.lua")
	const listing = `rpm -qa | sort; rpm -Va 'ccm-demo*' || :; dnf -q -C '--disablerepo=*' repoquery --userinstalled | sort; cat /etc/ccm-demo-rpm.conf /etc/ccm-own/a
		systemctl is-enabled ccm-demo-rpm; systemctl is-active ccm-demo-rpm`
	require.Equal(t, l.sh(listing), fresh.sh(listing))
}
