//go:build !portable

package host_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// TestRefusedCapabilities: a file system without capabilities, and a user who may not set them, are errors that describe
// what is missing. The file is then not there.
func TestRefusedCapabilities(t *testing.T) {
	if !safepath.MakesUnnamed() {
		t.Skip("without /proc a plan does not see what the file system of a directory refuses")
	}
	h := host.New(host.Options{})
	_, err := host.Obstacles(&h.View, overlay.PathEffect{Path: "/proc/f", Kind: safepath.Regular, Content: new(""), SetsCapabilities: true})
	require.EqualError(t, err, "/proc/f cannot have capabilities: its file system does not store the attribute security.capability")
	require.ErrorIs(t, err, unix.EOPNOTSUPP)

	if os.Geteuid() == 0 {
		return
	}
	h, root := hosttest.New(t, nil)
	err = host.WithCapabilities(h, &filecap.Capabilities{Given: true, Permitted: 1}).WriteFile("/f", strings.NewReader("x"), me())
	require.EqualError(t, err, "needs root: only root can set the capabilities of /f")
	require.Empty(t, hosttest.Snapshot(t, root))
}
