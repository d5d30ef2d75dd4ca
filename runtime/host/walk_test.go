package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Users of the tests, who need no accounts.
const (
	ada = 54321
	bob = 54322
)

// lay makes the files in a list of lines: a path, its owner, and a mode for a directory, "= text" for a file, "->
// target" for a link.
func lay(t *testing.T, root string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		f := strings.Fields(line)
		path := filepath.Join(root, f[0])
		switch {
		case f[2] == "->":
			require.NoError(t, os.Symlink(strings.ReplaceAll(f[3], "ROOT", root), path))
		case f[2] == "=":
			require.NoError(t, os.WriteFile(path, []byte(f[3]), 0o600))
		default:
			var mode uint32
			_, err := fmt.Sscanf(f[2], "%o", &mode)
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(path, 0o755))
			require.NoError(t, os.Chmod(path, safepath.FileMode(mode)))
		}
		uid, ok := map[string]int{"root": 0, "ada": ada, "bob": bob}[f[1]]
		require.True(t, ok, line)
		require.NoError(t, os.Lchown(path, uid, uid))
	}
}

// TestWalk: the links that are followed, and those that are refused.
func TestWalk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	base, err := os.MkdirTemp("", "ccm-walk-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	require.NoError(t, os.Chmod(base, 0o755))
	lay(t, base,
		"etc root 0755", "etc/app root 0755", "etc/app/conf root = root", "etc/adas ada = adas", "run root 0755", "var root 0755",
		"var/run root -> ../run", "var/app root -> ../etc/app", "var/adas ada -> ../etc/app", "run/pid root = pid",
		"ada ada 0755", "ada/own ada 0755", "ada/own/f ada = own", "ada/releases ada 0755", "ada/releases/7 ada 0755", "ada/releases/7/f ada = seven",
		"ada/current ada -> releases/7", "ada/absolute ada -> ROOT/ada/releases/7", "ada/victim ada -> ../etc/app", "ada/victimfile ada -> ../etc/app/conf",
		"ada/given ada -> ../etc/adas", "ada/by-root root -> ../etc/app", "ada/bobs bob -> own", "ada/rootdir root 0755", "ada/rootdir/f root = inroot",
		"ada/rootdir/link root -> ../own", "ada/twice ada -> current", "ada/chain ada -> by-root", "ada/up ada -> releases/../../etc/app", "ada/back ada -> ../etc/../ada/own",
		"ada/nowhere ada -> none", "ada/loop ada -> loop", "ada/tobob ada -> ../bob", "ada/todot ada -> releases/7/.", "ada/group ada 0775",
		"ada/group/bobs bob -> ../own", "ada/group/adas ada -> ../own", "bob bob 0755", "bob/f bob = bobs",
		"tmp root 1777", "tmp/adas ada -> ../ada", "tmp/roots root -> ../etc/app", "tmp/dir ada 0755", "tmp/dir/f ada = x",
	)
	for _, x := range []struct {
		path, want string // content of the file; "" for none; "unsafe LINK OWNER TARGET OWNER"; an error
	}{
		{"etc/app/conf", "root"},
		{"var/run/pid", "pid"},
		{"var/app/conf", "root"},
		{"var/adas/conf", "root"}, // made by root
		{"ada/own/f", "own"},
		{"ada/current/f", "seven"},
		{"ada/absolute/f", "seven"},
		{"ada/twice/f", "seven"},
		{"ada/todot/f", "seven"},
		{"ada/current/../7/f", "seven"},
		{"ada/back/f", "own"},
		{"ada/given", "adas"},
		{"ada/by-root/conf", "root"},
		{"ada/rootdir/f", "inroot"},
		{"ada/rootdir/link/f", "own"},
		{"ada/victim/conf", "unsafe ada/victim 54321 etc/app root"},
		{"ada/victim/none", "unsafe ada/victim 54321 etc/app root"},
		{"ada/victimfile", "unsafe ada/victimfile 54321 etc/app/conf root"},
		{"ada/up/conf", "unsafe ada/up 54321 etc/app root"},
		{"ada/chain/conf", "unsafe ada/chain 54321 etc/app root"},
		{"ada/tobob/f", "unsafe ada/tobob 54321 bob 54322"},
		{"ada/bobs/f", "unsafe ada/bobs 54322 ada/own 54321"},
		{"ada/group/bobs/f", "unsafe ada/group/bobs 54322 ada/own 54321"},
		{"ada/group/adas/f", "own"},
		{"ada/nowhere", ""},
		{"ada/nowhere/f", ""},
		{"ada/own/f/f", ""},
		{"ada/loop", "too many levels of symbolic links"},
		{"ada/loop/f", "too many levels of symbolic links"},
		{"tmp/adas/own/f", "unsafe tmp/adas 54321 ada 54321"},
		{"tmp/roots/conf", "root"},
		{"tmp/dir/f", "x"},
	} {
		// Without O_PATH Ada could exchange root's link while it is read.
		if by := strings.SplitN(x.path, "/", 3)[1]; !safepath.HoldsLinks && (by == "by-root" || by == "chain") {
			x.want = "unsafe ada/by-root root etc/app root"
		}
		for _, stepwise := range []bool{false, true} {
			for _, root := range []string{"/", base} {
				h := New(Options{Root: root})
				h.files.Stepwise = stepwise
				h.files.UserName = func(uid uint32) string {
					if uid == 0 {
						return "root"
					}
					return safepath.UserNumber(uid)
				}
				name := "/" + x.path
				if root == "/" {
					name = filepath.Join(base) + "/" + x.path
				}
				if root != "/" && x.path == "ada/absolute/f" {
					continue // it leads elsewhere there
				}
				about := fmt.Sprintf("%s below %s, stepwise %t", x.path, root, stepwise)
				text, err := h.ReadFile(name)
				unsafe, isUnsafe := errors.AsType[*safepath.UnsafeLinkError](err)
				switch {
				case strings.HasPrefix(x.want, "unsafe "):
					require.Truef(t, isUnsafe, "%s: %v %s", about, err, text)
					cut := func(p string) string { return strings.TrimPrefix(strings.TrimPrefix(p, base), "/") }
					require.Equal(t, x.want, strings.Join([]string{"unsafe", cut(unsafe.Link), unsafe.Owner, cut(unsafe.Target), unsafe.TargetOwner}, " "), about)
				case x.want == "":
					require.Truef(t, safepath.IsMissing(errors.Unwrap(err)), "%s: %v", about, err)
				case err != nil:
					require.ErrorContains(t, err, x.want, about)
				default:
					require.Equal(t, x.want, string(text), about)
				}
				if strings.Contains(x.path, "..") { // paths of a plan are clean
					continue
				}
				// A plan with an assumption walks paths itself, and finds the same files.
				plan := h.Planning(t.Context())
				plan.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/elsewhere", Kind: safepath.Regular})
				planned, planErr := plan.ReadFile(name)
				_, planUnsafe := errors.AsType[*safepath.UnsafeLinkError](planErr)
				require.Equal(t, isUnsafe, planUnsafe, "plan: %s: %v", about, planErr)
				require.Equal(t, err == nil, planErr == nil, "plan: %s: %v", about, planErr)
				require.Equal(t, string(text), string(planned), "plan: %s", about)
				// A path to change is resolved the same way, except that a link at its end is not followed.
				p, err := h.files.At(name)
				if _, ok := errors.AsType[*safepath.UnsafeLinkError](err); ok {
					require.True(t, isUnsafe, about)
				}
				if err == nil {
					p.Close()
				}
			}
		}
	}
}

// TestWalkLeavesNothingOpen: a walk closes all its descriptors, whatever its result.
func TestWalkLeavesNothingOpen(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a/b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a/f"), nil, 0o600))
	for link, target := range map[string]string{"l": "a", "up": "a/../..", "loop": "loop", "none": "x/y", "abs": root, "f": "a/f"} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	open := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(fds)
	}
	before := open()
	for _, where := range []string{"/", root} {
		for _, stepwise := range []bool{false, true} {
			h := New(Options{Root: where})
			h.files.Stepwise = stepwise
			for _, end := range []string{"", "/", "/.", "/..", "/b", "/f", "/f/x", "/none/x", "/../a/b"} {
				for _, start := range []string{"/a", "/l", "/up", "/loop", "/none", "/abs", "/f", ""} {
					name := start + end
					if where == "/" {
						name = root + name
					}
					_, _ = h.Lstat(name)
					_, _ = h.ReadDir(name)
					_, _ = h.Exists(name)
					_, _ = h.Canonical(name)
					if start == "/a" {
						_, _ = h.Tree(t.Context(), root+start, safepath.MaxNames)
					}
					if f, err := h.Open(name); err == nil {
						f.Close()
					}
					if d, err := h.files.Directory(root); err == nil {
						if p, err := h.files.Beneath(d).To(strings.TrimPrefix(start+end, "/"), true); err == nil {
							p.Close()
						}
						d.Close()
					}
				}
			}
		}
	}
	require.LessOrEqual(t, open(), before) // connections of other tests may be closed meanwhile
}

// TestProcLinks: open files of this process can be read through /proc.
func TestProcLinks(t *testing.T) {
	f, err := os.Open(t.TempDir())
	require.NoError(t, err)
	defer f.Close()
	h := New(Options{})
	require.NoError(t, os.WriteFile(filepath.Join(f.Name(), "x"), []byte("text"), 0o600))
	text, err := h.ReadFile(fmt.Sprintf("/proc/self/fd/%d/x", f.Fd()))
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	cwd, err := h.IsDirectory("/proc/self/cwd")
	require.NoError(t, err)
	require.True(t, cwd)
}

// TestSharedDirectory: in a directory that others may write, temporary names can neither be guessed nor locked, and
// the next run removes the leftovers of a dead one.
func TestSharedDirectory(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Chmod(root, 0o777|os.ModeSticky))
	uid, gid := Self()
	attr := safepath.Attr{UID: uid, GID: gid, Mode: 0o755}
	for _, name := range []string{".f.ccm-new", ".f.ccm-old", ".a.tar.ccm-extract"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o755))
	}
	h := New(Options{Root: root})
	require.NoError(t, h.WriteFile("/f", strings.NewReader("one"), attr))
	b := h.NewBatch()
	require.NoError(t, b.File().WriteFile("/f", strings.NewReader("two"), attr))
	errs := make([]error, 1)
	b.Announce(errs)
	b.Commit(errs, func(int) {})
	require.NoError(t, errs[0])
	require.NoError(t, h.Symlink("x", "/l"))
	require.NoError(t, h.Symlink("y", "/l"))
	require.NoError(t, h.Backups().Make("/f"))
	aside, err := h.HasBackup("/f")
	require.NoError(t, err)
	require.True(t, aside)
	require.NoError(t, h.WriteFile("/f", strings.NewReader("three"), attr))
	require.NoError(t, h.Backups().Rollback("/f"))
	text, err := h.ReadFile("/f")
	require.NoError(t, err)
	require.Equal(t, "two", string(text))
	names := func() []string {
		list, err := h.ReadDir("/")
		require.NoError(t, err)
		return list
	}
	before := names()
	require.Len(t, before, 5)

	// A dead run leaves a partly written file; another file is still being written.
	left := safepath.RandomName("f", target.TempSuffix)
	require.True(t, safepath.IsRandomName(left, target.TempSuffix))
	require.NoError(t, os.WriteFile(filepath.Join(root, left), []byte("half"), 0o600))
	writing, err := h.Create("/g", attr)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".f.ccm-new.of the user"), nil, 0o600))
	require.NoError(t, New(Options{Root: root}).WriteFile("/f", strings.NewReader("four"), attr))
	require.NotContains(t, names(), left)
	require.Contains(t, names(), ".f.ccm-new.of the user")
	require.NoError(t, writing.Commit())
	require.Contains(t, names(), "g")
}

// TestRemoveTreeOfDeepDirectory: links in a tree are removed, not their targets.
func TestRemoveTreeOfDeepDirectory(t *testing.T) {
	root := t.TempDir()
	deep := root + "/top" + strings.Repeat("/d", 200)
	require.NoError(t, os.MkdirAll(deep, 0o755))
	require.NoError(t, os.WriteFile(deep+"/f", nil, 0o600))
	require.NoError(t, os.Symlink(root, root+"/top/link"))
	require.NoError(t, os.WriteFile(root+"/kept", nil, 0o600))
	require.NoError(t, New(Options{Root: root}).RemoveTree("/top"))
	require.NoDirExists(t, root+"/top")
	require.FileExists(t, root+"/kept")
}

// TestSetAttrOf: a file that replaced the examined one is not changed.
func TestSetAttrOf(t *testing.T) {
	root := t.TempDir()
	h := New(Options{Root: root})
	require.NoError(t, os.WriteFile(root+"/f", nil, 0o600))
	have, err := h.Lstat("/f")
	require.NoError(t, err)
	require.NoError(t, os.Rename(root+"/f", root+"/g"))
	require.NoError(t, os.WriteFile(root+"/f", nil, 0o600))
	uid, gid := Self()
	attr := safepath.Attr{UID: uid, GID: gid, Mode: 0o4755}
	require.EqualError(t, h.SetAttrOf("/f", have, attr), "/f: replaced meanwhile")
	info, err := h.Lstat("/f")
	require.NoError(t, err)
	require.Equal(t, uint32(0o600), info.Mode)
	require.NoError(t, h.SetAttrOf("/f", info, attr))
}

// TestSetAttrOfHardLink: the attributes of a file belong to all its hard links.
func TestSetAttrOfHardLink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	root := t.TempDir()
	lay(t, root, "etc root 0755", "etc/f root = x", "ada ada 0755")
	require.NoError(t, os.Link(root+"/etc/f", root+"/ada/f"))
	require.NoError(t, os.Link(root+"/etc/f", root+"/etc/g"))
	h := New(Options{Root: root})
	err := h.SetAttr("/ada/f", safepath.Attr{UID: ada, GID: ada, Mode: 0o644})
	_, ok := errors.AsType[*safepath.HardLinkError](err)
	require.Truef(t, ok, "%v", err)
	require.NoError(t, h.SetAttr("/etc/g", safepath.Attr{Mode: 0o640}))
	info, err := h.Lstat("/etc/f")
	require.NoError(t, err)
	require.Equal(t, uint32(0), info.UID)
	var st unix.Stat_t
	require.NoError(t, unix.Lstat(root+"/etc/f", &st))
	require.Equal(t, uint32(0o640), st.Mode&0o7777)
}
