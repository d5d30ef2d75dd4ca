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

// ccm is the tested binary.
var ccm string

func TestMain(m *testing.M) {
	os.Exit(withBinary(m.Run))
}

// withBinary builds ccm, or uses the binary in CCM.
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

// limit is the time limit of a command; a command that reaches it hangs.
const limit = 2 * time.Minute

// output is the output and exit status of a command.
type output struct {
	stdout, stderr string
	status         int // -1 after a signal
}

// String returns the output, for failures of tests.
func (o output) String() string { return fmt.Sprintf("status %d\n%s%s", o.status, o.stdout, o.stderr) }

// try runs a command, which must end in time.
func try(t *testing.T, argv ...string) output {
	t.Helper()
	out, ended := tryFor(t, argv...)
	require.True(t, ended, "%q was not done after %v\n%.2000s%.2000s", argv, limit, out.stdout, out.stderr)
	return out
}

// tryFor runs a command, and kills it at the time limit; then ended is false.
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

// do runs a command that must succeed, and returns its output without the last line break.
func do(t *testing.T, argv ...string) string {
	t.Helper()
	out := try(t, argv...)
	require.Zero(t, out.status, "%q\n%s", argv, out)
	return strings.TrimRight(out.stdout, "\n")
}

// needs skips the test unless it runs as root and the commands exist.
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

// attach returns a loop device on a file. It is detached at the end of the test.
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

// A filesystem is a type of file system that can be made in a file.
type filesystem struct {
	name string
	size int64
	mkfs []string
	// options are mount options with which it syncs no more than it must for programs that do not sync.
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

// mount mounts a device or an image, and unmounts it at the end of the test.
func mount(t *testing.T, device, dir string, options ...string) {
	t.Helper()
	do(t, append([]string{"mount", device, dir}, options...)...)
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", dir).Run() })
}

// A verdict is the output of ccm for a run.
type verdict struct {
	output
	events  map[string]report.Event
	summary report.Summary
}

// run runs a site with ccm.
func run(t *testing.T, state, site string, args ...string) (v verdict) {
	t.Helper()
	return verdictOf(t, try(t, runs(state, site, args...)...))
}

// runs returns the command line that runs a site.
func runs(state, site string, args ...string) []string {
	return append([]string{ccm, "run", "--output", "json", "--allow-insecure", "--state-dir", state, "--", site}, args...)
}

// verdictOf parses the output of a run.
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
