//go:build integration

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
)

// sites is the path of testdata in labs.
const sites = "/srv/sites/"

// limit is the time limit of one command in a lab, ten times what any of them needs.
const limit = 10 * time.Minute

// patience is the time limit for a condition that the machine reaches by itself.
const patience = 6 * time.Minute

// A lab is a throw-away system.
type lab struct {
	t    *testing.T
	name string
	up   time.Time // time when it had booted
}

// The families of systems. A mixed one is Debian with all package systems.
const (
	mixed  = ""
	debian = "debian"
	rhel   = "rhel"
	suse   = "suse"
	arch   = "arch"
)

// boot boots a lab of a family for the test, which then runs in parallel with others. The lab is removed at the end
// of the test; KEEP=1 keeps it.
func boot(t *testing.T, family string) *lab {
	t.Helper()
	t.Parallel()
	return bootAs(t, "it-"+slug(t.Name()), family)
}

// nightly skips the test in the short form (make integration-short). docs/testing.md has the reason for each.
func nightly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make integration runs it")
	}
}

// bootAs boots a lab with a name, so that a test may have several, and with further options of lab up.
func bootAs(t *testing.T, name, family string, options ...string) *lab {
	t.Helper()
	testdata, err := filepath.Abs("testdata")
	require.NoError(t, err)
	l := &lab{t: t, name: name}
	args := []string{"up", l.name, "--replace", "--bind", binaries + ":/opt/ccm", "--bind", testdata + ":" + sites}
	if family != mixed {
		args = append(args, "--family", family)
	}
	args = append(args, options...)
	t.Cleanup(l.down)
	out, err := exec.CommandContext(t.Context(), labCommand, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	l.up = time.Now()
	l.sh(freshIndexes)
	return l
}

// freshIndexes gives the repositories of the lab and the package indexes the times of a machine that has just read them:
// the image may be days old, and ccm reads an index of over a day again. Later publications are newer.
const freshIndexes = "for d in /srv/ccm-lab/pacman /var/lib/pacman/sync /var/cache/zypp/raw /var/cache/dnf /var/lib/apt/lists; do " +
	"[ ! -d $d ] || find $d -exec touch -h -d '10 minutes ago' {} +; done"

// slug returns apt-unmet for TestAptUnmet, and also for TestApt/Unmet.
func slug(test string) string {
	var b strings.Builder
	for i, c := range strings.TrimPrefix(test, "Test") {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('-')
		}
		if c != '/' {
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// down removes the lab. If the test failed, it first logs the state of the system.
func (l *lab) down() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if l.t.Failed() {
		out, _ := exec.CommandContext(ctx, labCommand, "exec", l.name, "--",
			"journalctl", "--no-pager", "-q", "-n", "40", "--since", fmt.Sprintf("@%.3f", float64(l.up.UnixMilli())/1000)).CombinedOutput()
		l.t.Logf("the journal of lab %s ends with\n%s", l.name, out)
	}
	if os.Getenv("KEEP") != "" {
		l.t.Logf("lab %s is left up; test/lab/lab down %[1]s takes it down", l.name)
		return
	}
	out, err := exec.CommandContext(ctx, labCommand, "down", l.name).CombinedOutput()
	if err != nil {
		l.t.Errorf("down: %v\n%s", err, out)
	}
}

// output is the output and exit status of a command.
type output struct {
	stdout, stderr string
	status         int
}

// start starts a command in the lab. wait waits for its end, and returns an error after the time limit.
func (l *lab) start(argv ...string) (wait func() (output, error)) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), limit)
	cmd := exec.CommandContext(ctx, labCommand, append([]string{"exec", l.name, "--"}, argv...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(l.t, cmd.Start())
	return func() (output, error) {
		defer cancel()
		err := cmd.Wait()
		if _, exited := errors.AsType[*exec.ExitError](err); exited && ctx.Err() == nil {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("%q: %w\n%s%s", argv, errors.Join(err, ctx.Err()), &stdout, &stderr)
		}
		return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, err
	}
}

// exec runs a command in the lab.
func (l *lab) exec(argv ...string) output {
	l.t.Helper()
	out, err := l.start(argv...)()
	require.NoError(l.t, err)
	return out
}

// sh runs a shell script in the lab, which must succeed, and returns its output without the last line break.
func (l *lab) sh(script string) string {
	l.t.Helper()
	out := l.exec("sh", "-euc", script)
	require.Zero(l.t, out.status, "%s\n%s%s", script, out.stdout, out.stderr)
	return strings.TrimRight(out.stdout, "\n")
}

// says checks the output of a shell script.
func (l *lab) says(want, script string) {
	l.t.Helper()
	require.Equal(l.t, want, l.sh(script), "%s", script)
}

// write writes a file in the lab.
func (l *lab) write(path string, content []byte) {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), filepath.Base(path))
	require.NoError(l.t, os.WriteFile(file, content, 0o644))
	out, err := exec.CommandContext(l.t.Context(), labCommand, "cp", l.name, file, path).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
}

// knows adds the name of another machine to the hosts. The lab program rewrites /etc/hosts whenever a machine comes
// or goes, and appends /etc/hosts.more.
func (l *lab) knows(name string, other *lab) {
	l.t.Helper()
	l.sh("line=\"$(getent hosts " + other.name + " | cut -d' ' -f1) " + name + "\"; echo \"$line\" >> /etc/hosts.more; echo \"$line\" >> /etc/hosts; getent hosts " + name)
}

// until waits for a condition that the machine reaches by itself.
func (l *lab) until(what, script string) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.exec("sh", "-c", script).status == 0 }, patience, 50*time.Millisecond, "%s", what)
}
