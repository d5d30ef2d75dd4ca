// Package hosttest makes hosts for tests: the file system is a temporary
// directory, the clock stands still, and commands are answered by a function.
package hosttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

// A Runner answers commands like the real tool would, and records them. Its function should model
// the state of a small machine, not list expected commands.
type Runner struct {
	Answer func(host.Cmd) (host.Result, error)

	mu       sync.Mutex
	commands []string
}

// Run implements host.Runner.
func (r *Runner) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands = append(r.commands, c.String())
	if r.Answer == nil {
		return host.Result{}, fmt.Errorf("no command is expected here, got %s", c)
	}
	return r.Answer(c)
}

// Ran returns the commands that were run, as a shell would read them.
func (r *Runner) Ran() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.commands...)
}

// Clock always returns the same time.
type Clock struct{}

// Now implements host.Clock.
func (Clock) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// New returns a host on a fresh directory, and the directory. Commands are
// run by r; nil runs real ones, as if the directory were this machine.
func New(t testing.TB, r host.Runner) (*host.Host, string) {
	t.Helper()
	root := t.TempDir()
	if r == nil {
		r = command.Exec{}
	}
	return host.New(host.Options{Root: root, Runner: r, Clock: Clock{}}), root
}

// Me returns the names of the user and the group that the test runs as.
func Me() (owner, group string) {
	return fmt.Sprint(os.Geteuid()), fmt.Sprint(os.Getegid())
}

// ErrInjected is the error of an effect that a test made fail.
var ErrInjected = errors.New("injected failure")

// Failing returns an Effect for host.Options that fails the effects from number n (counted from
// 1) to n+more-1, and a function that returns how many effects were asked for.
func Failing(n, more int) (effect func(op, path string) error, asked func() int) {
	count := 0
	return func(string, string) error {
		count++
		if count >= n && count < n+more {
			return ErrInjected
		}
		return nil
	}, func() int { return count }
}

// Snapshot returns kind, permissions, owner and content of everything below
// root, by path.
func Snapshot(t testing.TB, root string) map[string]string {
	t.Helper()
	snap := make(map[string]string)
	require.NoError(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == root {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprintf("%s %d:%d ", info.Mode(), st.Uid, st.Gid)
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += string(b)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += "→ " + target
		}
		rel, err := filepath.Rel(root, path)
		snap[rel] = text
		return err
	}))
	return snap
}
