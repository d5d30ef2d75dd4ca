//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fromDebian puts packages of Debian with their dependencies into the lab's repository. The machine of the test
// downloads them, with its own lists of packages.
func (l *lab) fromDebian(packages ...string) {
	l.t.Helper()
	l.takeDebian(l.sh("cat /var/lib/dpkg/status")+"\n", "/tmp/debs", packages...)
	l.sh(`for d in /tmp/debs/*.deb; do mv "$d" "/srv/ccm-lab/apt/$(basename "$d" | sed 's/%3a/_/g')"; done
/srv/ccm-lab/bin/index
apt-get -qq update`)
}

// takeDebian copies packages of Debian into a new directory of the lab, with those dependencies that a system with this
// status of dpkg lacks.
func (l *lab) takeDebian(status, to string, packages ...string) {
	l.t.Helper()
	dir := l.t.TempDir()
	file := filepath.Join(dir, "status")
	require.NoError(l.t, os.WriteFile(file, []byte(status), 0o644))
	debs := filepath.Join(dir, "debs")
	require.NoError(l.t, os.MkdirAll(filepath.Join(debs, "partial"), 0o755))
	args := []string{"-qq", "-y", "--download-only", "--no-install-recommends", "-o", "Dir::State::status=" + file,
		"-o", "Dir::Cache::archives=" + debs, "-o", "Debug::NoLocking=1", "-o", "Acquire::Retries=3", "-o", "APT::Sandbox::User=root", "install"}
	out, err := exec.CommandContext(l.t.Context(), "apt-get", append(args, packages...)...).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	require.NoError(l.t, os.RemoveAll(filepath.Join(debs, "partial")))
	out, err = exec.CommandContext(l.t.Context(), labCommand, "cp", l.name, debs, to).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
}

// role copies an example into the lab, converges it twice, and returns the output of the second run. edit is a shell
// script that changes its settings, run in its directory.
func (l *lab) role(name, edit string) {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), labCommand, "cp", l.name, "../../examples/roles/"+name, "/root/"+name).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	l.sh("cd /root/" + name + "\n" + edit)
	before := l.census()
	plan := l.sh("/opt/ccm/ccm plan /root/" + name + "/site.lua")
	touched := slices.DeleteFunc(differing(before, l.census()), func(line string) bool { return strings.HasPrefix(line, "/run/www.log\t") })
	require.Empty(l.t, touched, "the plan touched something")
	require.NotContains(l.t, plan, "failed:")
	l.sh("/opt/ccm/ccm run /root/" + name + "/site.lua")
	require.Contains(l.t, l.sh("/opt/ccm/ccm run /root/"+name+"/site.lua"), "Nothing to do")
}

func TestRoleNginx(t *testing.T) {
	l := boot(t, debian)
	l.fromDebian("nginx")
	l.role("nginx", "")
	l.says("active\nenabled", "systemctl is-active nginx; systemctl is-enabled nginx")
	l.sh("mkdir -p /srv/www && echo hello > /srv/www/index.html")
	l.says("hello", "python3 -c \"import urllib.request as u; print(u.urlopen(u.Request('http://127.0.0.1/', headers={'Host': 'www.example.com'})).read().decode().strip())\"")
	// A configuration that nginx refuses is taken back, and nginx runs on.
	l.sh(`sed -i 's/root .srv.www/rot \/srv\/www/' /root/nginx/site.yaml`)
	out := l.exec("/opt/ccm/ccm", "run", "/root/nginx/site.lua")
	require.Equal(t, 4, out.status)
	require.Contains(t, out.stdout, `unknown directive "rot"`)
	l.says("1", "grep -c 'root /srv/www' /etc/nginx/conf.d/www.example.com.conf")
	l.says("active", "systemctl is-active nginx")
}

func TestRolePostgresql(t *testing.T) {
	l := boot(t, debian)
	l.fromDebian("postgresql", "postgresql-contrib", "locales")
	l.role("postgresql", "")
	login := func(password string) output {
		return l.exec("env", "PGPASSWORD="+password, "psql", "-h", "127.0.0.1", "-U", "app", "-Atc", "SELECT current_user", "app")
	}
	require.Equal(t, "app\n", login("change me").stdout)
	require.Contains(t, l.sh("locale -a"), "en_US.utf8")
	// A changed password is changed in the database, and not printed.
	l.sh("sed -i 's/password: change me/password: another one/' /root/postgresql/site.yaml")
	report := l.sh("/opt/ccm/ccm run /root/postgresql/site.lua")
	require.Contains(t, report, "exec#role app: Executed")
	require.NotContains(t, report, "another one")
	require.Equal(t, "app\n", login("another one").stdout)
	require.Contains(t, l.sh("/opt/ccm/ccm run /root/postgresql/site.lua"), "Nothing to do")
}

func TestRoleUsers(t *testing.T) {
	l := boot(t, debian)
	l.sh("useradd -m bar")
	l.role("users", "")
	l.says("uid=1001(foo) gid=1001(foo) groups=1001(foo),10000(developers)", "id foo")
	l.says("600 foo 700 foo", "stat -c '%a %U' /home/foo/.ssh/authorized_keys /home/foo/.ssh | xargs")
	l.says("gone", "id bar 2> /dev/null || echo gone")
}

func TestRoleHardening(t *testing.T) {
	l := boot(t, debian)
	l.fromDebian("openssh-server", "openssh-client", "auditd", "libpam-passwdqc")
	l.role("hardening", "")
	l.says("active\nenabled", "systemctl is-active ssh; systemctl is-enabled ssh")
	l.says("maxauthtries 2\npermitrootlogin no", "sshd -T | grep -E '^(maxauthtries|permitrootlogin) ' | sort")
	l.says("755", "stat -c %a /usr/bin/chfn")
	require.Contains(t, l.sh("cat /etc/pam.d/common-auth"), "pam_faillock.so authfail")
}

// publishDocker serves a repository, signed like Docker's, with small packages of the same names.
const publishDocker = `
cd /srv/www
mkdir -p debian/dists/bookworm/stable/binary-amd64 debian/pool
for name in docker-ce docker-ce-cli docker-ce-rootless-extras containerd.io docker-buildx-plugin docker-compose-plugin; do
	mkdir -p /tmp/deb/DEBIAN
	printf 'Package: %s\nVersion: 5:27.0\nArchitecture: all\nMaintainer: t <t@example.invalid>\nDescription: t\n' $name > /tmp/deb/DEBIAN/control
	if [ $name = docker-ce ]; then
		mkdir -p /tmp/deb/usr/bin /tmp/deb/lib/systemd/system
		printf '#!/bin/sh\ngrep -q log-driver "$3"\n' > /tmp/deb/usr/bin/dockerd
		chmod 755 /tmp/deb/usr/bin/dockerd
		printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n' > /tmp/deb/lib/systemd/system/docker.service
		printf '#!/bin/sh\ngroupadd -f --system docker\nsystemctl daemon-reload\n' > /tmp/deb/DEBIAN/postinst
		chmod 755 /tmp/deb/DEBIAN/postinst
	fi
	dpkg-deb --root-owner-group --build /tmp/deb debian/pool/${name}_27.0_all.deb > /dev/null
	rm -r /tmp/deb
done
cd debian
apt-ftparchive packages pool > dists/bookworm/stable/binary-amd64/Packages
apt-ftparchive -o APT::FTPArchive::Release::Codename=bookworm -o APT::FTPArchive::Release::Components=stable -o APT::FTPArchive::Release::Architectures=amd64 release dists/bookworm > /tmp/Release
mv /tmp/Release dists/bookworm/
export GNUPGHOME=/tmp/gnupg
mkdir -m 700 $GNUPGHOME
gpg --batch --quiet --passphrase '' --quick-generate-key lab@example.invalid ed25519 sign never
gpg --armor --export > gpg
gpg --batch --quiet --clearsign -o dists/bookworm/InRelease dists/bookworm/Release`

func TestRoleDocker(t *testing.T) {
	l := boot(t, debian)
	l.serve()
	l.sh(publishDocker)
	l.sh("useradd ann")
	l.role("docker", `sed -i -e 's,url: https://download.docker.com/linux,url: http://127.0.0.1:8080,' -e 's/users: \[\]/users: [ann]/' site.yaml`)
	l.says("active\nenabled", "systemctl is-active docker; systemctl is-enabled docker")
	require.Contains(t, l.sh("cat /etc/docker/daemon.json"), `"max-size": "100m"`)
	require.True(t, strings.HasSuffix(l.sh("getent group docker"), ":ann"))
}
