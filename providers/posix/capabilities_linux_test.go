//go:build !portable

package posix

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// TestCapabilities: a file gets its capabilities in each way in which it is written, keeps them when the content changes,
// and loses them.
func TestCapabilities(t *testing.T) {
	owner, group := hosttest.Me()
	bind := &filecap.Capabilities{Given: true, Permitted: 1 << 10, Effective: true}
	raw := string(bind.Xattr())
	file := func(content string, c *filecap.Capabilities) resources.File {
		return resources.File{Name: "/f", Ensure: resources.FilePresent, Content: &content, Owner: owner, Group: group, Mode: new(resources.ModeOf(0o755)), Capabilities: c}
	}
	existing := resources.File{Name: "/f", Ensure: resources.FileExisting, Capabilities: bind}
	kept := file("three", bind)
	kept.HardLinks = resources.HardLinksKeep
	checked := file("four", bind)
	checked.Check = []string{"true", "%s"}
	h, root := hosttest.New(t, nil)
	for _, x := range []struct {
		want  resources.File
		xattr string
	}{
		{file("one", bind), raw},
		{file("one", new(filecap.Capabilities{Given: true})), string(filecap.Capabilities{Given: true}.Xattr())},
		{file("one", nil), string(filecap.Capabilities{Given: true}.Xattr())},
		{file("one", new(filecap.Capabilities{})), ""},
		{existing, raw},
		{file("two", bind), raw},
		{file("three", nil), raw},
		{file("two", new(filecap.Capabilities{})), ""},
		{kept, raw},
		{file("two", bind), raw},
		{kept, raw},
		{checked, raw},
	} {
		have, err := files{}.Status(t.Context(), &h.View, x.want)
		require.NoError(t, err)
		d := x.want.Decide(have)
		require.NoError(t, d.Err)
		for _, a := range d.Actions {
			err := x.want.Perform(t.Context(), h, files{}, a)
			if errors.Is(err, unix.EPERM) || errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EOPNOTSUPP) {
				t.Skip(err)
			}
			require.NoError(t, err)
		}
		buf := make([]byte, 64)
		n, err := unix.Getxattr(filepath.Join(root, "f"), safepath.CapabilityXattr, buf)
		if x.xattr == "" {
			require.ErrorIs(t, err, unix.ENODATA)
		} else {
			require.NoError(t, err)
			require.Equal(t, x.xattr, string(buf[:n]))
		}
		have, err = files{}.Status(t.Context(), &h.View, x.want)
		require.NoError(t, err)
		require.Empty(t, x.want.Decide(have).Diff)
		_ = os.Link(filepath.Join(root, "f"), filepath.Join(root, "second"))
	}
}
