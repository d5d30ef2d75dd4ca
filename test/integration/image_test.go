//go:build integration

package integration

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
			require.Contains(t, l.sh("/opt/ccm/ccm history --state-dir /var/lib/ccm"), "image.lua")
		})
	}
}
