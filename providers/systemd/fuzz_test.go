package systemd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// FuzzAnswers lets systemctl print anything: each service gets a state found in the output or an error, the same each
// time, and the number of commands is limited.
func FuzzAnswers(f *testing.F) {
	m := newMachine(f, f.TempDir())
	m.unit("x.service", runs, install).enable("x").is("x.service", "active", "running")
	m.unit("t@.service", runs, install).is("t@a.service", "failed", "failed")
	recorded := m.show("x.service") + "\n" + m.show("y.socket") + "\n" + m.show("t@a.service")
	f.Add(recorded, "enabled\n", "")
	f.Add(strings.ReplaceAll(recorded, "ActiveState=inactive", "ActiveState=activating"), "disabled\n", "")
	f.Add(strings.ReplaceAll(recorded, "UnitFileState=", "UnitFileState=bad"), "", "Failed to get unit file state for x.service: No such file or directory")
	f.Add(strings.ReplaceAll(recorded, "NeedDaemonReload=no", "NeedDaemonReload=yes"), "alias\n", "")
	f.Add(m.show("x.service"), "static", "")
	f.Add("Id=x.service\nId=\nNames\n=\n==\nLoadState=not-found\nActiveState=inactive\n\n\n\n", "\x00\xff", "x")
	f.Add("", "", "Failed to connect to bus")

	root := f.TempDir()
	require.NoError(f, os.MkdirAll(filepath.Join(root, booted), 0o755))
	names := []string{"x", "y.socket", "t@a"}
	var wants []resources.Service
	for _, name := range names {
		wants = append(wants, service(name))
	}
	f.Fuzz(func(t *testing.T, show, enabled, complaint string) {
		look := func() ([]resources.ServiceState, []error) {
			r := &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
				if c.Argv[1] == "is-enabled" {
					return host.Result{Stdout: []byte(enabled), Stderr: []byte(complaint), Code: len(complaint) % 3}, nil
				}
				return said(show), nil
			}}
			h := host.New(host.Options{Root: root, Runner: r, Clock: hosttest.Clock{}})
			states, errs := newServices(noWait).StatusAll(t.Context(), &h.View, wants)
			require.LessOrEqual(t, len(r.Ran()), (1+len(names))*(1+len(svctool.Patience))+len(names), "commands")
			return states, errs
		}
		states, errs := look()
		for i, have := range states {
			if errs[i] != nil {
				require.NotEmpty(t, errs[i].Error())
				continue
			}
			if have.Missing {
				require.Equal(t, resources.ServiceState{Missing: true}, have)
				continue
			}
			require.Contains(t, show, "ActiveState="+have.Active)
			require.Contains(t, show+enabled, have.Startup)
			require.Equal(t, have.Active == "active", have.Running)
			require.False(t, have.Enabled && have.Startup == "disabled")
		}
		again, errsAgain := look()
		require.Equal(t, states, again)
		require.Equal(t, fmt.Sprint(errs), fmt.Sprint(errsAgain))

		for _, block := range blocksOf(show) {
			u, err := parseUnit("x.service", block)
			if err != nil {
				continue
			}
			var text strings.Builder
			for _, p := range slices.Backward(properties) {
				fmt.Fprintf(&text, "%s=%s\n", p, *u.property(p))
			}
			back, err := parseUnit("x.service", text.String())
			require.NoError(t, err)
			require.Equal(t, u, back, "%q", block)
			_ = u.failure("", "started") + u.end() + u.cannotEnable() + u.alias()
		}
	})
}
