//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// TestImage: ccm run --root on the host builds an image with the packages of each family. Booted, it is a machine on which
// a plan of the same site finds nothing to do, and in which the services run.
func TestImage(t *testing.T) {
	t.Parallel()
	for family, x := range map[string]struct {
		suffix  string // of the packages
		service string // that a package brings; "" for none
		version string
	}{
		debian: {"", "ccm-demo", "2.0"},
		rhel:   {"rpm", "ccm-demo-rpm", "2.0-1.lab"},
		suse:   {"rpm", "ccm-demo-rpm", "2.0-1.lab"},
		arch:   {"pac", "", "2.0-1"},
	} {
		if testing.Short() && family != debian && family != rhel {
			continue
		}
		t.Run(family, func(t *testing.T) {
			dir := t.TempDir()
			site, err := filepath.Abs("testdata/image.lua")
			require.NoError(t, err)
			run := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), labCommand, append([]string{"image", dir, "--family", family, "--", binaries + "/ccm"}, args...)...)
				cmd.Env = append(cmd.Environ(), "NO_COLOR=1", "CCM_STATE_DIR=")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				return string(out)
			}
			root := filepath.Join(dir, "root")
			built := run("run", "--root", root, site, x.suffix)
			require.Contains(t, built, "Installed (version "+x.version+")")
			require.Contains(t, built, "service#hello: Enabled for the first boot")
			require.Contains(t, run("run", "--root", root, site, x.suffix), "Nothing to do")

			l := bootAs(t, "it-image-"+family, family, "--image", dir)
			require.Contains(t, l.sh("/opt/ccm/ccm plan "+sites+"image.lua "+x.suffix), "Nothing to do")
			l.is("hello", "active", "enabled")
			if x.service != "" {
				l.is(x.service, "active", "enabled")
			}
			l.says("4000", "cat /srv/app/started")
			l.says("it-image", "hostname")
			l.says("enabled", "systemctl is-enabled tidy.timer")
			require.Contains(t, l.sh("/opt/ccm/ccm history"), "image.lua")
			require.Contains(t, l.sh("/opt/ccm/ccm status"), "service#hello")
			require.Contains(t, l.sh("/opt/ccm/ccm drift"), "No drift")
			l.sh("/opt/ccm/ccm undo")
			l.sh("! grep -q 'Built by ccm' /etc/motd; ! test -e /etc/cron.d/job")
		})
	}
}

// TestTutorialImage: the site of the tutorial builds an image of Debian and one with dnf. Booted, each is a machine on
// which a plan of the site finds nothing to do, and that serves the page.
func TestTutorialImage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/tutorial.md")
	require.NoError(t, err)
	for family, packages := range map[string]string{
		debian: "cp /srv/ccm-lab/archive/{nginx,nginx-common,curl,openssl}_* /srv/ccm-lab/apt/; /srv/ccm-lab/bin/index; apt-get -qq update; apt-get -qq install curl openssl",
		rhel:   "for name in nginx curl openssl; do\n" + debToRPM + "\ndone; /srv/ccm-lab/bin/index; dnf -q -y install curl openssl",
	} {
		t.Run(family, func(t *testing.T) {
			dir, web := t.TempDir(), filepath.Join(t.TempDir(), "web")
			require.NoError(t, os.Mkdir(web, 0o755))
			for _, b := range dialog.Blocks(string(text)) {
				if b.File != "" {
					require.NoError(t, os.WriteFile(filepath.Join(web, b.File), []byte(b.Text), 0o644))
				}
			}
			root := filepath.Join(dir, "root")
			run := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), labCommand, append([]string{"image", dir, "--family", family, "--", binaries + "/ccm"}, args...)...)
				cmd.Env = append(cmd.Environ(), "NO_COLOR=1", "CCM_STATE_DIR=")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				return string(out)
			}
			prepare := filepath.Join(t.TempDir(), "prepare.lua")
			require.NoError(t, os.WriteFile(prepare, []byte("exec { \"packages\", command = { \"bash\", \"-euc\", [==[\n"+packages+"\n]==] } }\n"), 0o644))
			run("run", "--root", root, "--state-dir", "none", prepare)
			run("run", "--root", root, web+"/site.lua")
			require.Contains(t, run("plan", "--root", root, web+"/site.lua"), "Nothing to do")

			l := bootAs(t, "it-tutorial-image-"+family, family, "--image", dir, "--bind", web+":/srv/web")
			require.Contains(t, l.sh("/opt/ccm/ccm plan /srv/web/site.lua"), "Nothing to do: 6 resources up to date")
			l.is("nginx", "active", "enabled")
			require.Contains(t, l.sh("curl -sk https://localhost/"), "<h1>hello")
			require.Contains(t, l.sh("/opt/ccm/ccm drift"), "No drift")
			l.sh("/opt/ccm/ccm undo")
			l.sh("! test -e /etc/nginx/conf.d/web.conf")
		})
	}
}
