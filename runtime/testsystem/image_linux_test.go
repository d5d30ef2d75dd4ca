package testsystem

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCachedImage: an image is made once, and again when it is too old. The earlier one stays while a system uses it.
func TestCachedImage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a mount namespace requires root")
	}
	p := NewPool(t.TempDir(), nil)
	var announced []string
	p.Making = func(t Target) { announced = append(announced, t.Name) }
	commands := 0
	start := func(name string) (*Record, string) {
		t.Helper()
		r := &Record{Name: name, Target: Target{Name: "debian:12"}, pool: p}
		var err error
		r.lock, err = p.take(name)
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(r.dir(), 0o700))
		links, err := cached(t.Context(), r, "debian-12", "key", p.Oldest, func(dir string) []string {
			commands++
			return []string{"sh", "-c", fmt.Sprintf("echo %d > %s/number", commands, dir)}
		})
		require.NoError(t, err)
		require.Equal(t, []string{"layer0"}, links)
		text, err := os.ReadFile(filepath.Join(r.dir(), "layer0/number"))
		require.NoError(t, err)
		return r, string(text)
	}
	images := func() (names []string) {
		names, err := filepath.Glob(filepath.Join(p.Dir, "images", "debian-12-*Z"))
		require.NoError(t, err)
		return names
	}
	p.Oldest = time.Now().Add(-Lifetime)
	first, text := start("debian-12-000001")
	require.Equal(t, "1\n", text)
	second, text := start("debian-12-000002")
	require.Equal(t, "1\n", text)
	require.Equal(t, first.ImageTime, second.ImageTime)
	require.Len(t, images(), 1)

	// As if it was made long ago.
	old := filepath.Join(p.Dir, "images", filepath.Base(images()[0][:len(images()[0])-len(madeFormat)])+"20260101T000000Z")
	require.NoError(t, os.Rename(images()[0], old))
	for _, r := range []*Record{first, second} {
		require.NoError(t, os.Remove(filepath.Join(r.dir(), "layer0")))
	}
	_, err := first.link(old)
	require.NoError(t, err)
	require.NoError(t, second.release())
	third, text := start("debian-12-000003")
	require.Equal(t, "2\n", text)
	require.Len(t, images(), 2, "the image of a running system was removed")
	require.NoError(t, first.release())
	_, text = start("debian-12-000004")
	require.Equal(t, "2\n", text)
	require.Len(t, images(), 1)
	require.Equal(t, []string{"debian:12", "debian:12"}, announced)

	// A command that fails leaves nothing, and the next try makes the image.
	_, err = cached(t.Context(), third, "rocky-9", "key", p.Oldest, func(string) []string { return []string{"sh", "-c", "exit 3"} })
	require.ErrorContains(t, err, "cannot make the image of debian:12: sh: exit status 3")
	left, err := filepath.Glob(filepath.Join(p.Dir, "images", "rocky-9-*[^k]"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestWithSpace: a full disk is named.
func TestWithSpace(t *testing.T) {
	err := errors.New("mmdebstrap: exit status 25")
	require.EqualError(t, withSpace(err, "/var", 1<<30), "mmdebstrap: exit status 25")
	require.EqualError(t, withSpace(err, "/var", 3<<20), "mmdebstrap: exit status 25 "+
		"(/var has 3 MiB free, and an image takes up to 1 GiB: CCM_CACHE_DIR is another place)")
}
