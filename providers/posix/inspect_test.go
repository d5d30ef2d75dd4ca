package posix

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Inspect tells all that there is, whatever is wanted.
func TestInspectFiles(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	require.NoError(t, os.WriteFile(filepath.Join(root, "f"), []byte("hello"), 0o640))
	require.NoError(t, os.Symlink("f", filepath.Join(root, "link")))
	owner, group := hosttest.Me()
	look := func(name string) resources.FileState {
		have, err := files{}.Inspect(t.Context(), &h.View, resources.File{Name: name})
		require.NoError(t, err)
		return have
	}
	f := look("/f")
	require.Equal(t, safepath.Regular, f.Kind)
	require.Equal(t, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", f.Checksum)
	require.Equal(t, uint32(0o640), f.Mode)
	require.Equal(t, []string{owner, group}, []string{fmt.Sprint(f.UID), fmt.Sprint(f.GID)})
	require.Equal(t, []string{h.UserName(f.UID), h.GroupName(f.GID)}, []string{f.Owner, f.Group})
	require.False(t, f.MTime.IsZero())
	require.Equal(t, int64(5), f.Size)
	require.Equal(t, "f", look("/link").Target)
	require.Equal(t, safepath.Directory, look("/").Kind)
	require.Equal(t, resources.FileState{}, look("/nope"))
}
