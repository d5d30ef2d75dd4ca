package host_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/safepath"
)

// setgid returns a host with a directory /t with setgid. Its group is another one if this process is root.
func setgid(t *testing.T) (h *host.Host, gid uint32) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(root+"/t", 0o755))
	if _, gid = host.Self(); os.Geteuid() == 0 {
		gid = 12
		require.NoError(t, os.Chown(root+"/t", 0, 12))
	}
	require.NoError(t, os.Chmod(root+"/t", 0o775|os.ModeSetgid))
	return host.New(host.Options{Root: root}), gid
}

// What is made in a directory with setgid has its group, and directories have setgid, as open(2) and mkdir(2) leave
// them.
func TestNewAttrBelowSetgid(t *testing.T) {
	h, gid := setgid(t)
	file, dir := host.NewAttr(&h.View, "/t/f", safepath.Regular), host.NewAttr(&h.View, "/t/a/b", safepath.Directory)
	require.Equal(t, []uint32{gid, 0o644}, []uint32{file.GID, file.Mode})
	require.Equal(t, []uint32{gid, 0o2755}, []uint32{dir.GID, dir.Mode}, "the directory above it is missing, and will inherit setgid")
	uid, own := host.Self()
	require.Equal(t, safepath.Attr{UID: uid, GID: own, Mode: 0o755}, host.NewAttr(&h.View, "/u", safepath.Directory))

	require.NoError(t, h.WriteFile("/t/f", strings.NewReader("x"), file))
	require.NoError(t, h.MakeDirectory("/t/a/b", dir))
	source := t.TempDir()
	names := []string{"."}
	for name := range strings.FieldsSeq("a b c d e f g h i j k") { // so many that they are made in a stage
		require.NoError(t, os.MkdirAll(source+"/sub/"+name, 0o755))
		require.NoError(t, os.WriteFile(source+"/sub/"+name+"/file", nil, 0o640))
		names = append(names, "sub/"+name, "sub/"+name+"/file")
	}
	require.NoError(t, unpack.CopyTree(t.Context(), h, unpack.Copy{
		Source: source, Directory: "/t/copy", Names: append(names, "sub"),
		Attr: func(_, _ safepath.Info, made safepath.Attr) safepath.Attr { return made },
	}))
	for name, mode := range map[string]uint32{"/t/f": 0o644, "/t/a": 0o2755, "/t/a/b": 0o2755, "/t/copy": 0o2755, "/t/copy/sub/a": 0o2755, "/t/copy/sub/a/file": 0o644} {
		info, err := h.Lstat(name)
		require.NoError(t, err)
		require.Equal(t, []uint32{gid, mode}, []uint32{info.GID, info.Mode}, name)
	}
}

// A plan finds out that a mount point cannot be removed or replaced. /proc is one on each Linux.
func TestCheckMounts(t *testing.T) {
	if _, err := os.Stat("/proc/self/mountinfo"); err != nil {
		t.Skip("the kernel has no list of mounts")
	}
	v := &host.New(host.Options{}).View
	for _, x := range []struct {
		effect overlay.PathEffect
		fails  bool
	}{
		{overlay.PathEffect{Path: "/proc", Kind: safepath.Missing}, true},
		{overlay.PathEffect{Path: "/proc", Kind: safepath.Regular}, true},
		{overlay.PathEffect{Path: "/proc", Kind: safepath.Regular, Kept: true}, false},
		{overlay.PathEffect{Path: "/proc", Kind: safepath.Directory}, false},
		{overlay.PathEffect{Path: "/proc", Unsure: true}, false},
		{overlay.PathEffect{Path: "/proc/version", Kind: safepath.Missing}, false},
		{overlay.PathEffect{Path: "/proc-no-such", Kind: safepath.Missing}, false},
	} {
		err := host.CheckMounts(v, x.effect)
		if !x.fails {
			require.NoError(t, err, x)
			continue
		}
		require.EqualError(t, err, "/proc is a mount point, which cannot be removed or replaced (unmount it first)")
	}
}
