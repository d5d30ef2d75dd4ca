// Package fleet_test tests ccm with real nats-servers. It is a separate module, so that ccm does not depend on the
// server.
package fleet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is ccm, and natsServer the nats-server of the version in go.mod.
var binary, natsServer string

// binariesVariable names the directory with both programs, for test processes started by others.
const binariesVariable = "CCM_FLEET_BINARIES"

func TestMain(m *testing.M) {
	dir := os.Getenv(binariesVariable)
	if dir != "" { // a test in its own network
		binary, natsServer = filepath.Join(dir, "ccm"), filepath.Join(dir, "nats-server")
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "ccm-fleet-")
	if err != nil {
		panic(err)
	}
	binary, natsServer = filepath.Join(dir, "ccm"), filepath.Join(dir, "nats-server")
	do := func(argv ...string) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			panic(err)
		}
	}
	if ready := os.Getenv("CCM"); ready != "" { // an existing binary
		do("cp", ready, binary)
	} else {
		do("go", "-C", "../..", "build", "-o", binary, "./cmd/ccm")
	}
	do("go", "build", "-o", natsServer, "github.com/nats-io/nats-server/v2")
	code := m.Run()
	endShared()
	os.RemoveAll(dir)
	os.Exit(code)
}
