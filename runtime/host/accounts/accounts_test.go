package accounts_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestAccounts(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	require.NoError(t, os.Mkdir(filepath.Join(root, "etc"), 0o755))
	passwd := filepath.Join(root, "etc/passwd")
	require.NoError(t, os.WriteFile(passwd, []byte("app:x:1234:77::/:/bin/sh\n#junk\nbad:x:y:z\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/group"), []byte("apps:x:77:\n"), 0o600))
	uid, err := h.UserID("app")
	require.NoError(t, err)
	require.Equal(t, uint32(1234), uid)
	gid, err := h.GroupID("apps")
	require.NoError(t, err)
	require.Equal(t, uint32(77), gid)
	uid, err = h.UserID("4321")
	require.NoError(t, err)
	require.Equal(t, uint32(4321), uid)
	require.Equal(t, "app", h.UserName(1234))
	require.Equal(t, "999", h.UserName(999))
	_, err = h.UserID("late")
	require.EqualError(t, err, `no such user "late"`)
	// A user added by a command of this run is found.
	require.NoError(t, os.WriteFile(passwd, []byte("app:x:1234:77::/:/bin/sh\nlate:x:5:5::/:/bin/sh\n"), 0o600))
	uid, err = h.UserID("late")
	require.NoError(t, err)
	require.Equal(t, uint32(5), uid)
}
