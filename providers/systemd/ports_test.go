package systemd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestPortWarning: a plan warns of a port that another service has.
func TestPortWarning(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(root+name), 0o755))
		require.NoError(t, os.WriteFile(root+name, []byte(text), 0o644))
	}
	link := func(target, name string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(root+name), 0o755))
		require.NoError(t, os.Symlink(target, root+name))
	}
	const header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	write("/proc/net/tcp", header+
		"   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0\n"+
		"   1: 0100007F:0035 0100007F:E000 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0\n")
	write("/proc/net/tcp6", header+
		"   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 13 1 0 100 0 0 10 0\n")
	write("/proc/812/comm", "apache2\n")
	write("/proc/812/cgroup", "0::/system.slice/apache2.service\n")
	link("/dev/null", "/proc/812/fd/0")
	link("socket:[13]", "/proc/812/fd/4")
	write("/proc/900/comm", "redis-server\n")
	write("/proc/900/cgroup", "0::/docker/0123\n")
	link("socket:[11]", "/proc/900/fd/6")
	for _, tt := range []struct {
		service string
		ensure  resources.ServiceEnsure
		want    string
	}{
		{"nginx", resources.ServiceRunning, "port 80, which nginx uses by default, is in use by apache2 (process 812)"},
		{"nginx.service", resources.ServiceRunning, "port 80, which nginx.service uses by default, is in use by apache2 (process 812)"},
		{"nginx", resources.ServiceStopped, ""},
		{"apache2", resources.ServiceRunning, ""}, // its own
		{"redis", resources.ServiceRunning, "port 6379, which redis uses by default, is in use by redis-server (process 900)"}, // of a container
		{"dnsmasq", resources.ServiceRunning, ""}, // a connection, nobody listens
		{"mariadb", resources.ServiceRunning, ""}, // free
		{"app", resources.ServiceRunning, ""},     // unknown
	} {
		require.Equal(t, tt.want, portWarning(&h.View, resources.Service{Name: tt.service, Ensure: tt.ensure}), tt.service)
	}
}
