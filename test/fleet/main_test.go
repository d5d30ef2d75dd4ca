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
	build := func(from, out, pkg string) {
		cmd := exec.Command("go", "build", "-o", out, pkg)
		cmd.Dir, cmd.Stderr = from, os.Stderr
		if err := cmd.Run(); err != nil {
			panic(err)
		}
	}
	build("../..", binary, "./cmd/ccm")
	build(".", natsServer, "github.com/nats-io/nats-server/v2")
	code := m.Run()
	endShared()
	os.RemoveAll(dir)
	os.Exit(code)
}
