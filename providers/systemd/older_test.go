package systemd

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A service has the unit file from its start, even if systemd has loaded a newer one since.
func TestOlder(t *testing.T) {
	h, root := hosttest.New(t, nil)
	written := time.Date(2026, 11, 26, 15, 30, 40, 5e8, time.UTC)
	write := func(path string) string {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), nil, 0o644))
		require.NoError(t, os.Chtimes(filepath.Join(root, path), written, written))
		return path
	}
	file, dropin, made := write(etc+"x.service"), write(etc+"x.service.d/a.conf"), write("/run/systemd/generator.late/x.service")
	for _, x := range []struct {
		u     unit
		older bool
	}{
		{unit{FragmentPath: file, InactiveExitTimestamp: "1795707040499999"}, true},
		{unit{FragmentPath: file, InactiveExitTimestamp: "1795707040600000"}, false},
		{unit{FragmentPath: file, InactiveExitTimestamp: "Thu 2026-11-26 15:30:39 UTC"}, true},
		{unit{FragmentPath: file, InactiveExitTimestamp: "Thu 2026-11-26 15:30:40 UTC"}, false},
		{unit{FragmentPath: made, DropInPaths: dropin, InactiveExitTimestamp: "1795707039999999"}, true},
		{unit{FragmentPath: made, InactiveExitTimestamp: "1795707039999999"}, false},
		{unit{FragmentPath: etc + "gone.service", InactiveExitTimestamp: "1795707039999999"}, false},
		{unit{FragmentPath: file, InactiveExitTimestamp: "0"}, false},
		{unit{FragmentPath: file}, false},
	} {
		older, err := x.u.isOlder(&h.View)
		require.NoError(t, err)
		require.Equal(t, x.older, older, x.u)
	}
}
