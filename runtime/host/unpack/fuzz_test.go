package unpack_test

import (
	"archive/tar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/unpack"
)

var formats = []string{"a.tar", "a.tar.gz", "a.zip", "a.tar.xz", "a.tar.zst"}

// Limits of extractions in fuzz tests.
const fuzzEntries, fuzzBytes = 100, 1 << 20

// hostile are archives that try to do harm.
var hostile = [][]hosttest.ArchiveEntry{
	app,
	{Link("l", "../.."), file("l/evil", "x"), hardLink("h", "../x")},
	{Link("l", "/"), file("l/etc/passwd", "x")},
	{Link("a", "b"), Link("b", "a"), file("a/x", "x")},
	{Link("a", "d"), dir("d", 0o755), Link("d/up", ".."), Link("e", "d/up/../../outside")},
	{file("../outside", "x"), file("/outside", "x"), file("a/../../b", "x")},
	{file("out/evil", "x"), file("outside", "x")},
	{Link("f", "out"), file("old", "new"), dir("kept", 0o700), file("kept/f", "new")},
	{{Header: tar.Header{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}}},
	{{Header: tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}}},
	{{Header: tar.Header{Name: "su", Mode: 0o6755}, Body: "root"}, dir("sticky", 0o1777)},
	{file(strings.Repeat("deep/", 300)+"x", "x")},
	{file(strings.Repeat("n", 300), "x"), file("a\\..\\..\\b", "x")},
	{file("a", "x"), dir("a", 0o755), file("a/b", "x"), hardLink("a", "a"), hardLink("c", "a/b")},
}

// packed packs entries in a format.
func packed(t testing.TB, name string, entries []hosttest.ArchiveEntry) []byte {
	switch name {
	case "a.tar":
		return hosttest.Tar(t, entries...)
	case "a.zip":
		return hosttest.Zip(t, entries...)
	case "a.tar.xz":
		return hosttest.TarXz(t, entries...)
	case "a.tar.zst":
		return hosttest.TarZstd(t, entries...)
	}
	return hosttest.TarGzip(t, entries...)
}

// FuzzExtract extracts bytes that may be an archive.
func FuzzExtract(f *testing.F) {
	for kind, name := range formats {
		for _, entries := range hostile {
			b := packed(f, name, entries)
			f.Add(b, uint8(kind))
			f.Add(b[:len(b)*2/3], uint8(kind))
		}
		f.Add(packed(f, name, []hosttest.ArchiveEntry{file("bomb", strings.Repeat("\x00", fuzzBytes+1))}), uint8(kind))
	}
	f.Fuzz(func(t *testing.T, archive []byte, kind uint8) {
		harmless(t, formats[int(kind)%len(formats)], archive)
	})
}

// FuzzExtractEntries extracts valid archives whose entries are made from bytes, to get past the checksums.
func FuzzExtractEntries(f *testing.F) {
	for i := range 60 {
		f.Add([]byte{byte(i), 1, byte(i * 7), byte(i * 3), 5, byte(i * 11), 2, 0, 9, byte(i), 3, 1, byte(i * 5), 4, 2, byte(i * 13), 7, 0, byte(i), 1, 2, 3}, uint8(i))
	}
	f.Fuzz(func(t *testing.T, script []byte, kind uint8) {
		name := formats[int(kind)%len(formats)]
		harmless(t, name, packed(t, name, entriesOf(script)))
	})
}

// parts are components of names and link targets.
var parts = []string{
	"a", "b", "out", "kept", "old", "..", ".", "", "/", "l", "opt", "app", "opt/app", "../outside", ".a.tar.ccm-extract", ".a.zip.ccm-extract",
	"a/b", "ü", "\xff", "\\", "..\\..", strings.Repeat("n", 256), strings.Repeat("d/", 100), "new\nline", "%s", "-rf",
}

// entriesOf makes at most 101 entries from bytes.
func entriesOf(script []byte) (list []hosttest.ArchiveEntry) {
	next := func() int {
		if len(script) == 0 {
			return 0
		}
		b := script[0]
		script = script[1:]
		return int(b)
	}
	name := func() string {
		var out []string
		for range 1 + next()%4 {
			out = append(out, parts[next()%len(parts)])
		}
		if next()%8 == 0 {
			out = append([]string{"/"}, out...)
		}
		return strings.Join(out, "/")
	}
	for len(script) > 0 && len(list) <= fuzzEntries {
		e := hosttest.ArchiveEntry{Header: tar.Header{Name: name(), Mode: 0o644, Format: tar.FormatPAX}}
		if n := next(); n%2 == 0 {
			e.Mode = int64(n<<5 | next())
		}
		switch next() % 8 {
		case 0:
			e.Typeflag, e.Linkname = tar.TypeSymlink, name()
		case 1:
			e.Typeflag, e.Linkname = tar.TypeLink, name()
		case 2:
			e.Typeflag, e.Mode = tar.TypeDir, e.Mode|0o100
		case 3:
			e.Typeflag = []byte{tar.TypeChar, tar.TypeBlock, tar.TypeFifo, tar.TypeCont}[next()%4]
		default:
			e.Body = strings.Repeat("x", next()<<(next()%14))
		}
		if e.Name = strings.TrimRight(e.Name, "/"); e.Name == "" {
			continue
		}
		if e.Typeflag == tar.TypeDir {
			e.Name += "/"
		}
		list = append(list, e)
	}
	return list
}

// harmless extracts an archive into a directory that has files already. Nothing outside may change, a failure may
// change nothing, and the limits must hold.
func harmless(t *testing.T, name string, archive []byte) {
	base := memoryDir(t)
	root := filepath.Join(base, "machine")
	app := filepath.Join(root, "opt/app")
	for _, dir := range []string{"outside", "machine/outside", "machine/etc", "machine/opt/app/kept"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	for _, file := range []string{"outside/f", "machine/outside/f", "machine/etc/passwd", "machine/opt/app/old", "machine/opt/app/kept/f"} {
		require.NoError(t, os.WriteFile(filepath.Join(base, file), []byte("old"), 0o644))
	}
	require.NoError(t, os.Symlink("../../outside", app+"/out"))
	require.NoError(t, os.WriteFile(filepath.Join(root, name), archive, 0o600))
	before := hosttest.Snapshot(t, base)

	h := host.New(host.Options{Root: root, Clock: hosttest.Clock{}})
	extract := func() error {
		return unpack.Extract(t.Context(), h, "/"+name, unpack.Options{Format: unpack.FormatOf(name), Parent: "/opt/app", MaxEntries: fuzzEntries, MaxBytes: fuzzBytes})
	}
	if err := extract(); err != nil {
		require.NotEmpty(t, err.Error())
		require.Equal(t, before, hosttest.Snapshot(t, base), "left behind by %v", err)
		return
	}
	after := hosttest.Snapshot(t, base)
	require.Equal(t, without(before, "machine/opt/app/"), without(after, "machine/opt/app/"))
	entries, size := 0, int64(0)
	absolute := false
	var links []string
	require.NoError(t, filepath.Walk(app, func(path string, fi os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		entries++
		require.Zero(t, fi.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeSticky|os.ModeDevice|os.ModeNamedPipe|os.ModeSocket), path)
		switch target, _ := os.Readlink(path); {
		case target != "":
			absolute = absolute || target[0] == '/'
			links = append(links, path)
		case fi.Mode().IsRegular():
			size += fi.Size()
		}
		return nil
	}))
	require.LessOrEqual(t, entries, fuzzEntries+5) // the existing files
	require.LessOrEqual(t, size, int64(fuzzBytes+6))
	if !absolute { // absolute links begin at the root of the machine, which is not that of this test
		mine := after["machine/opt/app/out"] == before["machine/opt/app/out"]
		if mine { // the one link that leads out, and that existed before
			require.NoError(t, os.Remove(app+"/out"))
		}
		inside, err := os.OpenRoot(app)
		require.NoError(t, err)
		defer inside.Close()
		for _, path := range links {
			rel, err := filepath.Rel(app, path)
			require.NoError(t, err)
			if _, err := inside.Stat(rel); err != nil {
				require.NotContains(t, err.Error(), "escapes", "%s: %s", rel, after["machine/opt/app/"+rel])
			}
		}
		if mine {
			require.NoError(t, os.Symlink("../../outside", app+"/out"))
		}
	}
	require.NoError(t, extract(), "once more")
	require.Equal(t, after, hosttest.Snapshot(t, base), "once more")
}

// without returns the paths of a snapshot that do not begin with prefix.
func without(snap map[string]string, prefix string) map[string]string {
	out := make(map[string]string)
	for path, text := range snap {
		if !strings.HasPrefix(path, prefix) {
			out[path] = text
		}
	}
	return out
}

// memoryDir returns a directory, in memory if possible, because extracting syncs.
func memoryDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "ccm-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
