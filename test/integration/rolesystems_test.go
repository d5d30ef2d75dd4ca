//go:build integration

package integration

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// onSystems runs ccm test on this machine, with the cache in a folder.
func onSystems(t *testing.T, cache string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "ccm"), append([]string{"test"}, args...)...)
	cmd.Env = append(os.Environ(), "CCM_CACHE_DIR="+cache, "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// labDir is where test/lab/lab has its systems.
func labDir(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	return cmp.Or(os.Getenv("LAB_DIR"), filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "ccm-lab"))
}

// lowerLayers matches the layers below a lab in its list of mounts.
var lowerLayers = regexp.MustCompile(` - overlay overlay \S*lowerdir=([^,\s]+)`)

// image returns the machine as a system for ccm test: what was written to it, over the layers below.
func (l *lab) image() string {
	l.t.Helper()
	dir := labDir(l.t)
	record, err := os.ReadFile(filepath.Join(dir, "run", l.name, "pid"))
	require.NoError(l.t, err)
	pid, _, _ := strings.Cut(string(record), " ")
	mounts, err := os.ReadFile("/proc/" + pid + "/mountinfo")
	require.NoError(l.t, err)
	lower := lowerLayers.FindStringSubmatch(string(mounts))
	require.NotNil(l.t, lower, "%s", mounts)
	up := filepath.Join(l.t.TempDir(), "up")
	out, err := exec.CommandContext(l.t.Context(), "cp", "-a", "/proc/"+pid+"/root"+dir+"/run/"+l.name+"/mnt/up", up).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	layers := []string{up}
	for name := range strings.SplitSeq(lower[1], ":") {
		layers = append(layers, filepath.Join(dir, name))
	}
	return "image:" + strings.Join(layers, ":")
}

// TestRolesOnSystems: ccm test passes each role, with a reboot, on systems with apt and with dnf, which have the packages
// that the role names.
func TestRolesOnSystems(t *testing.T) {
	nightly(t)
	cache := t.TempDir()
	t.Run("sites", func(t *testing.T) {
		for _, s := range plannedSites {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), s.name)
				require.NoError(t, os.CopyFS(dir, os.DirFS("../../examples/roles/"+s.name)))
				edit := exec.CommandContext(t.Context(), "sh", "-c", s.edit)
				edit.Dir = dir
				out, err := edit.CombinedOutput()
				require.NoError(t, err, "%s", out)
				systems := make([]string, 2)
				var preparing sync.WaitGroup
				for i, family := range []string{debian, rhel} {
					preparing.Go(func() {
						l := bootAs(t, "rs-"+s.name+"-"+family, family)
						l.ready(s, family)
						systems[i] = family + "=" + l.image()
					})
				}
				preparing.Wait()
				text, err := onSystems(t, cache, "--reboot", "--system", strings.Join(systems, ","), dir)
				require.NoError(t, err, text)
				require.Contains(t, text, "2 systems: 2 passed, 0 failed")
				require.Regexp(t, `(?m)^rhel +passed +reboot: `, text)
			})
		}
	})
	left, err := os.ReadDir(filepath.Join(cache, "systems/run"))
	require.NoError(t, err)
	require.Empty(t, left)
}
