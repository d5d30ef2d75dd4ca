package systemd

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// userMachine answers for the service manager of the user who runs the test, of which x is a
// stopped service: systemd 252.
func userMachine(t *testing.T) (h *host.Host, r *hosttest.Runner, root string) {
	r = &hosttest.Runner{}
	active, enabled := "inactive", "disabled"
	r.Answer = func(c host.Cmd) (host.Result, error) {
		if c.Argv[0] != "systemctl" {
			return said("0\n"), nil // id -G
		}
		if slices.Contains(c.Argv, "--system") { // about the service manager of the user
			require.Equal(t, fmt.Sprintf("user@%d.service", os.Getuid()), c.Argv[len(c.Argv)-1])
			return said("ActiveState=inactive\n"), nil
		}
		require.Contains(t, c.Argv, "--user")
		require.Equal(t, uint32(os.Getuid()), c.As.UID)
		require.Contains(t, c.Env, fmt.Sprintf("XDG_RUNTIME_DIR=/run/user/%d", os.Getuid()))
		switch c.Argv[1] {
		case "show":
			return said("Id=x.service\nNames=x.service\nLoadState=loaded\nActiveState=" + active + "\nSubState=dead\nType=simple\nNRestarts=0\nUnitFileState=" + enabled + "\nNeedDaemonReload=no\nCanReload=no\n"), nil
		case "is-enabled":
			return said(enabled + "\n"), nil
		case "start":
			active = "active"
		case "enable":
			enabled = "enabled"
		}
		return said(""), nil
	}
	h, root = hosttest.New(t, r)
	require.NoError(t, os.MkdirAll(root+booted, 0o755))
	return h, r, root
}

// A user's services belong to the user's service manager, which runs while the user is logged in or lingers.
func TestUserScope(t *testing.T) {
	h, r, root := userMachine(t)
	p := &provider{system: newServices(noWait)}
	want := resources.Service{Name: "x", Ensure: resources.ServiceRunning, Enable: new(true), Scope: resources.UserService}
	_, err := p.Status(t.Context(), &h.View, want)
	require.ErrorContains(t, err, "is not running (log in, or run: loginctl enable-linger ")

	require.NoError(t, os.MkdirAll(root+"/run/user/"+strconv.Itoa(os.Getuid())+"/systemd/private", 0o755))
	states, errs := p.StatusAll(t.Context(), &h.View, []resources.Service{want, want})
	require.Equal(t, []error{nil, nil}, errs)
	require.Equal(t, resources.ServiceState{Active: "inactive", Startup: "disabled"}, states[1])
	require.NoError(t, p.Start(t.Context(), h, want))
	require.NoError(t, p.Enable(t.Context(), h, want))
	have, err := p.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Equal(t, resources.ServiceState{Running: true, Enabled: true, Active: "active", Startup: "enabled"}, have)
	var did []string
	for _, c := range r.Ran() {
		if word := strings.Fields(c); word[0] == "systemctl" && word[1] != "show" && word[1] != "is-enabled" {
			did = append(did, word[1])
		}
	}
	require.Equal(t, []string{"daemon-reload", "start", "daemon-reload", "enable"}, did)

	caveat, err := p.Predict(t.Context(), &h.View, want)
	require.NoError(t, err, "everybody may change his own")
	require.Empty(t, caveat)
}

// A service manager that is about to start is waited for; one that fails to start is not.
func TestUserManagerStarts(t *testing.T) {
	h, r, root := userMachine(t)
	answer, lines := r.Answer, []string{"ActiveState=inactive\nJob=7\n", "ActiveState=activating\nJob=7\n", "ActiveState=active\n"}
	starts := true
	r.Answer = func(c host.Cmd) (host.Result, error) {
		if !slices.Contains(c.Argv, "--system") || len(lines) == 0 {
			return answer(c)
		}
		line := lines[0]
		if lines = lines[1:]; len(lines) == 0 && starts {
			require.NoError(t, os.MkdirAll(root+"/run/user/"+strconv.Itoa(os.Getuid())+"/systemd/private", 0o755))
		}
		return said(line), nil
	}
	want := resources.Service{Name: "x", Ensure: resources.ServiceRunning, Scope: resources.UserService}
	have, err := (&provider{system: newServices(noWait)}).Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Equal(t, "inactive", have.Active)

	require.NoError(t, os.RemoveAll(root+"/run/user"))
	lines, starts = []string{"ActiveState=activating\nJob=7\n", "ActiveState=failed\nJob=0\n"}, false
	_, err = (&provider{system: newServices(noWait)}).Status(t.Context(), &h.View, want)
	require.ErrorContains(t, err, "is not running (log in, or run: loginctl enable-linger root)")
	require.Empty(t, lines)
}

// A plan knows where the unit files of a user are.
func TestUserPlanned(t *testing.T) {
	h, _, root := userMachine(t)
	p := &provider{system: newServices(noWait)}
	require.NoError(t, os.MkdirAll(root+"/run/user/"+strconv.Itoa(os.Getuid())+"/systemd/private", 0o755))
	want := resources.Service{Name: "x", Ensure: resources.ServiceRunning, Scope: resources.UserService}
	v := h.Planning(t.Context())
	_, err := p.Status(t.Context(), v, want)
	require.NoError(t, err)
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/etc/systemd/user/x.service", Kind: safepath.Regular})
	want.OnChange = resources.ServiceReloadOrRestart
	have, err := p.Status(t.Context(), v, want)
	require.NoError(t, err)
	require.True(t, have.Outdated)

	want.User = "nobody-of-that-name"
	_, err = p.Status(t.Context(), &h.View, want)
	require.EqualError(t, err, `no such user "nobody-of-that-name"`)
}
