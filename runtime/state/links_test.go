package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
)

func read(t testing.TB, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestLinks: what becomes of a symbolic link or a hard link in the place of a file, and that restore brings it back.
func TestLinks(t *testing.T) {
	symlink := func(to string) func(b *box) {
		return func(b *box) {
			b.write("d/real", "old", 0o600)
			require.NoError(b.t, os.Symlink(to, filepath.Join(b.root, "f")))
		}
	}
	hardlink := func(b *box) {
		b.write("f", "old", 0o644)
		require.NoError(b.t, os.Link(filepath.Join(b.root, "f"), filepath.Join(b.root, "other")))
	}
	const follows = `set links = "follow" to manage its target, or links = "replace" to replace it with the file`
	for name, tt := range map[string]struct {
		start  func(b *box)
		props  props
		err    string // of the resource; "" if it changes
		reason string
		link   string // the target of /f afterwards
		texts  map[string]string
	}{
		"refused": {start: symlink("d/real"), err: "found a symbolic link to d/real, which is not followed (" + follows + ")", link: "d/real",
			texts: map[string]string{"d/real": "old"}},
		"followed": {start: symlink("d/real"), props: props{"links": "follow"}, link: "d/real", texts: map[string]string{"d/real": "new"}},
		"followed to nothing": {start: symlink("d/missing"), props: props{"links": "follow"}, link: "d/missing",
			texts: map[string]string{"d/real": "old", "d/missing": "new"}},
		"followed to no directory": {start: symlink("gone/missing"), props: props{"links": "follow"}, link: "gone/missing",
			err: "symbolic link /f has a missing target: no such file or directory (the directory of its target does not exist)", texts: map[string]string{"d/real": "old"}},
		"replaced":             {start: symlink("d/real"), props: props{"links": "replace"}, texts: map[string]string{"f": "new", "d/real": "old"}},
		"replaced to nothing":  {start: symlink("d/missing"), props: props{"links": "replace"}, texts: map[string]string{"f": "new", "d/real": "old"}},
		"nothing to follow":    {start: func(*box) {}, props: props{"links": "follow"}, texts: map[string]string{"f": "new"}},
		"hard links":           {start: hardlink, reason: "its other hard links keep the old content", texts: map[string]string{"f": "new", "other": "old"}},
		"hard links kept":      {start: hardlink, props: props{"hardlinks": "keep"}, reason: "in place, because it has other hard links", texts: map[string]string{"f": "new", "other": "new"}},
		"hard links kept, one": {start: func(b *box) { b.write("f", "old", 0o644) }, props: props{"hardlinks": "keep"}, texts: map[string]string{"f": "new"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			tt.start(b)
			all := func() (texts map[string]string) {
				texts = make(map[string]string)
				for _, name := range []string{"f", "other", "d/real", "d/missing", "beside"} {
					if fi, err := os.Lstat(filepath.Join(b.root, name)); err == nil && fi.Mode().IsRegular() {
						texts[name] = read(t, filepath.Join(b.root, name))
					}
				}
				return texts
			}
			before := all()
			link, _ := os.Readlink(filepath.Join(b.root, "f"))
			run, sum, err := b.run(cat(t, file("/f", "new", tt.props), file("/beside", "new")))
			require.NoError(t, err)
			want := tt.texts
			want["beside"] = "new"
			require.Equal(t, want, all())
			after, _ := os.Readlink(filepath.Join(b.root, "f"))
			require.Equal(t, tt.link, after)
			noLeftovers(t, b.root)
			if tt.err != "" {
				require.Equal(t, 1, sum.Of(event.Failed))
				require.ErrorContains(t, b.events[0].Err, tt.err)
			} else {
				require.Zero(t, sum.Of(event.Failed), b.story())
				require.Equal(t, tt.reason, b.events[0].Reason)
				_, again, err := b.run(cat(t, file("/f", "new", tt.props), file("/beside", "new")))
				require.NoError(t, err)
				require.Equal(t, 2, again.Of(event.Stable), b.story())
			}
			_, errs := b.restore(run.ID())
			require.Empty(t, errs)
			require.Equal(t, before, all())
			after, _ = os.Readlink(filepath.Join(b.root, "f"))
			require.Equal(t, link, after)
		})
	}
}

// TestUnsafeLinkIsNotFollowed: links = "follow" keeps the rule for the links of other users.
func TestUnsafeLinkIsNotFollowed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	b := newBox(t)
	b.write("secret", "of root", 0o600)
	require.NoError(t, os.Mkdir(filepath.Join(b.root, "home"), 0o755))
	require.NoError(t, os.Chown(filepath.Join(b.root, "home"), 4711, 4711))
	at := filepath.Join(b.root, "home/f")
	require.NoError(t, os.Symlink("../secret", at))
	require.NoError(t, os.Lchown(at, 4711, 4711))
	_, sum, err := b.run(cat(t, file("/home/f", "new", props{"links": "follow"})))
	require.NoError(t, err)
	require.Equal(t, 1, sum.Of(event.Failed))
	require.ErrorContains(t, b.events[0].Err, "unsafe symbolic link: /home/f")
	require.Equal(t, "of root", read(t, filepath.Join(b.root, "secret")))
}
