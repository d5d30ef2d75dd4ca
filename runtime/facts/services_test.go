package facts

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// units answers as systemctl 252 does.
type units struct{}

// Run implements host.Runner.
func (units) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	out := map[string]string{
		"list-unit-files": "apt-daily.service                      static          -\nautovt@.service                        alias           -\n" +
			"nginx.service                          enabled         enabled\nconsole-getty.service                  masked          disabled\n",
		"list-units": "auditd.service                       not-found inactive dead    auditd.service\nnginx.service                        loaded    active   running A web server\n" +
			"console-getty.service                masked    inactive dead    console-getty.service\napp@one.service                      loaded    failed   failed  /bin/app\n",
	}[c.Argv[1]]
	return host.Result{Stdout: []byte(out)}, nil
}

func TestServicesOfSystemd(t *testing.T) {
	v := rootWith(t, map[string]string{"/run/systemd/system/x": "", "/proc/1/comm": "systemd\n"})
	v = &host.New(host.Options{Root: v.Root(), Runner: units{}}).View
	require.Equal(t, map[string]any{
		"apt-daily":     map[string]any{"startup": "static", "enabled": false, "running": false},
		"nginx":         map[string]any{"startup": "enabled", "enabled": true, "active": "active", "running": true},
		"console-getty": map[string]any{"startup": "masked", "enabled": false, "active": "inactive", "running": false},
		"app@one":       map[string]any{"enabled": false, "active": "failed", "running": false},
	}, get(t, v, "services"))
	require.Equal(t, true, get(t, v, "services.nginx.running"))
}

func TestServicesOfOpenRC(t *testing.T) {
	v := rootWith(t, map[string]string{
		"/run/openrc/started/sshd": "", "/proc/1/comm": "init\n", "/etc/init.d/sshd": "", "/etc/init.d/crond": "",
		"/etc/runlevels/default/crond": "", "/etc/runlevels/off/sshd": "",
	})
	require.Equal(t, map[string]any{
		"sshd":  map[string]any{"running": true, "enabled": false},
		"crond": map[string]any{"running": false, "enabled": true},
	}, get(t, v, "services"))
}

// A root without running processes has no facts about services.
func TestServicesOfARoot(t *testing.T) {
	_, err := New(t.Context(), rootWith(t, map[string]string{"/run/systemd/system/x": ""}), Standard(), nil).Branch("services")
	require.Error(t, err)
}
