//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// onDnf has the differences from the tutorial, which is written for Debian, on machines with dnf: the command to
// install, that rpm packages start no service, and that plans know the lists of files that dnf has.
var onDnf = []struct{ debian, dnf string }{
	{"$ apt-get update\n", "$ dnf -q makecache\n"},
	{"$ apt-get install -y ", "$ dnf -q -y install "},
	{
		"! service#nginx: Reloaded, because exec#certificate and file#/etc/nginx/conf.d/web.conf changed\n" +
			"6 resources: 4 changed (1 by refresh), 2 up to date (...)\n",
		"~ service#nginx: Started. Enabled\n" +
			"    ensure  stopped → running\n" +
			"    enable  false → true\n" +
			"6 resources: 4 changed, 2 up to date (...)\n",
	},
	{
		"? exec#certificate: unknown before package#nginx (pending); now: would execute\n",
		"~ exec#certificate: after package#nginx (pending): would execute\n",
	},
	{"would create or update (7 lines", "would create (7 lines"},
	{"6 resources: 3 pending, 1 unknown, 2 up to date (...)", "6 resources: 4 pending, 2 up to date (...)"},
	{"6 resources: 6 changed (1 by refresh) (...)\n", "6 resources: 6 changed (...)\n"},
}

// TestTutorial runs the commands of docs/tutorial.md on two fresh machines with the package of ccm, and compares the
// output. The site survives an upgrade and removal of ccm.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/tutorial.md")
	require.NoError(t, err)

	t.Run("Deb", func(t *testing.T) {
		tutorial(t, string(text), installsDeb, func(l *lab) { l.fromDebian("nginx", "curl") })
	})
	t.Run("Rpm", func(t *testing.T) {
		page := string(text)
		for _, x := range onDnf {
			require.Contains(t, page, x.debian)
			page = strings.ReplaceAll(page, x.debian, x.dnf)
		}
		tutorial(t, page, installsRPM, func(l *lab) { l.fromArchive("nginx", "curl", "openssl") })
	})
}

// tutorial runs the commands of the page on machines with a package system. bring puts the packages that the page
// installs into the repository of a machine.
func tutorial(t *testing.T, page string, x installer, bring func(*lab)) {
	first := boot(t, x.family)
	second := bootAs(t, first.name+"-second", x.family)
	machines := map[string]*lab{"web1": first, "web2": second}
	for name, l := range machines {
		bring(l)
		l.sh("hostname " + name)
		l.offer(x, olderVersion)
		l.sh(x.install)
		l.says(x.older, x.installed)
	}

	copied := false
	for _, b := range dialog.Blocks(page) {
		if b.File != "" {
			first.write("/root/web/"+b.File, []byte(b.Text))
			continue
		}
		require.True(t, b.IsDialog(), "what is to be done with this block?\n%s", b.Text)
		for _, c := range b.Commands() {
			l := first
			if c.Prompt == "desk" { // this machine: for a system it has the second one, as it is now
				second.sh("command -v openssl || " + strings.TrimSuffix(x.install, "ccm") + "openssl")
				dir := t.TempDir()
				for name := range strings.Lines(first.sh("ls /root/web")) {
					name = strings.TrimSpace(name)
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(first.sh("cat /root/web/"+name)+"\n"), 0o644))
				}
				words := strings.Fields(strings.NewReplacer(" debian:12", " debian:12="+second.image(), " web", " "+dir).Replace(c.Line))
				got, err := onSystems(t, t.TempDir(), words[2:]...)
				require.NoError(t, err, got)
				require.Regexp(t, c.Answer(), got, "$ %s", c.Line)
				continue
			}
			if c.Prompt == "web2" {
				l = second
				if !copied {
					first.copyTo(second, "/root/web")
					copied = true
				}
			}
			got := l.sh("cd \"$(cat /tmp/where 2>/dev/null || echo /root)\"\n{ " + c.Line + "\n} 2>&1 || true\npwd >/tmp/where")
			require.Regexp(t, c.Answer(), got+"\n", "$ %s", c.Line)
		}
	}
	require.True(t, copied, "the tutorial has no second machine")

	for _, l := range machines {
		l.offer(x, newerVersion)
		l.sh(x.install)
		l.says(x.newer, x.installed)
		require.Contains(t, l.sh("cd /root/web; ccm run site.lua"), "Nothing to do: 6 resources up to date")
		l.sh(x.remove)
		l.sh("! test -e /usr/bin/ccm")
		l.says("active\nenabled", "systemctl is-active nginx; systemctl is-enabled nginx")
		require.Contains(t, l.sh("curl -sk https://localhost/"), "<h1>hello")
	}
}

// copyTo copies a directory of small text files to another lab.
func (l *lab) copyTo(other *lab, dir string) {
	l.t.Helper()
	other.sh("mkdir -p " + dir)
	for name := range strings.Lines(l.sh("ls " + dir)) {
		path := dir + "/" + strings.TrimSpace(name)
		other.write(path, []byte(l.sh("cat "+path)+"\n"))
	}
}
