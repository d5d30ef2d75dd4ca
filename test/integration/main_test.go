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

// labCommand boots the systems.
const labCommand = "../lab/lab"

// binaries is the directory that all labs see as /opt/ccm: ccm, server and services.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(withBinaries(m.Run))
}

// withBinaries builds what runs in the labs, and the lab system if it is not
// there yet. Where that is not possible the tests fail: they cannot be skipped
// unnoticed. CCM names a ccm that was built already.
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

// alone waits until no other run of these tests is going on on this machine,
// because the labs of both have the same names. Until the lock is closed the
// next one waits.
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
		// It is a dependency of that module alone.
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
