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

	"github.com/luaccm/ccm/test/tally"
)

// TestKill kills runs of a site with fifty resources with kill -9, at two hundred of their effects on the disk, and
// then runs the site again: the machine is as declared, all necessary refreshes of services and commands were done,
// no temporary file is left, and the history can be read.
func TestKill(t *testing.T) {
	nightly(t)
	tries := tally.Of(t, "`kill -9` of the process before a step, 50 resources with a real systemd, both directions",
		"the next run converges, every command and the service was refreshed after the last change of what it reads, no temporary file, history readable, nothing pending")
	build := exec.Command("go", "build", "-trimpath", "-tags", "killpoint", "-o", filepath.Join(binaries, "ccm-kill"), "../../cmd/ccm")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	l := boot(t, debian)
	l.sh("mkdir -p /srv/kill/1; cp /srv/sites/reliability/reader.service /etc/systemd/system/; systemctl daemon-reload")
	l.version("A")
	effects := [2]int{l.effects("B", "A"), l.effects("A", "B")}
	l.version("B")

	const kills, batch = 270, 30
	killed := 0
	for first := 0; first < kills; first += batch {
		script := "/srv/sites/reliability/kill.sh A"
		for i := first; i < first+batch; i++ {
			// Spread over all effects in both directions, including the last ones.
			script += fmt.Sprint(" ", 1+i*(effects[i%2]-1)/(kills-1))
		}
		said := l.sh(script)
		tries.Add(strings.Count(said, "killed"))
		killed += strings.Count(said, "killed")
		require.Empty(t, strings.TrimSpace(strings.ReplaceAll(said, "killed", "")))
	}
	t.Logf("%d of %d runs were killed, of %v effects", killed, kills, effects)
	require.GreaterOrEqual(t, killed, 200)
}

// version brings the site to a version.
func (l *lab) version(version string) {
	l.t.Helper()
	l.sh("/opt/ccm/ccm run /srv/sites/reliability/site.lua -- " + version)
}

// effects returns the number of effects of a run from one version to another.
func (l *lab) effects(from, to string) int {
	l.t.Helper()
	killed := func(at int) bool {
		l.t.Helper()
		l.version(from)
		return l.sh(fmt.Sprintf("CCM_KILL_AT=%d /opt/ccm/ccm-kill run /srv/sites/reliability/site.lua -- %s > /dev/null 2>&1 || echo $?", at, to)) == "137"
	}
	low, high := 1, 2
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
	return low
}
