package openrc

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/svctool/svctooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// tool simulates OpenRC 0.45.2 of Debian 12; the exit codes for services that are starting or have crashed are those
// of openrc-run.sh.
var tool = svctooltest.Tool{
	OnBoot: func(m *svctooltest.Machine) {
		for _, dir := range []string{"/run/openrc", "/etc/runlevels/default", "/etc/runlevels/boot", "/etc/runlevels/off"} {
			m.Mkdir(dir)
		}
	},
	Enable:  func(m *svctooltest.Machine) { m.Link("/etc/init.d/x", "/etc/runlevels/default/x") },
	Script:  "#!/sbin/openrc-run\ncommand=/bin/x\n",
	Reloads: "#!/sbin/openrc-run\nextra_started_commands=reload\n",
	Answer:  answer,
}

func answer(m *svctooltest.Machine, c host.Cmd) host.Result {
	if c.Argv[0] == "rc-update" {
		path := "/etc/runlevels/" + c.Argv[3] + "/" + c.Argv[2]
		switch {
		case c.Argv[1] == "add":
			m.Link("/etc/init.d/x", path)
		case !m.Has(path):
			return svctooltest.Failed(1, " * rc-update: service `x' is not in the runlevel `"+c.Argv[3]+"'\n")
		default:
			m.Remove(path)
		}
		return svctooltest.OK(" * service x added to runlevel default\n")
	}
	verb := c.Argv[3]
	m.Do(verb)
	switch verb {
	case "describe":
		out := " * No description for x\n * healthcheck: no description\n * unhealthy: no description\n"
		if text, _ := os.ReadFile(m.Path("/etc/init.d/x")); strings.Contains(string(text), "reload") {
			out += " * reload: no description\n"
		}
		return svctooltest.OK(out)
	case "start":
		if m.Killed {
			return svctooltest.OK(" * WARNING: x has already been started\n")
		}
	case "status":
		switch {
		case m.Killed:
			return svctooltest.Failed(32, " * status: crashed\n")
		case m.Starting > 0:
			return svctooltest.Failed(8, " * status: starting\n")
		case !m.Running:
			return svctooltest.Failed(3, " * status: stopped\n")
		}
		return svctooltest.OK(" * status: started\n")
	}
	return svctooltest.OK("")
}

func TestSuits(t *testing.T) {
	tool.Suits(t, services(svctooltest.NoWait), "rc-service", "rc-update")
}

func TestServices(t *testing.T) { tool.Suite(t, services(svctooltest.NoWait)) }

func TestOnChange(t *testing.T) { tool.OnChange(t, services(svctooltest.NoWait)) }

func TestPlans(t *testing.T) { tool.Plans(t, services(svctooltest.NoWait)) }

// A service that has crashed counts as started for OpenRC, which does not start it again.
func TestCrashed(t *testing.T) {
	m := tool.New(t, t.TempDir())
	m.Running, m.Killed = true, true
	h, s, want := tool.Host(m), services(svctooltest.NoWait), resources.Service{Name: "x", Ensure: resources.ServiceRunning}
	have, err := s.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Equal(t, resources.ServiceState{Active: "crashed"}, have)
	require.NoError(t, s.Start(t.Context(), h, want))
	require.Equal(t, []string{"zap", "start"}, m.Verbs)
	have, err = s.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, have.Running)
}

// Only the runlevels of a boot count, with those that are stacked on them.
func TestLevels(t *testing.T) {
	for _, x := range []struct {
		links map[string]string
		want  []string
	}{
		{nil, nil},
		{map[string]string{"default/x": "/etc/init.d/x"}, []string{"default"}},
		{map[string]string{"off/x": "/etc/init.d/x", "mine/x": "/etc/init.d/x"}, nil},
		{map[string]string{"boot/x": "/etc/init.d/x", "default/x": "/etc/init.d/x"}, []string{"boot", "default"}},
		{map[string]string{"mine/x": "/etc/init.d/x", "default/mine": "/etc/runlevels/mine", "mine/default": "/etc/runlevels/default"}, []string{"mine"}},
	} {
		m := tool.New(t, t.TempDir())
		for link, target := range x.links {
			m.Link(target, "/etc/runlevels/"+link)
		}
		h := tool.Host(m)
		found, err := levels(&h.View, "x")
		require.NoError(t, err)
		require.Equal(t, x.want, found, x.links)
		s := services(svctooltest.NoWait)
		require.NoError(t, s.Disable(t.Context(), h, resources.Service{Name: "x"}))
		found, err = levels(&h.View, "x")
		require.NoError(t, err)
		require.Empty(t, found)
	}
}

func TestOffline(t *testing.T) { tool.Offline(t, services(svctooltest.NoWait), "/sbin/openrc") }
