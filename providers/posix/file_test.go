package posix

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// start makes a machine for the suite; commands are not answered.
func start(f func(t *testing.T, root string)) func(*testing.T, string) host.Runner {
	return func(t *testing.T, root string) host.Runner {
		f(t, root)
		return &hosttest.Runner{}
	}
}

func write(text string, mode os.FileMode) func(*testing.T, string) host.Runner {
	return start(func(t *testing.T, root string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, "f"), []byte(text), mode))
	})
}

func TestFiles(t *testing.T) {
	owner, group := hosttest.Me()
	source := filepath.Join(t.TempDir(), "source")
	require.NoError(t, os.WriteFile(source, []byte("hello"), 0o600))
	file := func(f resources.File) resources.File {
		f.Name = "/f"
		if f.Ensure == "" {
			f.Ensure = resources.FilePresent
		}
		if f.Ensure != resources.FileAbsent {
			f.Owner, f.Group = owner, group
			if f.Mode == nil {
				f.Mode = new(resources.ModeOf(0o640))
			}
		}
		return f
	}
	var xmode resources.Mode
	require.NoError(t, xmode.UnmarshalText([]byte("6x0")))
	var anymode resources.Mode
	require.NoError(t, anymode.UnmarshalText([]byte("xxx")))

	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer served.Close()
	remote := served.URL + "/x"

	const notFile, notDir = "which is not replaced", "which is not followed"
	mismatch := source + ": checksum mismatch, expected"
	resourcetest.Suite[resources.File, resources.FileState, resources.FileProvider]{
		Type:     resources.FileType,
		Provider: files{},
		Starts: map[string]func(*testing.T, string) host.Runner{
			"nothing":   start(func(*testing.T, string) {}),
			"same":      write("hello", 0o640),
			"othertext": write("bye", 0o640),
			"samesize":  write("hallo", 0o640),
			"othermode": write("hello", 0o600),
			"allother":  write("something longer", 0o600),
			"dir": start(func(t *testing.T, root string) {
				require.NoError(t, os.Mkdir(filepath.Join(root, "f"), 0o700))
			}),
			"fulldir": start(func(t *testing.T, root string) {
				require.NoError(t, os.MkdirAll(filepath.Join(root, "f", "g"), 0o700))
			}),
			"link": start(func(t *testing.T, root string) {
				require.NoError(t, os.WriteFile(filepath.Join(root, "elsewhere"), []byte("hello"), 0o640))
				require.NoError(t, os.Symlink("elsewhere", filepath.Join(root, "f")))
			}),
			"leftover": start(func(t *testing.T, root string) {
				require.NoError(t, os.WriteFile(filepath.Join(root, ".f.ccm-new"), []byte("half of i"), 0o600))
			}),
		},
		Wants: map[string]resources.File{
			"content": file(resources.File{Content: new("hello")}),
			"empty":   file(resources.File{Content: new("")}),
			"source":  file(resources.File{Source: &source}),
			"url":     file(resources.File{Source: &remote}),
			"sum":     file(resources.File{Source: &remote, Checksum: resources.Checksum(sha256sum.Text("hello"))}),
			"no sum":  file(resources.File{Source: &source, Checksum: resources.Checksum(sha256sum.Text("bye"))}),
			"anyone":  {Name: "/f", Ensure: resources.FilePresent, Content: new("hello"), Owner: resources.Unmanaged, Group: resources.Unmanaged, Mode: &anymode},
			"once":    file(resources.File{Content: new("hello"), ContentOnce: true}),
			"attrs":   file(resources.File{}),
			"xmode":   file(resources.File{Mode: &xmode}),
			"absent":  file(resources.File{Ensure: resources.FileAbsent}),
			"gone":    file(resources.File{Ensure: resources.FileAbsent, Force: true}),
			"dir":     file(resources.File{Ensure: resources.FileDirectory, Mode: new(resources.ModeOf(0o750))}),
			"setgid":  file(resources.File{Ensure: resources.FileDirectory, Mode: new(resources.ModeOf(0o2750)), SpecialBits: true}),
			"setuid":  file(resources.File{Content: new("hello"), Mode: new(resources.ModeOf(0o4750)), SpecialBits: true}),
			"there":   {Name: "/f", Ensure: resources.FileExisting, Mode: new(resources.ModeOf(0o640))},
		},
		Fails: map[string]string{
			"fulldir/absent":   "no record of a run that created /f/",
			"dir/content":      notFile,
			"dir/empty":        notFile,
			"dir/source":       notFile,
			"dir/once":         notFile,
			"dir/url":          notFile,
			"dir/sum":          notFile,
			"dir/no sum":       notFile,
			"fulldir/sum":      notFile,
			"fulldir/no sum":   notFile,
			"link/sum":         notDir,
			"link/no sum":      notDir,
			"nothing/no sum":   mismatch,
			"same/no sum":      mismatch,
			"samesize/no sum":  mismatch,
			"othermode/no sum": mismatch,
			"allother/no sum":  mismatch,
			"leftover/no sum":  mismatch,
			"dir/anyone":       notFile,
			"dir/attrs":        notFile,
			"dir/xmode":        notFile,
			"fulldir/content":  "found a directory",
			"fulldir/empty":    notFile,
			"fulldir/source":   notFile,
			"fulldir/once":     notFile,
			"fulldir/url":      notFile,
			"fulldir/anyone":   notFile,
			"fulldir/attrs":    notFile,
			"fulldir/xmode":    notFile,
			"same/dir":         "expected a directory, found a file",
			"othertext/dir":    notFile,
			"samesize/dir":     notFile,
			"othermode/dir":    notFile,
			"allother/dir":     notFile,
			"link/content":     "symbolic link to elsewhere",
			"link/empty":       notDir,
			"link/source":      notDir,
			"link/once":        notDir,
			"link/url":         notDir,
			"link/anyone":      notDir,
			"link/attrs":       notDir,
			"link/xmode":       notDir,
			"link/dir":         notDir,
			"link/setgid":      notDir,
			"link/setuid":      notDir,
			"link/there":       notDir,
			"dir/setuid":       notFile,
			"fulldir/setuid":   notFile,
			"same/setgid":      notFile,
			"othertext/setgid": notFile,
			"samesize/setgid":  notFile,
			"othermode/setgid": notFile,
			"allother/setgid":  notFile,
			"nothing/there":    "an existing file or directory, found nothing",
			"leftover/there":   "an existing file or directory, found nothing",
		},
		// The decision table of the file document, and the phrases of its section
		// on noop.
		Phrases: map[string][]string{
			"nothing/absent":    {},                        // absent | absent | None
			"same/absent":       {"removed the file"},      // absent | present | Remove
			"dir/absent":        {"removed the directory"}, // absent | directory | Remove
			"fulldir/gone":      {"removed the directory"},
			"link/absent":       {"removed the symbolic link"},
			"dir/dir":           {"updated attributes"}, // directory | wrong attrs | CreateDirectory
			"nothing/dir":       {"created directory"},  // directory | absent | CreateDirectory
			"same/content":      {},                     // present | all matching | None
			"same/source":       {},
			"same/url":          {},
			"nothing/url":       {"created the file"},
			"othertext/url":     {"updated the file"},
			"othermode/anyone":  {},
			"nothing/anyone":    {"created the file"},
			"same/attrs":        {},
			"nothing/content":   {"created the file"}, // present | absent | Store
			"nothing/attrs":     {"created an empty file"},
			"othertext/content": {"updated the file"}, // present | wrong content | Store
			"samesize/content":  {"updated the file"},
			"othermode/content": {"updated attributes"}, // present | wrong attrs | Store
			"othertext/attrs":   {},
			"othertext/once":    {},
			"allother/once":     {"updated attributes"},
			"nothing/once":      {"created the file"},
			"othermode/xmode":   {},
			"leftover/content":  {"created the file"},
			"same/there":        {},
			"othertext/there":   {},
			"allother/there":    {"updated attributes"},
			"dir/there":         {"updated attributes"},
			"fulldir/there":     {"updated attributes"},
			"nothing/setgid":    {"created directory"},
			"fulldir/setgid":    {"updated attributes"},
			"nothing/setuid":    {"created the file"},
			"same/setuid":       {"updated attributes"},
		},
	}.Run(t)
}

// TestSymlinkIsLeftAlone: the target of a link is never changed.
func TestSymlinkIsLeftAlone(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(root, "target"), []byte("precious"), 0o600))
	require.NoError(t, os.Symlink("target", filepath.Join(root, "f")))
	want := resources.File{Name: "/f", Ensure: resources.FileAbsent}
	require.NoError(t, files{}.Remove(t.Context(), h, want))
	snap := hosttest.Snapshot(t, root)
	require.Len(t, snap, 1)
	require.Contains(t, snap["target"], "precious")
}

// TestLinkInRoot shows that links inside a root are followed as chroot would.
func TestLinkInRoot(t *testing.T) {
	h, root := hosttest.New(t, nil)
	owner, group := hosttest.Me()
	require.NoError(t, os.Mkdir(filepath.Join(root, "private"), 0o755))
	require.NoError(t, os.Symlink("/private", filepath.Join(root, "etc")))
	want := resources.File{Name: "/etc/f", Ensure: resources.FilePresent, Content: new("x"), Owner: owner, Group: group, Mode: new(resources.ModeOf(0o600))}
	require.NoError(t, files{}.Store(t.Context(), h, want))
	require.FileExists(t, filepath.Join(root, "private", "f"))
}

// TestEveryEffectFails fails each effect of a write in turn: the old or the new
// file is there, never a third, and nothing is left after the next run.
func TestEveryEffectFails(t *testing.T) {
	owner, group := hosttest.Me()
	for _, old := range []*string{nil, new("old text")} {
		for more := 1; more <= 2; more++ { // 2: what tidies up fails as well
			for n, done := 1, false; !done; n++ {
				root := t.TempDir()
				path := filepath.Join(root, "f")
				if old != nil {
					require.NoError(t, os.WriteFile(path, []byte(*old), 0o600))
				}
				effect, asked := hosttest.Failing(n, more)
				h := host.New(host.Options{Root: root, Effect: effect})
				want := resources.File{Name: "/f", Ensure: resources.FilePresent, Content: new("new text"), Owner: owner, Group: group, Mode: new(resources.ModeOf(0o644))}
				err := files{}.Store(t.Context(), h, want)
				done = asked() < n
				if done {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, hosttest.ErrInjected)
				}
				text, err := os.ReadFile(path)
				switch {
				case err == nil && string(text) == "new text":
				case old == nil:
					require.ErrorIs(t, err, os.ErrNotExist)
				default:
					require.Equal(t, *old, string(text))
				}
				require.NoError(t, files{}.Store(t.Context(), host.New(host.Options{Root: root}), want))
				require.Len(t, hosttest.Snapshot(t, root), 1, "effect %d failed and left something behind", n)
			}
		}
	}
}

func TestMissingParent(t *testing.T) {
	h, _ := hosttest.New(t, nil)
	owner, group := hosttest.Me()
	want := resources.File{Name: "/a/b/f", Ensure: resources.FilePresent, Owner: owner, Group: group, Mode: new(resources.ModeOf(0o600))}
	have, err := files{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.EqualError(t, want.Decide(have).Err, "/a/b does not exist")
	require.EqualError(t, files{}.Store(t.Context(), h, want), "/a/b does not exist")
}

func TestUnknownOwner(t *testing.T) {
	h, _ := hosttest.New(t, &hosttest.Runner{})
	_, err := files{}.Status(t.Context(), &h.View, resources.File{Name: "/f", Owner: "no-such-user", Group: "0", Mode: new(resources.ModeOf(0o600))})
	require.EqualError(t, err, `no such user "no-such-user"`)
	_, err = files{}.Status(t.Context(), &h.View, resources.File{Name: "/f", Owner: "0", Group: "no-such-group", Mode: new(resources.ModeOf(0o600))})
	require.EqualError(t, err, `no such group "no-such-group"`)
}

// A URL is not asked while the file has the checksum, and once if it has not.
func TestChecksumSparesTheServer(t *testing.T) {
	asked := 0
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, "hello")
	}))
	defer served.Close()
	h, root := hosttest.New(t, nil)
	owner, group := hosttest.Me()
	want := resources.File{
		Name: "/f", Ensure: resources.FilePresent, Source: new(served.URL + "/?key=k3y"), Checksum: resources.Checksum(sha256sum.Text("hello")),
		Owner: owner, Group: group, Mode: new(resources.ModeOf(0o640)),
	}
	require.NoError(t, files{}.Create(t.Context(), h, want))
	require.Equal(t, 1, asked)
	h = host.New(host.Options{Root: root})
	have, err := files{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Empty(t, want.Decide(have).Diff)
	require.Equal(t, 1, asked)
	require.NoError(t, os.WriteFile(root+"/f", []byte("other"), 0o640))
	have, err = files{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Len(t, want.Decide(have).Actions, 1)
	require.Equal(t, 2, asked)
	want.Checksum = resources.Checksum(sha256sum.Text("evil"))
	_, err = files{}.Status(t.Context(), &h.View, want)
	require.ErrorContains(t, err, "checksum mismatch, expected")
	require.NotContains(t, err.Error(), "k3y")
	require.ErrorContains(t, files{}.Store(t.Context(), h, want), "checksum mismatch, expected")
	text, err := os.ReadFile(root + "/f")
	require.NoError(t, err)
	require.Equal(t, "other", string(text))
}

// Directories made for a file that cannot be written are removed.
func TestParentsOfWhatFails(t *testing.T) {
	h, root := hosttest.New(t, nil)
	before := hosttest.Snapshot(t, root)
	want := resources.File{
		Name: "/a/b/f", Ensure: resources.FilePresent, Content: new("x"), Parents: true, Check: []string{"false %s"},
		Owner: resources.Unmanaged, Group: resources.Unmanaged, Mode: new(resources.ModeOf(0o640)),
	}
	require.ErrorContains(t, files{}.Create(t.Context(), h, want), "validate")
	require.Equal(t, before, hosttest.Snapshot(t, root))
}
