package sysvinit

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/providers/svctool/svctooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

const script = "#!/bin/sh\n# reload: no\ncase $1 in start|stop|restart|force-reload|status) ;; esac\n"

// tool answers as service and update-rc.d of Debian 12 do, and chkconfig as its manual
// describes it.
var tool = svctooltest.Tool{
	OnBoot:  func(m *svctooltest.Machine) { m.Write("/run/initctl", "") },
	Enable:  func(m *svctooltest.Machine) { links(m, "S01", "2", "3", "4", "5") },
	Script:  script,
	Reloads: "#!/bin/sh\ncase $1 in start|stop|restart|reload|force-reload|status) ;; esac\n",
	Answer:  answer,
}

// links makes the links of x in runlevels.
func links(m *svctooltest.Machine, kind string, levels ...string) {
	for _, level := range levels {
		m.Remove("/etc/rc" + level + ".d/S01x")
		m.Remove("/etc/rc" + level + ".d/K01x")
		m.Link("../init.d/x", "/etc/rc"+level+".d/"+kind+"x")
	}
}

func answer(m *svctooltest.Machine, c host.Cmd) host.Result {
	levels := []string{"2", "3", "4", "5"}
	linked := m.Has("/etc/rc2.d/S01x") || m.Has("/etc/rc2.d/K01x")
	switch verb := c.Argv[2]; {
	case c.Argv[0] == "update-rc.d" && verb == "defaults":
		if !linked {
			links(m, "S01", levels...)
		}
		return svctooltest.OK("")
	case c.Argv[0] == "update-rc.d" && !linked:
		return svctooltest.Failed(1, "update-rc.d: error: no runlevel symlinks to modify, aborting!\n")
	case verb == "enable", c.Argv[len(c.Argv)-1] == "on":
		links(m, "S01", levels...)
	case verb == "disable", c.Argv[len(c.Argv)-1] == "off":
		links(m, "K01", levels...)
	case c.Argv[1] == "--add":
	default:
		m.Do(verb)
		if verb == "status" && !m.Running && m.Starting == 0 {
			return svctooltest.Failed(3, "x is not running ... failed!\n")
		}
	}
	return svctooltest.OK("")
}

func debian() *svctool.Scripts {
	return services(svctooltest.NoWait, func(*host.View) string { return "update-rc.d" })
}

func TestSuits(t *testing.T) { tool.Suits(t, debian(), "service", "update-rc.d") }

func TestServices(t *testing.T) { tool.Suite(t, debian()) }

func TestChkconfig(t *testing.T) {
	tool.Suite(t, services(svctooltest.NoWait, func(*host.View) string { return "chkconfig" }))
}

func TestOnChange(t *testing.T) { tool.OnChange(t, debian()) }

func TestPlans(t *testing.T) { tool.Plans(t, debian()) }

// Where another init system runs, scripts are its own business.
func TestOtherInit(t *testing.T) {
	for _, sign := range []string{"/run/systemd/system", "/run/openrc"} {
		m := tool.New(t, t.TempDir())
		m.Mkdir(sign)
		_, err := debian().Status(t.Context(), &tool.Host(m).View, resources.Service{Name: "x"})
		require.EqualError(t, err, "another init system runs this machine: "+sign+" exists")
	}
}

// The exit codes of LSB, with the answers of real scripts.
func TestMeaning(t *testing.T) {
	for _, x := range []struct {
		code    int
		out     string
		word    string
		running bool
		err     string
	}{
		{0, "lsb is running.", "running", true, ""},
		{1, "lsb is not running ... failed!", "dead", false, ""},
		{2, "httpd dead but subsys locked", "dead", false, ""},
		{3, "lsb is not running ... failed!", "stopped", false, ""},
		{4, "could not access PID file for lsb ... failed!", "", false, "the script cannot determine whether it runs"},
		{2, "Usage: /etc/init.d/x {start|stop}", "", false, "the script lacks a status command"},
		{127, "", "", false, "the script cannot determine whether it runs"},
	} {
		now, err := meaning(host.Result{Code: x.code, Stdout: []byte(x.out)})
		require.Equal(t, x.word, now.Word, x.out)
		require.Equal(t, x.running, now.Running, x.out)
		if x.err != "" {
			require.EqualError(t, err, x.err)
		}
	}
}

// A script that cannot be run, or a directory, is no service.
func TestNoScript(t *testing.T) {
	m := tool.New(t, t.TempDir())
	require.NoError(t, os.Chmod(m.Path("/etc/init.d/x"), 0o644))
	for _, name := range []string{"x", "..", "."} {
		have, err := debian().Status(t.Context(), &tool.Host(m).View, resources.Service{Name: name, Ensure: resources.ServiceRunning})
		require.NoError(t, err)
		require.Equal(t, resources.ServiceState{Missing: true}, have)
	}
}

func TestOffline(t *testing.T) { tool.Offline(t, debian(), "") }
