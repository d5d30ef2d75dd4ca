package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// release points the link current to a release.
func (b *box) release(name string) {
	link := filepath.Join(b.root, "current")
	_ = os.Remove(link)
	require.NoError(b.t, os.Symlink("releases/"+name, link))
}

// TestRestoreAfterLinkMoved: a change behind a link is not restored where the link leads now, but is restored once it
// leads there again.
func TestRestoreAfterLinkMoved(t *testing.T) {
	for name, path := range map[string]string{"file": "/current/app.conf", "below": "/current/etc/app.conf"} {
		for change, run := range map[string]decl{"replaced": file(path, "new\n"), "removed": absent(path)} {
			t.Run(name+" "+change, func(t *testing.T) {
				b := newBox(t)
				for _, release := range []string{"7", "8"} {
					b.write("releases/"+release+path[len("/current"):], "old of "+release+"\n", 0o644)
				}
				b.release("7")
				id := b.must(run)
				b.release("8")
				before := hosttest.Snapshot(t, b.root)
				_, errs := b.restore(id)
				require.Len(t, errs, 1)
				dir := filepath.Dir(path)[len("/current"):]
				require.ErrorContains(t, errs[0], "the run changed it in /releases/7"+dir+", but its path now leads to /releases/8"+dir+" (point the link to /releases/7"+dir+" again")
				require.Equal(t, before, hosttest.Snapshot(t, b.root))

				b.release("7")
				_, errs = b.restore(id)
				require.Empty(t, errs)
				text, err := os.ReadFile(filepath.Join(b.root, path))
				require.NoError(t, err)
				require.Equal(t, "old of 7\n", string(text))
			})
		}
	}
}

// TestRestoreOfMadeAfterLinkMoved: a file that a run made behind a link is not removed elsewhere.
func TestRestoreOfMadeAfterLinkMoved(t *testing.T) {
	b := newBox(t)
	b.write("releases/7/x", "", 0o644)
	b.release("7")
	id := b.must(file("/current/app.conf", "new\n"))
	b.write("releases/8/app.conf", "of 8\n", 0o644)
	b.release("8")
	before := hosttest.Snapshot(t, b.root)
	_, errs := b.restore(id)
	require.Len(t, errs, 1)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
}

// TestRestoreWithLink: a run that changed a link and files behind it is restored, in either order of the changes.
func TestRestoreWithLink(t *testing.T) {
	type step func(h *host.Host) error
	own := safepath.Attr{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o644}
	point := func(h *host.Host) error { return h.Symlink("releases/8", "/current") }
	write := func(h *host.Host) error {
		etc := own
		etc.Mode = 0o700
		return errors.Join(h.WriteFile("/current/app.conf", strings.NewReader("new\n"), own), h.WriteFile("/current/made", strings.NewReader("new\n"), own), h.SetAttr("/current/etc", etc))
	}
	for name, steps := range map[string][]step{"link first": {point, write}, "link last": {write, point}} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			for _, release := range []string{"7", "8"} {
				b.write("releases/"+release+"/app.conf", "old of "+release+"\n", 0o644)
				b.write("releases/"+release+"/etc/x", "x\n", 0o644)
			}
			b.release("7")
			before := hosttest.Snapshot(t, b.root)
			require.NoError(t, os.MkdirAll(b.dir, 0o700))
			run, h, err := b.begin("run")
			require.NoError(t, err)
			for _, step := range steps {
				require.NoError(t, step(h))
			}
			require.NoError(t, run.End(event.Summary{}))
			require.NotEqual(t, before, hosttest.Snapshot(t, b.root))
			_, errs := b.restore(run.ID())
			require.Empty(t, errs)
			require.Equal(t, before, hosttest.Snapshot(t, b.root))
		})
	}
}

// TestRestoreOfOldRecord: records without the directory of a change are restored as before.
func TestRestoreOfOldRecord(t *testing.T) {
	b := newBox(t)
	for _, release := range []string{"7", "8"} {
		b.write("releases/"+release+"/app.conf", "old of "+release+"\n", 0o644)
	}
	b.release("7")
	id := b.must(file("/current/app.conf", "new\n"))
	record := filepath.Join(b.dir, "runs", id+".ndjson")
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	require.Contains(t, string(text), `"dir":"/releases/7",`)
	text = []byte(strings.ReplaceAll(string(text), `"dir":"/releases/7",`, ""))
	require.NoError(t, os.WriteFile(record, text, 0o600))
	b.release("8")
	_, errs := b.restore(id)
	require.Empty(t, errs)
	text, err = os.ReadFile(filepath.Join(b.root, "releases/8/app.conf"))
	require.NoError(t, err)
	require.Equal(t, "old of 7\n", string(text))
}
