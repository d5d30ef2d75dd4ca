package unpack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/safepath"
)

var (
	file     = hosttest.File
	Link     = hosttest.Link
	hardLink = hosttest.HardLink
	dir      = hosttest.Dir
)

// extract extracts an archive to /opt/app on a new machine.
func extract(t *testing.T, name string, archive []byte, x unpack.Options) (root string, err error) {
	t.Helper()
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(root, name), archive, 0o600))
	x.Format, x.Parent = unpack.FormatOf(name), "/opt/app"
	return root, unpack.Extract(t.Context(), h, "/"+name, x)
}

// below returns the snapshot of a directory without the owners.
func below(t *testing.T, dir string) map[string]string {
	t.Helper()
	owner := fmt.Sprintf(" %d:%d ", os.Geteuid(), os.Getegid())
	snap := hosttest.Snapshot(t, dir)
	for k, v := range snap {
		snap[k] = strings.TrimSpace(strings.Replace(v, owner, " ", 1))
	}
	return snap
}

var app = []hosttest.ArchiveEntry{
	dir("./", 0o700),
	dir("bin/", 0o750),
	{Header: tar.Header{Name: "bin/app", Mode: 0o755}, Body: "#!"},
	{Header: tar.Header{Name: "bin/su", Mode: 0o6755}, Body: "root"},
	dir("ro/", 0o555),
	file("ro/f", "read"),
	file("lib/deep/er/x", "x"),
	Link("lib/x", "deep/er/x"),
	Link("current", "lib"),
	Link("gone", "not/there"),
}

var appBelow = map[string]string{
	"bin": "drwxr-x---", "bin/app": "-rwxr-xr-x #!", "bin/su": "-rwxr-xr-x root",
	"ro": "dr-xr-xr-x", "ro/f": "-rw-r--r-- read",
	"lib": "drwxr-xr-x", "lib/deep": "drwxr-xr-x", "lib/deep/er": "drwxr-xr-x", "lib/deep/er/x": "-rw-r--r-- x",
	"lib/x": "Lrwxrwxrwx → deep/er/x", "current": "Lrwxrwxrwx → lib", "gone": "Lrwxrwxrwx → not/there",
}

// Modes and symbolic links are kept, setuid is not, and the directory itself is not changed.
func TestExtract(t *testing.T) {
	for name, archive := range map[string][]byte{
		"app.tar": hosttest.Tar(t, app...), "app.tar.gz": hosttest.TarGzip(t, app...),
		"app.tgz": hosttest.TarGzip(t, app...), "APP.ZIP": hosttest.Zip(t, app...),
		"app.tar.xz": hosttest.TarXz(t, app...), "app.tzst": hosttest.TarZstd(t, app...),
	} {
		t.Run(name, func(t *testing.T) {
			for _, last := range []string{"", "/opt/app/bin/app", "/opt/app/lib", "/opt/app/ro", "/opt/app/nothing", "/elsewhere"} {
				root, err := extract(t, name, archive, unpack.Options{MaxEntries: 12, MaxBytes: 11, Last: last})
				require.NoError(t, err)
				want := appBelow
				if strings.HasSuffix(name, "ZIP") { // files without a mode in a zip
					want = appBelow
				}
				require.Equal(t, want, below(t, root+"/opt/app"), "last is %s", last)
				require.Equal(t, "drwxr-xr-x", below(t, root)["opt/app"])
				require.NoError(t, os.Chmod(root+"/opt/app/ro", 0o755)) // so that the test can remove it
			}
		})
	}
}

func TestExtractHardLinks(t *testing.T) {
	root, err := extract(t, "a.tar", hosttest.Tar(t, file("a", "x"), dir("d", 0o755), hardLink("d/b", "./a"), Link("d/l", "b"), hardLink("d/m", "d/l")), unpack.Options{})
	require.NoError(t, err)
	a, err := os.Stat(root + "/opt/app/a")
	require.NoError(t, err)
	b, err := os.Stat(root + "/opt/app/d/b")
	require.NoError(t, err)
	require.True(t, os.SameFile(a, b))
	require.Equal(t, "Lrwxrwxrwx → b", below(t, root+"/opt/app")["d/m"])
}

func TestExtractTimes(t *testing.T) {
	when := time.Date(2020, 3, 4, 5, 6, 8, 0, time.UTC)
	for name, pack := range map[string]func(testing.TB, ...hosttest.ArchiveEntry) []byte{"a.tar": hosttest.Tar, "a.zip": hosttest.Zip} {
		root, err := extract(t, name, pack(t, hosttest.ArchiveEntry{Header: tar.Header{Name: "f", ModTime: when}}), unpack.Options{})
		require.NoError(t, err)
		fi, err := os.Stat(root + "/opt/app/f")
		require.NoError(t, err)
		require.True(t, when.Equal(fi.ModTime()), name)
	}
}

// Later entries of a tar replace earlier ones, as with tar -r.
func TestExtractDuplicates(t *testing.T) {
	root, err := extract(t, "a.tar", hosttest.Tar(t, file("f", "old"), Link("g", "f"), dir("d", 0o700), dir("d", 0o755), file("f", "new"), file("g", "file")), unpack.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"f": "-rw-r--r-- new", "g": "-rw-r--r-- file", "d": "drwxr-xr-x"}, below(t, root+"/opt/app"))
}

// A backslash is part of a name, as in those of systemd units; programs on Windows have used it for a slash.
func TestExtractBackslashes(t *testing.T) {
	windows := hosttest.Zip(t, file(`dir\sub\f`, "x"), file(`empty\`, ""))
	root, err := extract(t, "a.zip", windows, unpack.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"dir": "drwxr-xr-x", "dir/sub": "drwxr-xr-x", "dir/sub/f": "-rw-r--r-- x", "empty": "drwxr-xr-x"}, below(t, root+"/opt/app"))

	unit := `dev-disk-by\x2dlabel.swap`
	unix := hosttest.ArchiveEntry{Header: tar.Header{Name: unit, Mode: 0o644}, Body: "x"}
	for name, archive := range map[string][]byte{"a.zip": hosttest.Zip(t, unix), "a.tar": hosttest.Tar(t, unix)} {
		root, err := extract(t, name, archive, unpack.Options{})
		require.NoError(t, err)
		require.Equal(t, map[string]string{unit: "-rw-r--r-- x"}, below(t, root+"/opt/app"))
	}
}

// flipped returns b with one bit of the byte at an index changed; a negative index counts from the end.
func flipped(b []byte, at int) []byte {
	c := bytes.Clone(b)
	if at < 0 {
		at += len(c)
	}
	c[at] ^= 1
	return c
}

// encrypted marks every entry of a zip as encrypted.
func encrypted(b []byte) []byte {
	c := bytes.Clone(b)
	for sig, at := range map[string]int{"PK\x03\x04": 6, "PK\x01\x02": 8} {
		i := bytes.Index(c, []byte(sig)) + at
		binary.LittleEndian.PutUint16(c[i:], binary.LittleEndian.Uint16(c[i:])|1)
	}
	return c
}

// Hostile and damaged archives fail and leave nothing, not even the target directory.
func TestExtractHostile(t *testing.T) {
	special := func(kind byte) hosttest.ArchiveEntry {
		return hosttest.ArchiveEntry{Header: tar.Header{Name: "dev", Typeflag: kind, Devmajor: 1, Devminor: 5}}
	}
	good := file("good", "good")
	noise := strings.Repeat("0123456789abcdef", 1<<10)
	bomb := file("zeros", strings.Repeat("\x00", 1<<20))
	tars := []struct {
		name    string
		entries []hosttest.ArchiveEntry
		want    string
	}{
		{"traversal", []hosttest.ArchiveEntry{good, file("../evil", "x")}, `entry "../evil": is a path with ..`},
		{"traversal inside", []hosttest.ArchiveEntry{good, file("a/../../evil", "x")}, "is a path with .."},
		{"absolute", []hosttest.ArchiveEntry{good, file("/evil", "x")}, `entry "/evil": is an absolute path`},
		{"directory above", []hosttest.ArchiveEntry{good, dir("../evil/", 0o755)}, "is a path with .."},
		{"symbolic link out", []hosttest.ArchiveEntry{good, Link("l", "/etc")}, "is a symbolic link to /etc, which points outside of the directory"},
		{"symbolic link up", []hosttest.ArchiveEntry{good, Link("a/l", "../../x")}, "points outside"},
		{"symbolic link, then write through it", []hosttest.ArchiveEntry{good, Link("l", "../.."), file("l/evil", "x")}, "is a path below l, which is a symbolic link in the archive"},
		{"absolute symbolic link, then write through it", []hosttest.ArchiveEntry{good, Link("l", "/"), file("l/evil", "x")}, "is a path below l"},
		{"symbolic link to a file, then write to it", []hosttest.ArchiveEntry{good, Link("l", "../../evil"), file("l", "x"), Link("m", "../../evil")}, "points outside"},
		{"symbolic link in place of a directory", []hosttest.ArchiveEntry{dir("d", 0o755), Link("d", "..")}, "is both a directory and a symbolic link"},
		{"directory in place of a symbolic link", []hosttest.ArchiveEntry{Link("d", ".."), dir("d", 0o755)}, "is both a symbolic link and a directory"},
		{"chain of symbolic links", []hosttest.ArchiveEntry{Link("x/y/z", "../.."), Link("w", "x/y/z/.."), good}, "points outside"},
		{"hard link outside", []hosttest.ArchiveEntry{good, hardLink("h", "../evil")}, `is a hard link to "../evil", which is a path with ..`},
		{"absolute hard link", []hosttest.ArchiveEntry{good, hardLink("h", "/etc/passwd")}, `which is an absolute path`},
		{"hard link to what was there", []hosttest.ArchiveEntry{hardLink("h", "existing")}, "is not a file earlier in the archive"},
		{"hard link to a directory", []hosttest.ArchiveEntry{dir("d", 0o755), hardLink("h", "d")}, "is not a file earlier in the archive"},
		{"hard link to itself", []hosttest.ArchiveEntry{good, hardLink("good", "good")}, "is not a file earlier in the archive"},
		{"hard link to a symbolic link that leads out from there", []hosttest.ArchiveEntry{Link("a/b/l", "../../x"), hardLink("l", "a/b/l")}, `entry "l": is a symbolic link to ../../x, which points outside of the directory`},
		{"hard link through a symbolic link", []hosttest.ArchiveEntry{Link("l", "."), good, hardLink("h", "l/good")}, "is not a file earlier in the archive"},
		{"character device", []hosttest.ArchiveEntry{good, special(tar.TypeChar)}, "is a device or pipe, which is not extracted"},
		{"block device", []hosttest.ArchiveEntry{good, special(tar.TypeBlock)}, "is a device or pipe, which is not extracted"},
		{"pipe", []hosttest.ArchiveEntry{good, special(tar.TypeFifo)}, "is a device or pipe, which is not extracted"},
		{"file below a file", []hosttest.ArchiveEntry{good, file("good/x", "x")}, "is a path below good, which is a file"},
		{"a link for the directory", []hosttest.ArchiveEntry{Link("./", "/etc")}, "is the directory itself"},
		{"bomb", []hosttest.ArchiveEntry{good, bomb}, "expands to more than the limit of 64.0 KiB"},
		{"many entries", []hosttest.ArchiveEntry{good, file("1", ""), file("2", ""), file("3", ""), file("4", ""), file("5", ""), file("6", "")}, "exceeds the limit of 6 entries"},
		{"name of the stage", []hosttest.ArchiveEntry{file(".a.tar.ccm-extract/x", "x")}, "is a path in the directory for unpacking"},
		{"is a symbolic link without target", []hosttest.ArchiveEntry{Link("l", "a\x00b")}, ""},
	}
	archives := []struct {
		name, file string
		archive    []byte
		want       string
	}{
		{"empty", "a.tar", nil, "archive is empty"},
		{"empty gzip", "a.tar.gz", nil, "archive is truncated"},
		{"no gzip", "a.tar.gz", hosttest.Tar(t, good), "cannot read archive: not a gzip file"},
		{"five bytes that are no gzip", "a.tar.gz", []byte("hello"), "cannot read archive: not a gzip file"},
		{"five bytes that are no xz", "a.tar.xz", []byte("hello"), "cannot read archive: not a xz file"},
		{"a byte that is no zstd", "a.tar.zst", []byte("h"), "cannot read archive: not a zstd file"},
		{"a page that is no zstd", "a.tar.zst", []byte("<html>not found</html>"), "cannot read archive: not a zstd file"},
		{"a byte of xz", "a.tar.xz", []byte("\xfd"), "archive is truncated"},
		{"no tar", "a.tar", []byte(noise), "cannot read archive: archive/tar: invalid tar header"},
		{"no zip", "a.zip", []byte(noise), "archive is not a zip archive, or is truncated"},
		{"tar cut in a file", "a.tar", hosttest.Tar(t, good, file("b", noise))[:3000], "archive is truncated"},
		{"tar cut in a header", "a.tar", hosttest.Tar(t, good, file("b", noise))[:1200], "archive is truncated"},
		{"gzip cut", "a.tgz", hosttest.TarGzip(t, good, file("b", noise))[:120], "archive is truncated"},
		{"gzip cut in its checksum", "a.tgz", hosttest.TarGzip(t, good)[:len(hosttest.TarGzip(t, good))-6], "archive is truncated"},
		{"gzip with a wrong checksum", "a.tgz", flipped(hosttest.TarGzip(t, good), -6), "gzip: invalid checksum"},
		{"zip cut", "a.zip", hosttest.Zip(t, good, file("b", noise))[:150], "archive is not a zip archive, or is truncated"},
		{"zip with a wrong checksum", "a.zip", flipped(hosttest.Zip(t, file("g", "good")), 33), ""},
		{"zip, encrypted", "a.zip", encrypted(hosttest.Zip(t, good)), "is an encrypted file"},
		{"zip, traversal with backslashes", "a.zip", hosttest.Zip(t, good, file(`..\..\evil`, "x")), "is a path with .."},
		{"zip, traversal with backslashes from Unix", "a.zip", hosttest.Zip(t, good, hosttest.ArchiveEntry{Header: tar.Header{Name: `..\evil`, Mode: 0o644}}), "is a path with .."},
		{"zip, absolute with a backslash", "a.zip", hosttest.Zip(t, good, file(`\evil`, "x")), "is an absolute path"},
		{"zip, duplicate", "a.zip", hosttest.Zip(t, good, good), "is a duplicate entry"},
		{"zip, duplicate by another spelling", "a.zip", hosttest.Zip(t, file("d/f", "1"), file(`d\f`, "2")), "is a duplicate entry"},
		{"zip, device", "a.zip", hosttest.Zip(t, good, hosttest.ArchiveEntry{Header: tar.Header{Name: "dev", Typeflag: tar.TypeChar, Mode: 0o644}}), "is a device or pipe, which is not extracted"},
		{"zip, endless link", "a.zip", hosttest.Zip(t, Link("l", strings.Repeat("a/", 4000))), "is a symbolic link without target"},
	}
	for _, tt := range tars {
		if tt.want == "" {
			continue
		}
		archives = append(archives, struct {
			name, file string
			archive    []byte
			want       string
		}{tt.name, "a.tar", hosttest.Tar(t, tt.entries...), tt.want})
		if !strings.Contains(tt.name, "hard link") && !strings.Contains(tt.name, "pipe") && !strings.Contains(tt.name, "name of the stage") &&
			!strings.Contains(tt.name, "then write to it") && !strings.Contains(tt.name, "device") && !strings.Contains(tt.name, "the directory") {
			archives = append(archives, struct {
				name, file string
				archive    []byte
				want       string
			}{"zip, " + tt.name, "a.zip", hosttest.Zip(t, tt.entries...), tt.want})
		}
	}
	for _, tt := range archives {
		t.Run(tt.name, func(t *testing.T) {
			x := unpack.Options{MaxEntries: 6, MaxBytes: 64 << 10}
			root, err := extract(t, tt.file, tt.archive, x)
			require.Error(t, err)
			require.ErrorContains(t, err, tt.want)
			snap := below(t, root)
			delete(snap, tt.file)
			require.Empty(t, snap)

			// An existing directory is unchanged, with no new file in it.
			h := host.New(host.Options{Root: root})
			require.NoError(t, os.MkdirAll(root+"/opt/app", 0o755))
			require.NoError(t, os.WriteFile(root+"/opt/app/existing", []byte("old"), 0o600))
			before := hosttest.Snapshot(t, root)
			x.Format, x.Parent = unpack.FormatOf(tt.file), "/opt/app"
			require.ErrorContains(t, unpack.Extract(t.Context(), h, "/"+tt.file, x), tt.want)
			require.Equal(t, before, hosttest.Snapshot(t, root))
		})
	}
}

// A zip states the sizes of its entries; the limits apply to the real sizes.
func TestExtractZipThatLies(t *testing.T) {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	w, err := zw.Create("zeros")
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	b := buf.Bytes()
	i := bytes.Index(b, []byte("PK\x01\x02")) + 24
	binary.LittleEndian.PutUint32(b[i:], 10)
	root, err := extract(t, "a.zip", b, unpack.Options{MaxBytes: 1000})
	require.Error(t, err)
	require.Len(t, below(t, root), 1)
}

// An existing file is replaced in one step if possible, else nothing is extracted.
func TestExtractOverExisting(t *testing.T) {
	tests := []struct {
		name    string
		before  func(t *testing.T, app string)
		entries []hosttest.ArchiveEntry
		want    map[string]string
		fails   string
	}{
		{"a file replaces a file", func(t *testing.T, app string) {
			require.NoError(t, os.WriteFile(app+"/f", []byte("old"), 0o600))
			require.NoError(t, os.WriteFile(app+"/other", []byte("old"), 0o600))
		}, []hosttest.ArchiveEntry{file("f", "new")}, map[string]string{"f": "-rw-r--r-- new", "other": "-rw------- old"}, ""},
		{"a file replaces a link and not what it points to", func(t *testing.T, app string) {
			require.NoError(t, os.WriteFile(app+"/../victim", []byte("old"), 0o600))
			require.NoError(t, os.Symlink("../victim", app+"/f"))
		}, []hosttest.ArchiveEntry{file("f", "new")}, map[string]string{"f": "-rw-r--r-- new"}, ""},
		{"a directory that is there keeps its mode", func(t *testing.T, app string) {
			require.NoError(t, os.Mkdir(app+"/d", 0o700))
		}, []hosttest.ArchiveEntry{dir("d", 0o755), file("d/f", "new")}, map[string]string{"d": "drwx------", "d/f": "-rw-r--r-- new"}, ""},
		{"a link to a directory inside is followed", func(t *testing.T, app string) {
			require.NoError(t, os.Mkdir(app+"/real", 0o755))
			require.NoError(t, os.Symlink("real", app+"/d"))
		}, []hosttest.ArchiveEntry{dir("d", 0o700), file("d/f", "new")}, map[string]string{"d": "Lrwxrwxrwx → real", "real": "drwxr-xr-x", "real/f": "-rw-r--r-- new"}, ""},
		{"a link to a directory outside is not", func(t *testing.T, app string) {
			require.NoError(t, os.Symlink("..", app+"/d"))
		}, []hosttest.ArchiveEntry{file("a", "new"), file("d/f", "new")}, nil, "/opt/app/d: a symbolic link in its path points outside of /opt/app"},
		{"an absolute link is not", func(t *testing.T, app string) {
			require.NoError(t, os.Symlink(app, app+"/d"))
		}, []hosttest.ArchiveEntry{file("a", "new"), file("d/f", "new")}, nil, "/opt/app/d: a symbolic link in its path points outside of /opt/app"},
		{"a link to nothing", func(t *testing.T, app string) {
			require.NoError(t, os.Symlink("nothing", app+"/d"))
		}, []hosttest.ArchiveEntry{file("a", "new"), dir("d", 0o755)}, nil, "/opt/app/d: expected a directory, found a symbolic link without target"},
		{"a directory where a file is wanted", func(t *testing.T, app string) {
			require.NoError(t, os.Mkdir(app+"/f", 0o755))
		}, []hosttest.ArchiveEntry{file("a", "new"), file("f", "new")}, nil, "/opt/app/f: expected a file, found a directory"},
		{"a file where a directory is wanted", func(t *testing.T, app string) {
			require.NoError(t, os.WriteFile(app+"/d", nil, 0o600))
		}, []hosttest.ArchiveEntry{file("a", "new"), file("d/f", "new")}, nil, "/opt/app/d: expected a directory, found a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, root := hosttest.New(t, nil)
			require.NoError(t, os.MkdirAll(root+"/opt/app", 0o755))
			require.NoError(t, os.WriteFile(root+"/a.tar", hosttest.Tar(t, tt.entries...), 0o600))
			tt.before(t, root+"/opt/app")
			before := hosttest.Snapshot(t, root)
			err := unpack.Extract(t.Context(), h, "/a.tar", unpack.Options{Format: unpack.Tar, Parent: "/opt/app"})
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				require.Equal(t, before, hosttest.Snapshot(t, root))
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, below(t, root+"/opt/app"))
			if victim, ok := before["opt/victim"]; ok {
				require.Equal(t, victim, hosttest.Snapshot(t, root)["opt/victim"])
			}
		})
	}
}

// The last file to appear is the completion mark: if it is there, everything is. After a failure or death at any step
// the next run completes the extraction.
func TestExtractFailingAnywhere(t *testing.T) {
	archive := hosttest.Tar(t, app...)
	there := func(root string) { // two directories beside it are new
		require.NoError(t, os.MkdirAll(root+"/opt/app/ro", 0o755))
	}
	appBelow := maps.Clone(appBelow)
	appBelow["ro"] = "drwxr-xr-x"
	for _, last := range []string{"bin/app", "lib"} {
		for n := 1; ; n++ {
			effect, asked := hosttest.Failing(n, 1)
			root := t.TempDir()
			there(root)
			require.NoError(t, os.WriteFile(root+"/a.tar", archive, 0o600))
			x := unpack.Options{Format: unpack.Tar, Parent: "/opt/app", Last: "/opt/app/" + last}
			err := unpack.Extract(t.Context(), host.New(host.Options{Root: root, Effect: effect}), "/a.tar", x)
			if asked() < n {
				require.NoError(t, err)
				require.Greater(t, n, 20)
				break
			}
			require.ErrorIs(t, err, hosttest.ErrInjected)
			if _, err := os.Stat(root + "/opt/app/" + last); err == nil {
				snap := below(t, root+"/opt/app")
				maps.DeleteFunc(snap, func(k, _ string) bool { return strings.HasPrefix(k, ".a.tar.ccm-extract") })
				require.Equal(t, appBelow, snap, "effect %d", n)
			}
			require.NoError(t, unpack.Extract(t.Context(), host.New(host.Options{Root: root}), "/a.tar", x))
			require.Equal(t, appBelow, below(t, root+"/opt/app"), "effect %d", n)
		}
	}
}

func TestExtractCancelled(t *testing.T) {
	for name, pack := range map[string]func(testing.TB, ...hosttest.ArchiveEntry) []byte{"a.tar": hosttest.Tar, "a.tgz": hosttest.TarGzip, "a.zip": hosttest.Zip} {
		ctx, cancel := context.WithCancel(t.Context())
		root := t.TempDir()
		h := host.New(host.Options{Root: root, Effect: func(op, _ string) error {
			if op == "write" {
				cancel()
			}
			return nil
		}})
		require.NoError(t, os.WriteFile(filepath.Join(root, name), pack(t, file("a", "x"), file("b", "x")), 0o600))
		err := unpack.Extract(ctx, h, "/"+name, unpack.Options{Format: unpack.FormatOf(name), Parent: "/opt/app"})
		require.True(t, errors.Is(err, context.Canceled), "%s: %v", name, err)
		require.Len(t, below(t, root), 1)
	}
}

func TestArchiveFormatOf(t *testing.T) {
	for name, want := range map[string]unpack.Format{
		"a.tar.gz": unpack.TarGzip, "a.tgz": unpack.TarGzip, "a.tar": unpack.Tar, "a.zip": unpack.Zip, "A.TGZ": unpack.TarGzip,
		"a.tar.xz": unpack.TarXz, "a.txz": unpack.TarXz, "a.tar.zst": unpack.TarZstd, "a.tzst": unpack.TarZstd,
		"a.tar.bz2": unpack.TarBzip, "a.tbz2": unpack.TarBzip, "a.gz": unpack.Gzip, "a.xz": unpack.Xz, "a.zst": unpack.Zstd, "a.BZ2": unpack.Bzip,
		"zip": "", "gz": "", "a.bz": "", "": "",
	} {
		require.Equal(t, want, unpack.FormatOf(name), name)
	}
	_, err := extract(t, "a.rar", nil, unpack.Options{})
	require.ErrorContains(t, err, "archive type is not supported: expected one of .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar, .zip, .gz, .xz, .zst, .bz2")
}

// Directories without an entry count too: one name can make thousands.
func TestExtractDeepNames(t *testing.T) {
	var many []hosttest.ArchiveEntry
	for i := range 30 {
		many = append(many, file(fmt.Sprintf("%d/%sx", i, strings.Repeat("d/", 30)), "x"))
	}
	for _, name := range []string{"a.tar", "a.tar.gz", "a.zip"} {
		pack := func(entries ...hosttest.ArchiveEntry) []byte {
			switch name {
			case "a.tar":
				return hosttest.Tar(t, entries...)
			case "a.zip":
				return hosttest.Zip(t, entries...)
			}
			return hosttest.TarGzip(t, entries...)
		}
		_, err := extract(t, name, pack(many...), unpack.Options{MaxEntries: 200})
		require.EqualError(t, err, `entry "6/`+strings.Repeat("d/", 30)+`x": archive exceeds the limit of 200 entries`)
		_, err = extract(t, name, pack(file(strings.Repeat("d/", 20000)+"x", "x")), unpack.Options{})
		require.ErrorContains(t, err, "its name exceeds the limit of 4096 bytes, got 40001")
		_, err = extract(t, name, pack(file(strings.Repeat("d/", 256)+"x", "x")), unpack.Options{})
		require.ErrorContains(t, err, "its path exceeds the limit of 255 directories, got 256")
		_, err = extract(t, name, pack(slices.Repeat([]hosttest.ArchiveEntry{dir("./", 0o755)}, 11)...), unpack.Options{MaxEntries: 10})
		require.ErrorContains(t, err, "exceeds the limit of 10 entries")
	}
}

// The backup hook is called for every changed path, also for new ones.
func TestExtractTellsKeep(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(root+"/opt/app", 0o755))
	require.NoError(t, os.WriteFile(root+"/opt/app/f", []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(root+"/a.tar", hosttest.Tar(t, file("f", "new"), dir("d", 0o755), file("d/g", "new"), file("d-e", "new")), 0o600))
	kinds := map[string]safepath.FileKind{}
	h := host.New(host.Options{Root: root, BeforeChange: func(v *host.View, d host.PreImage) error {
		info, err := v.Lstat(d.Path)
		require.Equal(t, info.Kind, d.Kind, "reported before it happens")
		kinds[d.Path] = d.Kind
		return err
	}})
	require.NoError(t, unpack.Extract(t.Context(), h, "/a.tar", unpack.Options{Format: unpack.Tar, Parent: "/opt/app"}))
	require.Equal(t, map[string]safepath.FileKind{
		"/opt/app/f": safepath.Regular, "/opt/app/d": safepath.Missing, "/opt/app/d/g": safepath.Missing, "/opt/app/d-e": safepath.Missing,
	}, kinds)

	h = host.New(host.Options{Root: root, BeforeChange: func(*host.View, host.PreImage) error { return errors.New("no room to keep it") }})
	before := hosttest.Snapshot(t, root)
	require.EqualError(t, unpack.Extract(t.Context(), h, "/a.tar", unpack.Options{Format: unpack.Tar, Parent: "/opt/app"}), "no room to keep it")
	require.EqualError(t, h.RemoveBelow("/opt/app", "f"), "no room to keep it")
	require.Equal(t, before, hosttest.Snapshot(t, root))
}

// sparseTar returns a tar in the form of GNU tar with a file that is one hole.
func sparseTar(name string, size int64) []byte {
	head := make([]byte, 512)
	for at, field := range map[int]string{
		0: name, 100: "0000644\x00", 108: "0000000\x00", 116: "0000000\x00", 124: "00000000000\x00", 136: "00000000000\x00",
		156: "S", 257: "ustar  \x00", 398: "00000000000\x00",
	} {
		copy(head[at:], field)
	}
	binary := func(at int, n int64) { // a number too large for octal digits
		head[at] = 0x80
		for i := range 8 {
			head[at+4+i] = byte(n >> (56 - 8*i))
		}
	}
	binary(386, size) // the offset of the only part, which is empty
	binary(483, size)
	sum := 0
	for i, c := range head {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int(c)
	}
	copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(head, make([]byte, 1024)...)
}

// A mostly sparse file in an archive is sparse on the disk too. One larger than the limit is refused before anything
// is written, and making holes ends with the context.
func TestExtractSparse(t *testing.T) {
	h := host.New(host.Options{Root: t.TempDir()})
	archive := func(size int64) {
		require.NoError(t, os.WriteFile(filepath.Join(h.Root(), "a.tar"), sparseTar("big", size), 0o644))
	}
	x := unpack.Options{Format: unpack.Tar, Parent: "/out", MaxBytes: 64 << 20}
	archive(1 << 40)
	require.ErrorContains(t, unpack.Extract(t.Context(), h, "/a.tar", x), `entry "big": archive expands to more than the limit of 64.0 MiB`)
	require.NoFileExists(t, filepath.Join(h.Root(), "out"))

	archive(32 << 20)
	require.NoError(t, unpack.Extract(t.Context(), h, "/a.tar", x))
	fi, err := os.Stat(filepath.Join(h.Root(), "out/big"))
	require.NoError(t, err)
	require.Equal(t, int64(32<<20), fi.Size())
	require.Less(t, fi.Sys().(*syscall.Stat_t).Blocks*512, int64(1<<20))

	x.MaxBytes = 0
	archive(1 << 50)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	require.ErrorIs(t, unpack.Extract(ctx, h, "/a.tar", x), context.Canceled)
}

// bzipped is a tar archive with a file a/b of the text hi, and bzippedFile the text hi, both by bzip2 1.0.8.
const bzipped = `QlpoOTFBWSZTWYTtxwsAAHD7gMkQAADAAP+AAAJwYB4ACAggAFQ0p6npD1AGyTanqCSImQNAGhpbnAdCCUUIRSrTJaNcgQyq53SIoTcDqAD4m3TjOhs6JxoqGGi0x5MypEQH4u5IpwoSEJ244WA=`

const bzippedFile = `QlpoOTFBWSZTWR1eWdUAAADBAAAQAGAgACGYGYRhdyRThQkB1eWdUA==`

// TestExtractBzip2: an archive and a single file that are compressed with bzip2.
func TestExtractBzip2(t *testing.T) {
	decoded := func(text string) []byte {
		b, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	for _, name := range []string{"x.tar.bz2", "x.tbz2"} {
		root, err := extract(t, name, decoded(bzipped), unpack.Options{})
		require.NoError(t, err)
		text, err := os.ReadFile(root + "/opt/app/a/b")
		require.NoError(t, err)
		require.Equal(t, "hi\n", string(text))
	}
	root, err := extract(t, "data.csv.bz2", decoded(bzippedFile), unpack.Options{})
	require.NoError(t, err)
	text, err := os.ReadFile(root + "/opt/app/data.csv")
	require.NoError(t, err)
	require.Equal(t, "hi\n", string(text))
}

// TestExtractSingleFile: a compressed file without an archive gets the name of the archive without its suffix, and
// the limits hold for it too.
func TestExtractSingleFile(t *testing.T) {
	body := []byte(strings.Repeat("line\n", 1000))
	var xzBuf bytes.Buffer
	w, err := xz.NewWriter(&xzBuf)
	require.NoError(t, err)
	_, err = w.Write(body)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	defer z.Close()
	for name, packed := range map[string][]byte{"data.csv.gz": hosttest.Gzip(t, body), "data.csv.xz": xzBuf.Bytes(), "data.csv.ZST": z.EncodeAll(body, nil)} {
		root, err := extract(t, name, packed, unpack.Options{MaxEntries: 1, MaxBytes: int64(len(body))})
		require.NoError(t, err, name)
		text, err := os.ReadFile(root + "/opt/app/data.csv")
		require.NoError(t, err, name)
		require.Equal(t, body, text, name)
		for what, bad := range map[string][]byte{"cut short": packed[:len(packed)-6], "a limit": packed, "text": body, "empty": nil} {
			x := unpack.Options{MaxBytes: 1 << 20}
			if what == "a limit" {
				x.MaxBytes = int64(len(body)) - 1
			}
			root, err := extract(t, name, bad, x)
			require.Error(t, err, "%s: %s", name, what)
			require.NoDirExists(t, root+"/opt/app", "%s: %s", name, what)
		}
	}
}
