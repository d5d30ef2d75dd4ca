//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// labCommand boots the systems.
const labCommand = "../lab/lab"

// binaries is the directory that all labs see as /opt/ccm: ccm and server.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(withBinaries(m.Run))
}

// withBinaries builds what runs in the labs, and the lab system if it is not
// there yet. Where that is not possible the tests fail: they cannot be skipped
// unnoticed. CCM names a ccm that was built already.
func withBinaries(run func() int) int {
	dir, err := os.MkdirTemp("", "ccm-integration-")
	if err == nil {
		binaries = dir
		defer os.RemoveAll(dir)
		err = prepare(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the integration tests cannot run:", err)
		return 1
	}
	return run()
}

func prepare(dir string) error {
	ccm := []string{"go", "build", "-trimpath", "-o", filepath.Join(dir, "ccm"), "../../cmd/ccm"}
	if ready := os.Getenv("CCM"); ready != "" {
		ccm = []string{"cp", ready, filepath.Join(dir, "ccm")}
	}
	for _, argv := range [][]string{
		{labCommand, "check"},
		ccm,
		{"go", "build", "-trimpath", "-o", filepath.Join(dir, "server"), "./server"},
		{labCommand, "build"},
	} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return os.Chmod(dir, 0o755)
}
