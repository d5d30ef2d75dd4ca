//go:build integration

package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// labCommand is the program that boots the systems.
const labCommand = "../lab/lab"

// binaries is the directory that all labs see as /opt/ccm: ccm, server and services.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(withBinaries(m.Run))
}

// withBinaries builds the programs for the labs, and the system of the labs if it is missing. If that is impossible
// the tests fail, so that they are not skipped unnoticed. CCM names an existing binary of ccm.
func withBinaries(run func() int) int {
	cannot := func(err error) int {
		fmt.Fprintln(os.Stderr, "the integration tests cannot run:", err)
		return 1
	}
	if err := command(labCommand, "check"); err != nil {
		return cannot(err)
	}
	lock, err := alone()
	if err != nil {
		return cannot(err)
	}
	defer lock.Close()
	if binaries, err = os.MkdirTemp("", "ccm-integration-"); err != nil {
		return cannot(err)
	}
	defer os.RemoveAll(binaries)
	if err := prepare(binaries); err != nil {
		return cannot(err)
	}
	return run()
}

// alone waits until no other process runs these tests on this machine, because labs of both have the same names. The
// lock is held until it is closed.
func alone() (lock *os.File, err error) {
	lock, err = os.OpenFile(filepath.Join(os.TempDir(), "ccm-integration.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return lock, nil
	}
	fmt.Fprintln(os.Stderr, "waiting for another run of the integration tests")
	return lock, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
}

func prepare(dir string) error {
	ccm := []string{"go", "build", "-trimpath", "-o", filepath.Join(dir, "ccm"), "../../cmd/ccm"}
	if ready := os.Getenv("CCM"); ready != "" {
		ccm = []string{"cp", ready, filepath.Join(dir, "ccm")}
	}
	return errors.Join(
		command(ccm...),
		command("go", "build", "-trimpath", "-o", dir, "./server", "./services"),
		// Only that module depends on it.
		command("go", "-C", "../fleet", "build", "-trimpath", "-o", filepath.Join(dir, "nats-server"), "github.com/nats-io/nats-server/v2"),
		command(labCommand, "build"),
		os.Chmod(dir, 0o755),
	)
}

// command runs a command on this machine.
func command(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
