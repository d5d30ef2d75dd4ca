package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// TestFollowLink: a link leads to what is there, and also to a missing file in an existing directory. A link of
// another user never leads to a file that is going to be made.
func TestFollowLink(t *testing.T) {
	root := t.TempDir()
	h := host.New(host.Options{Root: root})
	require.NoError(t, os.MkdirAll(root+"/d/e", 0o755))
	require.NoError(t, os.WriteFile(root+"/d/f", nil, 0o644))
	views := map[string]*host.View{"run": &h.View, "plan": h.Planning(t.Context())}
	views["plan"].Overlay().Assume(nil, false, overlay.PathEffect{Path: "/other", Kind: safepath.Regular, Content: new("")}) // it is active
	for target, want := range map[string]struct{ end, err string }{
		"d/f":      {end: "/d/f"},
		"/d/../d":  {end: "/d"},
		"d/new":    {end: "/d/new"},
		"/d/e/new": {end: "/d/e/new"},
		"second":   {end: "/d/new"},
		"loop":     {err: "too many"},
	} {
		_ = os.Remove(root + "/l")
		for name, to := range map[string]string{"l": target, "second": "d/new", "loop": "loop"} {
			if _, err := os.Lstat(root + "/" + name); err != nil {
				require.NoError(t, os.Symlink(to, root+"/"+name))
			}
		}
		for kind, v := range views {
			end, err := host.FollowLink(v, "/l")
			if want.err != "" {
				require.ErrorContains(t, err, want.err, "%s %s", kind, target)
				continue
			}
			require.NoError(t, err, "%s %s", kind, target)
			require.Equal(t, want.end, end, "%s %s", kind, target)
		}
	}
	require.NoError(t, os.Symlink("gone/new", root+"/nowhere"))
	_, err := host.FollowLink(&h.View, "/nowhere")
	require.ErrorContains(t, err, "symbolic link /nowhere has a missing target")

	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of links")
	}
	require.NoError(t, os.Mkdir(root+"/theirs", 0o755))
	require.NoError(t, os.Symlink("/d/new", root+"/theirs/l"))
	for _, name := range []string{"/theirs", "/theirs/l"} {
		require.NoError(t, os.Lchown(root+name, 1234, 1234))
	}
	for kind, v := range views {
		_, err := host.FollowLink(v, "/theirs/l")
		require.ErrorContains(t, err, "unsafe symbolic link: /theirs/l belongs to 1234 and leads to /d/new", kind)
	}
}
