// Package pkgtooltest has the tests that providers of packages have in common.
package pkgtooltest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

// Package returns a package that is wanted in a version or state.
func Package(name, ensure string) resources.Package {
	return resources.Package{Name: name, Ensure: resources.PackageEnsure(ensure)}
}

// Suits tests that a tool needs its commands, and that it is the package manager of its
// families and not of the other one.
func Suits(t *testing.T, tool *pkgtool.Tool, other string) {
	family := func(val any) *facts.Facts {
		return facts.Static(map[string]any{"os": map[string]any{"family": val}})
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, missing := range tool.Commands {
		_, err := tool.Suits(family(tool.Families[0]), resources.Package{})
		require.ErrorContains(t, err, `command "`+missing+`" not found in `+dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, missing), nil, 0o755))
	}
	priorities := map[string]int{"": 1, other: 50}
	for _, f := range tool.Families {
		priorities[f] = 1
	}
	for f, want := range priorities {
		priority, err := tool.Suits(family(f), resources.Package{})
		require.NoError(t, err)
		require.Equal(t, want, priority, f)
	}
	priority, err := tool.Suits(facts.Static(nil), resources.Package{})
	require.NoError(t, err)
	require.Equal(t, 1, priority, "an unknown family")
}

// OneLock tests that one command at a time runs in a process. Several goroutines look at
// want and install the package name. It returns the errors of the installations.
func OneLock(t *testing.T, answer func(host.Cmd) (host.Result, error), p pkgtool.Provider, want, install resources.Package) []error {
	var running atomic.Int32
	alone := func(c host.Cmd) (host.Result, error) {
		if running.Add(1) != 1 {
			return host.Result{}, errors.New("two commands at once")
		}
		defer running.Add(-1)
		return answer(c)
	}
	errs := make(chan error)
	const n = 8
	for range n {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: alone})
		go func() {
			for range 20 {
				if _, err := p.Status(t.Context(), &h.View, want); err != nil {
					errs <- err
					return
				}
			}
			errs <- p.Install(t.Context(), h, install)
		}()
	}
	var out []error
	for range n {
		out = append(out, <-errs)
	}
	return out
}

// A PredictionCase is what [Predict] tests: the predictions of some packages, each with a caveat or
// the text of an error, and the commands that are run for them.
type PredictionCase struct {
	Wants       []resources.Package
	Caveats     []string
	Errs        []string
	CommandsRun []string
}

// Predict tests the predictions of packages. Machine returns a new machine for each case, as two
// functions: one answers commands, the other returns the commands that were run. After a prediction
// the provider must know the state of the first package without another command. The machine has a current package index,
// whose file is index.
func Predict(t *testing.T, index string, cases []PredictionCase, p pkgtool.Provider, predict func(context.Context, *host.View, []resources.Package) []resource.Prediction,
	machine func() (answer func(host.Cmd) (host.Result, error), run func() []string)) {
	for _, x := range cases {
		answer, run := machine()
		h, root := hosttest.New(t, &hosttest.Runner{Answer: answer})
		file := filepath.Join(root, index)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		require.NoError(t, os.Chtimes(file, h.Now(), h.Now()))
		v := h.Planning(t.Context())
		for i, prediction := range predict(t.Context(), v, x.Wants) {
			require.Equal(t, x.Caveats[i], prediction.Caveat, x.Wants[i].Name)
			if x.Errs[i] == "" {
				require.NoError(t, prediction.Err, x.Wants[i].Name)
			} else {
				require.ErrorContains(t, prediction.Err, x.Errs[i])
				require.False(t, prediction.Look.Found)
			}
		}
		require.Equal(t, x.CommandsRun, run())

		_, err := p.Status(t.Context(), v, x.Wants[0])
		require.NoError(t, err)
		require.Equal(t, x.CommandsRun, run())
	}
}
