//go:build integration

package reliability

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/report"
)

// ccm is the binary that is tested.
var ccm string

func TestMain(m *testing.M) {
	os.Exit(withBinary(m.Run))
}

// withBinary builds ccm, or takes the one that CCM names.
func withBinary(run func() int) int {
	dir, err := os.MkdirTemp("", "ccm-reliability-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if ccm = os.Getenv("CCM"); ccm == "" {
		ccm = filepath.Join(dir, "ccm")
		build := exec.Command("go", "build", "-trimpath", "-o", ccm, "../../cmd/ccm")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "ccm cannot be built: %v\n%s", err, out)
			return 1
		}
	}
	return run()
}

// limit is how long a command may take. One that hangs is told from one that is slow.
const limit = 2 * time.Minute

// output is what a command said and how it ended.
type output struct {
	stdout, stderr string
	status         int // -1 if a signal ended it
}

// String shows what was said, for a test that fails.
func (o output) String() string { return fmt.Sprintf("status %d\n%s%s", o.status, o.stdout, o.stderr) }

// try runs a command, which has to end in time.
func try(t *testing.T, argv ...string) output {
	t.Helper()
	out, ended := tryFor(t, argv...)
	require.True(t, ended, "%q was not done after %v\n%.2000s%.2000s", argv, limit, out.stdout, out.stderr)
	return out
}

// tryFor runs a command, and kills it when the time is over: then ended is false.
func tryFor(t *testing.T, argv ...string) (out output, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil
	}
	require.NoError(t, err, "%q\n%s%s", argv, &stdout, &stderr)
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, ctx.Err() == nil
}

// do runs a command that has to succeed, and returns what it said without the last line
// break.
func do(t *testing.T, argv ...string) string {
	t.Helper()
	out := try(t, argv...)
	require.Zero(t, out.status, "%q\n%s", argv, out)
	return strings.TrimRight(out.stdout, "\n")
}

// needs skips the test unless it is run by root and the commands are there.
func needs(t *testing.T, commands ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount file systems and limit memory")
	}
	for _, c := range commands {
		if _, err := exec.LookPath(c); err != nil {
			t.Skipf("%s is not installed", c)
		}
	}
}

// attach returns a loop device over a file. It is detached when the test ends.
func attach(t *testing.T, file string) string {
	t.Helper()
	out := try(t, "losetup", "--find", "--show", file)
	if out.status != 0 {
		t.Skipf("there is no loop device: %s", out.stderr)
	}
	device := strings.TrimSpace(out.stdout)
	t.Cleanup(func() {
		out, err := exec.Command("losetup", "--detach", device).CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	return device
}

// A filesystem is a kind of file system that can be made in a file.
type filesystem struct {
	name string
	size int64
	mkfs []string
	// options are how it is mounted: so that it does no more for programs that do not
	// sync than it has to.
	options string
}

var filesystems = []filesystem{
	{"ext4", 64 << 20, []string{"mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"}, "noauto_da_alloc,data=writeback"},
	{"xfs", 300 << 20, []string{"mkfs.xfs", "-q"}, "defaults"},
}

// image makes a file with an empty file system.
func (k filesystem) image(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, k.size))
	do(t, append(k.mkfs, file)...)
	return file
}

// mount mounts a device, or an image, and unmounts it when the test ends.
func mount(t *testing.T, device, dir string, options ...string) {
	t.Helper()
	do(t, append([]string{"mount", device, dir}, options...)...)
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", dir).Run() })
}

// A verdict is what ccm said of a run.
type verdict struct {
	output
	events  map[string]report.Event
	summary report.Summary
}

// run has ccm run a site.
func run(t *testing.T, state, site string, args ...string) (v verdict) {
	t.Helper()
	return verdictOf(t, try(t, runs(state, site, args...)...))
}

// runs is the command that runs a site.
func runs(state, site string, args ...string) []string {
	return append([]string{ccm, "run", "--output", "json", "--allow-insecure", "--state-dir", state, "--", site}, args...)
}

// verdictOf reads what ccm said of a run.
func verdictOf(t *testing.T, out output) (v verdict) {
	t.Helper()
	v = verdict{output: out, events: make(map[string]report.Event)}
	for line := range strings.Lines(v.stdout) {
		var e report.Event
		require.NoError(t, json.Unmarshal([]byte(line), &e), "%s", v)
		if e.Protocol == report.SummaryProtocol {
			require.NoError(t, json.Unmarshal([]byte(line), &v.summary))
			continue
		}
		v.events[e.Type+"#"+e.Name] = e
	}
	return v
}
