package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestMain(m *testing.M) {
	hosttest.AttackIfAsked()
	newHost = wholeMachine
	testscript.Main(memoryFS{m}, map[string]func(){
		"ccm": func() {
			clock = hosttest.Clock{} // makes reports comparable
			startCPU = func() time.Duration { return 0 }
			main()
		},
		"realccm":      main,
		"confinedccm":  func() { clock, newHost = hosttest.Clock{}, nil; main() },
		"laterccm":     func() { clock = laterClock{}; main() },
		"with-systemd": withSystemd,
		"peak-of":      peakOf,
		"runs-of-ccm":  runsOfCCM,
	})
}

// askVariable is set where plans may ask servers. Other tests do not depend on a network.
const askVariable = "CCM_TEST_ASK_SERVERS"

// wholeMachine makes a host for which a root is not an image but a whole machine, whose commands are those of this one:
// most tests work below a directory. It is running, whatever process 1 is. Confinedccm is as users have it.
func wholeMachine(o host.Options) *host.Host {
	if o.Foreign = false; o.Offline != "--offline" {
		o.Offline = ""
	}
	o.AskNoServers = os.Getenv(askVariable) == ""
	return host.New(o)
}

// long skips a test that takes seconds in make test. Scripts say [short] skip.
func long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test-all runs it")
	}
}

// A laterClock is an hour ahead, as on a machine on which nothing has happened for an hour.
type laterClock struct{ host.RealClock }

// Now implements host.Clock.
func (laterClock) Now() time.Time { return time.Now().Add(time.Hour) }

// TestScript runs testdata/script/*.txtar: files, commands, their output and exit status. UPDATE=1 writes the
// compared output.
//
// Scripts have their own directory as $WORK, their state in $WORK/state, and the user and group of the test as $OWNER
// and $GROUP. [root] is whether that user is root, and [chroot] whether commands can enter a root.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("CCM_STATE_DIR", filepath.Join(e.WorkDir, "state"))
			e.Setenv("CCM_CACHE_DIR", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("OWNER", strconv.Itoa(os.Geteuid()))
			e.Setenv("GROUP", strconv.Itoa(os.Getegid()))
			e.Setenv("NO_COLOR", "1")
			return os.MkdirAll(filepath.Join(e.WorkDir, "root", "etc"), 0o755)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "chroot":
				return canChroot(t), nil
			}
			return false, fmt.Errorf("no condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  exitStatusOf,
			"mode":    modeOf,
			"waitfor": waitFor,
		},
	})
}

// canChroot reports whether commands can enter a root here: whether one that it does not have is looked for there.
func canChroot(t *testing.T) bool {
	_, err := command.Exec{}.Run(t.Context(), command.Cmd{Chroot: t.TempDir(), Argv: []string{"true"}})
	_, entered := errors.AsType[*command.NotFoundError](err)
	_, ldd := exec.LookPath("ldd")
	return entered && ldd == nil
}

// exitStatusOf runs ccm and checks its exit status: status 2 plan site.lua.
func exitStatusOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N arguments-of-ccm...")
	}
	got := 0
	if err := ts.Exec("ccm", args[1:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit status %d, expected %s", got, args[0])
	}
}

// modeOf checks the mode of a file: mode 0644 path.
func modeOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode OCTAL FILE")
	}
	fi, err := os.Lstat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", fi.Mode().Perm()); got != args[0] {
		ts.Fatalf("mode of %s is %s, want %s", args[1], got, args[0])
	}
}

// waitFor waits until a file exists: waitfor path.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	for deadline := time.Now().Add(longEnough); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s does not appear", args[0])
}
