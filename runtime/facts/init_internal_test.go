package facts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// TestWithoutInit: services are managed where process 1 is an init system that has booted what / is.
func TestWithoutInit(t *testing.T) {
	for _, x := range []struct {
		comm   string
		booted bool   // by systemd
		root   string // of process 1; "" if it cannot be seen
		why    string
	}{
		{"systemd", true, "", ""},
		{"systemd", true, ".", ""},
		{"systemd", false, "", "process 1 has another root"}, // buildah --isolation chroot
		{"systemd", true, "srv", "process 1 has another root"},
		{"init", false, "", ""},
		{"init", false, ".", ""},
		{"init", false, "srv", "process 1 has another root"},
		{"openrc-init", false, "", ""},
		{"sh", false, ".", "process 1 is sh"},
		{"", false, "", ""},
	} {
		dir := t.TempDir()
		for _, d := range []string{"proc/1", "srv", "run"} {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "proc/1/comm"), []byte(x.comm+"\n"), 0o644))
		if x.booted {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "run/systemd/system"), 0o755))
		}
		if x.root != "" {
			require.NoError(t, os.Symlink(filepath.Join(dir, x.root), filepath.Join(dir, "proc/1/root")))
		}
		why := withoutInit(&host.New(host.Options{Root: dir}).View)
		if x.why == "" {
			require.Empty(t, why, "%+v", x)
		} else {
			require.Equal(t, "no init system runs here: "+x.why, why, "%+v", x)
		}
	}
}
