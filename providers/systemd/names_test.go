package systemd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestNames(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	for _, path := range []string{
		"/etc/systemd/system/nginx.service", "/lib/systemd/system/nginx.service", "/lib/systemd/system/ntp.service",
		"/lib/systemd/system/ssh.service", "/lib/systemd/system/getty@.service", "/lib/systemd/system/nothing.socket",
		"/lib/systemd/system/nightly.timer", "/lib/systemd/system/t@.timer", "/lib/systemd/system/n.slice",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), nil, 0o644))
	}
	s := newServices(nil)
	names, err := s.Names(t.Context(), &h.View, "")
	require.NoError(t, err)
	require.Equal(t, []string{"nginx", "nightly.timer", "nothing.socket", "ntp", "ssh"}, names)
	names, err = s.Names(t.Context(), &h.View, "n")
	require.NoError(t, err)
	require.Equal(t, []string{"nginx", "nightly.timer", "nothing.socket", "ntp"}, names)
}
