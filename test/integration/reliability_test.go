//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKill ends runs of a site with fifty resources with kill -9, at two hundred
// of their effects on the disk, and then runs the site once more: the machine is
// as described, every service and command that had to be refreshed was, nothing
// is left lying about, and the history can be read.
func TestKill(t *testing.T) {
	build := exec.Command("go", "build", "-trimpath", "-tags", "killpoint", "-o", filepath.Join(binaries, "ccm-kill"), "../../cmd/ccm")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	l := boot(t, debian)
	l.sh("mkdir -p /srv/kill/1; cp /srv/sites/reliability/reader.service /etc/systemd/system/; systemctl daemon-reload")
	l.sh("/opt/ccm/ccm run /srv/sites/reliability/site.lua -- A")
	l.sh("/opt/ccm/ccm run /srv/sites/reliability/site.lua -- B")

	effects := l.effects()
	require.Greater(t, effects, 200)
	const kills, batch = 210, 30
	killed, version := 0, "A"
	for first := 0; first < kills; first += batch {
		script := "/srv/sites/reliability/kill.sh " + version
		for i := range batch {
			// Spread over all effects, the last one included.
			script += fmt.Sprint(" ", 1+(first+i)*(effects-1)/(kills-1))
		}
		said := l.sh(script)
		killed += strings.Count(said, "killed")
		require.Empty(t, strings.TrimSpace(strings.ReplaceAll(said, "killed", "")))
	}
	t.Logf("%d of %d runs were killed, at %d different effects", killed, kills, effects)
	require.Greater(t, killed, 200)
}

// effects returns how many effects a run of the site from B to A has, and runs it
// back to B.
func (l *lab) effects() int {
	l.t.Helper()
	low, high := 1, 1
	killed := func(at int) bool {
		l.t.Helper()
		l.sh("/opt/ccm/ccm run /srv/sites/reliability/site.lua -- B")
		return l.sh(fmt.Sprintf("CCM_KILL_AT=%d /opt/ccm/ccm-kill run /srv/sites/reliability/site.lua -- A > /dev/null 2>&1 || echo $?", at)) == "137"
	}
	for killed(high) {
		low, high = high, high*2
	}
	for low+1 < high {
		if at := (low + high) / 2; killed(at) {
			low = at
		} else {
			high = at
		}
	}
	l.sh("/opt/ccm/ccm run /srv/sites/reliability/site.lua -- B")
	return low
}
