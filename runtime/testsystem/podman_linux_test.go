package testsystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPodman: the real podman, with storage of its own and an image of the base system of the labs.
func TestPodman(t *testing.T) {
	if os.Getenv("CCM_TEST_NIGHTLY") == "" {
		t.Skip("imports a large image: make systems")
	}
	target := labImage(t)
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	write := func(variable, name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		t.Setenv(variable, filepath.Join(dir, name))
	}
	write("CONTAINERS_STORAGE_CONF", "storage.conf",
		fmt.Sprintf("[storage]\ndriver = \"overlay\"\nrunroot = %q\ngraphroot = %q\n", filepath.Join(dir, "run"), filepath.Join(dir, "graph")))
	// The limits and the runtime are those that also work where root has few capabilities, and control groups are hybrid.
	text := "[containers]\nnetns = \"none\"\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n"
	if _, err := exec.LookPath("runc"); err == nil {
		text += "runtime = \"runc\"\n"
	}
	write("CONTAINERS_CONF", "containers.conf", text)
	t.Cleanup(func() { _ = exec.Command("umount", filepath.Join(dir, "graph/overlay")).Run() }) // podman mounts it on itself

	layers := strings.Split(target.Arg, ":")
	out, err := exec.Command("sh", "-c", `tar -C "$0" --one-file-system -c . | podman import - localhost/ccm-test-debian:12`, layers[len(layers)-1]).CombinedOutput()
	require.NoError(t, err, "%s", out)
	if out, err := exec.Command("podman", "run", "--rm", "localhost/ccm-test-debian:12", "true").CombinedOutput(); err != nil {
		t.Skipf("podman runs no containers here: %s", out)
	}
	target, err = ParseTarget("debian:12")
	require.NoError(t, err)
	contract(t, container{"podman"}, target)
	clean(t, container{"podman"}, target)
	left, err := exec.Command("podman", "ps", "--all", "--quiet").CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(left))
}
