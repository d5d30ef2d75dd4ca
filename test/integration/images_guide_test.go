//go:build integration

package integration

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// TestImagesGuide runs the commands of docs/images.md on a machine with a mirror of Debian: the image is built and booted,
// and a plan of its site finds nothing to do there.
func TestImagesGuide(t *testing.T) {
	nightly(t)
	text, err := os.ReadFile("../../docs/images.md")
	require.NoError(t, err)
	l := boot(t, debian)
	l.mirrorDebian()
	l.fromDebian("mmdebstrap", "systemd-container", "buildah")
	l.sh("apt-get -qq install --no-install-recommends mmdebstrap systemd-container buildah >/dev/null 2>&1; cp /opt/ccm/ccm /usr/local/bin/; cp /opt/ccm/ccm /root/")

	l.writeFiles("../../docs/images.md")
	for _, b := range dialog.Blocks(string(text)) {
		if !b.IsDialog() {
			continue
		}
		for _, c := range b.Commands() {
			// The machine has no network and no terminal.
			line := strings.Replace(c.Line, "bookworm /srv/image", "bookworm /srv/image 'deb [trusted=yes] copy:/srv/debian bookworm main'", 1)
			switch {
			case strings.HasPrefix(line, "systemd-nspawn "):
				l.bootImage(strings.TrimSpace(line), c)
				continue
			case strings.HasPrefix(line, "buildah "):
				line = strings.Replace(line, "buildah build", "buildah build --isolation chroot --storage-driver vfs --volume /srv/debian:/srv/debian:ro", 1)
			}
			got := l.sh("cd /root; { " + line + "\n} 2>&1 || true")
			require.Regexp(t, c.Answer(), got+"\n", "$ %s", c.Line)
			if strings.HasPrefix(line, "mmdebstrap ") {
				l.sh(afterBootstrap)
			}
		}
	}
}

// TestImagesOfOtherTools gives the files of docs/images.md to mkosi, and those of docs/recipes/pipelines.md to Packer, which
// only parses them, and to cloud-init.
func TestImagesOfOtherTools(t *testing.T) {
	nightly(t)
	l := boot(t, debian)
	l.mirrorDebian("ca-certificates", "usr-is-merged", "libpam-systemd", "systemd-resolved")
	l.fromDebian("mkosi", "debootstrap", "packer", "cloud-init", "curl")
	l.sh("apt-get -qq install --no-install-recommends mkosi debootstrap packer curl >/dev/null 2>&1; cp /opt/ccm/ccm /usr/local/bin/")
	l.writeFiles("../../docs/images.md")
	blocks := l.writeFiles("../../docs/recipes/pipelines.md")
	t.Run("Packer", func(t *testing.T) {
		l := &lab{t: t, name: l.name, up: l.up}
		l.sh(`mkdir /srv/packer; cd /srv/packer; cp /root/image.pkr.hcl .; printf 'source "amazon-ebs" "debian" {\n}\n' > source.pkr.hcl; packer validate -syntax-only .`)
	})
	t.Run("CloudInit", func(t *testing.T) {
		require.NotEmpty(t, blocks["user-data.yaml"])
		l := &lab{t: t, name: l.name, up: l.up}
		l.cloudInit(blocks["user-data.yaml"])
	})
	t.Run("Mkosi", func(t *testing.T) {
		l := &lab{t: t, name: l.name, up: l.up}
		l.sh(`mkdir /srv/mkosi; cd /srv/mkosi; install -m 0755 /root/mkosi.finalize .
grep -v nginx /root/site.lua > site.lua
mkosi --distribution debian --release bookworm --local-mirror file:///srv/debian --repository-key-check no --format directory --output image build >/tmp/mkosi.log 2>&1 || { cat /tmp/mkosi.log; exit 1; }`)
		l.says("Built by ccm.", "cat /srv/mkosi/image/etc/motd")
		l.says("web1", "cat /srv/mkosi/image/etc/hostname")
	})
}

// TestReadOnlyUsr: on a machine as of bootc and OSTree, with a read-only /usr, what docs/images.md lists works, and the
// others fail and change nothing.
func TestReadOnlyUsr(t *testing.T) {
	l := boot(t, debian)
	l.sh("mount --bind /usr /usr; mount -o remount,bind,ro /usr")
	ok := "/opt/ccm/ccm run --detailed-exitcodes " + sites + "readonly.lua"
	require.Equal(t, 2, l.exec("sh", "-c", ok).status)
	l.is("hello", "active", "enabled")
	l.says("app:4000", "getent passwd app | cut -d: -f1,3")
	require.Contains(t, l.sh(ok), "Nothing to do")

	for declaration, why := range map[string]string{
		"package ccm-demo": "Read-only file system",
		"file /usr/local/bin/x --content x --owner root --group root --mode 0755": "/usr/local/bin/x is on a read-only mount, /usr",
	} {
		out := l.exec("sh", "-c", "/opt/ccm/ccm ensure "+declaration)
		require.Equal(t, 4, out.status, out.stdout+out.stderr)
		require.Contains(t, out.stdout, why)
	}
	l.sh("! test -e /usr/local/bin/x; ! test -e /usr/bin/ccm-demo")
}

// writeFiles writes the files that a page shows into /root, and returns them by name.
func (l *lab) writeFiles(page string) map[string]string {
	l.t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(l.t, err)
	files := make(map[string]string)
	for _, b := range dialog.Blocks(string(text)) {
		if b.File != "" {
			l.write("/root/"+b.File, []byte(b.Text))
			files[b.File] = b.Text
		}
	}
	return files
}

// afterBootstrap keeps the system for the Containerfile, and shows the mirror in the image.
const afterBootstrap = `
cp -a /srv/image /srv/base
tar -C /srv/base -cf /srv/base.tar .
c=$(buildah --storage-driver vfs from scratch)
buildah --storage-driver vfs add -q $c /srv/base.tar / >/dev/null
buildah --storage-driver vfs commit -q $c docker.io/library/debian:12 >/dev/null
rm -r /srv/base /srv/base.tar
mkdir /srv/image/srv/debian
mount --bind /srv/debian /srv/image/srv/debian`

// mirrorDebian makes /srv/debian, a mirror with the packages of a small system with systemd and nginx, and more.
func (l *lab) mirrorDebian(more ...string) {
	l.t.Helper()
	l.takeDebian("", "/srv/debian/pool", "?essential", "?priority(required)", "apt", "systemd-sysv", "dbus", "nginx")
	if len(more) > 0 {
		l.takeDebian("", "/srv/debian/pool/more", more...)
	}
	l.sh(`cd /srv/debian; mkdir -p dists/bookworm/main/binary-amd64
apt-ftparchive packages pool > dists/bookworm/main/binary-amd64/Packages
o=APT::FTPArchive::Release
apt-ftparchive -o $o::Codename=bookworm -o $o::Suite=oldstable -o $o::Components=main -o $o::Architectures=amd64 release dists/bookworm > Release
mv Release dists/bookworm/`)
}

// bootImage starts the container of a command, and checks that it gets to its login prompt and what ccm finds in it.
func (l *lab) bootImage(command string, c dialog.Command) {
	l.t.Helper()
	l.sh("umount /srv/image/srv/debian; rmdir /srv/image/srv/debian; cd /root; setsid " + command +
		" --bind-ro=/root:/mnt </dev/null >/tmp/console 2>&1 &")
	l.until("the image boots", "grep -q ' login: ' /tmp/console")
	require.Regexp(l.t, c.Answer(), l.sh("tr -d '\\r' < /tmp/console")+"\n")
	inside := "nsenter -a -t \"$(machinectl show --value -p Leader image)\" "
	require.Contains(l.t, l.sh(inside+"/mnt/ccm plan /mnt/site.lua"), "Nothing to do")
	l.says("active", inside+"systemctl is-active nginx")
	require.Contains(l.t, l.sh(inside+"/mnt/ccm history"), "run /root/site.lua")
	require.Contains(l.t, l.sh(inside+"/mnt/ccm drift"), "No drift")
	l.sh(inside + "/mnt/ccm undo")
	l.sh("! grep -q ccm /srv/image/etc/motd")
	l.sh("machinectl terminate image")
}

// cloudInit has cloud-init configure the machine as at its first boot, with a local server in place of the one in the
// user data.
func (l *lab) cloudInit(userData string) {
	l.t.Helper()
	l.sh(`apt-get -qq install --no-install-recommends cloud-init >/dev/null 2>&1
mkdir -p /srv/www/site /var/lib/cloud/seed/nocloud
cp /opt/ccm/ccm /srv/www/ccm-linux-amd64
grep -v nginx /root/site.lua > /srv/www/site/site.lua
cd /srv/www; /opt/ccm/ccm bundle site >/dev/null
systemd-run -q --service-type=notify --unit www /opt/ccm/server /srv/www /tmp/www.log
echo 'instance-id: web1' > /var/lib/cloud/seed/nocloud/meta-data
printf '%s\n' 'datasource_list: [NoCloud]' 'cloud_init_modules: []' 'cloud_config_modules: [runcmd]' 'cloud_final_modules: [scripts-user]' > /etc/cloud/cloud.cfg`)
	userData = strings.NewReplacer("https://example.org", "http://localhost:8080", "site.tar.gz", "site.tar.gz --sha256 "+l.sh("sha256sum /srv/www/site.tar.gz | cut -d' ' -f1")).Replace(userData)
	l.write("/var/lib/cloud/seed/nocloud/user-data", []byte(userData))
	l.sh("for stage in 'init --local' init 'modules --mode config' 'modules --mode final'; do cloud-init $stage >>/tmp/cloud.log 2>&1 || { cat /tmp/cloud.log; exit 1; }; done")
	l.says("Built by ccm.", "cat /etc/motd")
	require.Contains(l.t, l.sh("ccm history"), "site.tar.gz")
}
