package dnf

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestSuits(t *testing.T) {
	family := func(val any) *facts.Facts {
		return facts.Static(map[string]any{"os": map[string]any{"family": val}})
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, missing := range []string{"dnf", "rpm"} {
		_, err := suits(family("rhel"), resources.Package{})
		require.ErrorContains(t, err, `command "`+missing+`" not found in `+dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, missing), nil, 0o755))
	}
	for _, x := range []struct {
		facts *facts.Facts
		want  int
	}{
		{family("rhel"), 1}, {family("fedora"), 1}, {family(""), 1}, {facts.Static(nil), 1},
		{family("debian"), 50},
	} {
		priority, err := suits(x.facts, resources.Package{})
		require.NoError(t, err)
		require.Equal(t, x.want, priority)
	}
}

// One command at a time runs in this process, whoever asks.
func TestOneLock(t *testing.T) {
	m := newMachine()
	var running atomic.Int32
	answer := func(c host.Cmd) (host.Result, error) {
		if running.Add(1) != 1 {
			return host.Result{}, errors.New("two commands at once")
		}
		defer running.Add(-1)
		return m.Answer(c)
	}
	errs := make(chan error)
	const n = 8
	for range n {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: answer})
		go func() {
			for range 20 {
				if _, err := (packages{}).Status(t.Context(), &h.View, pkg("ccm-demo-rpm", "latest")); err != nil {
					errs <- err
					return
				}
			}
			errs <- packages{}.Install(t.Context(), h, "python3.11", "3.11.4")
		}()
	}
	nothing := 0
	for range n {
		if err := <-errs; err != nil {
			require.ErrorContains(t, err, "is already installed")
			nothing++
		}
	}
	require.Equal(t, n-1, nothing, "the first of them installed it")
}
