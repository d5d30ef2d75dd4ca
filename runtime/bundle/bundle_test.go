package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/test/tally"
)

// folder makes a folder of files; a content that begins with "-> " is a link, a name that ends
// with a slash a directory.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path, content := filepath.Join(dir, name), files[name]
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			require.NoError(t, os.Symlink(target, path))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

// pack returns the bundle of a folder.
func pack(t *testing.T, f bundle.Folder) []byte {
	t.Helper()
	var b bytes.Buffer
	if f.Limits == (bundle.Limits{}) {
		f.Limits = bundle.DefaultLimits
	}
	_, err := bundle.Write(t.Context(), &b, f)
	require.NoError(t, err)
	return b.Bytes()
}

// unpack returns the files in a bundle, in the form of folder, and the entry script.
func unpack(t *testing.T, text []byte, l bundle.Limits) (map[string]string, string, error) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	entry, err := bundle.Unpack(t.Context(), bytes.NewReader(text), root, l)
	return contents(t, dir), entry, err
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil || rel == ".":
			return err
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			found[rel] = "-> " + target
			return err
		case e.IsDir():
			list, err := os.ReadDir(path)
			if len(list) == 0 {
				found[rel+"/"] = ""
			}
			return err
		}
		text, err := os.ReadFile(path)
		found[rel] = string(text)
		return err
	}))
	return found
}

var site = map[string]string{
	"site.lua": "file {}", "lib/a.lua": "return 1", ".hiera": "data: {}", "files/x": strings.Repeat("x", 3000), "files/link": "-> x",
	"files/up": "-> ../lib", "empty/": "", strings.Repeat("long/", 40) + "name": "long", "Ünïcode": "u",
}

// A packed folder is unpacked unchanged.
func TestRoundTrip(t *testing.T) {
	text := pack(t, bundle.Folder{Dir: folder(t, site)})
	got, entry, err := unpack(t, text, bundle.DefaultLimits)
	require.NoError(t, err)
	require.Equal(t, "site.lua", entry)
	require.Equal(t, site, got)
}

// Equal folders give equal bytes, whatever else is not equal.
func TestEqualFoldersEqualBytes(t *testing.T) {
	one, two := folder(t, site), folder(t, site)
	require.NoError(t, os.Chmod(filepath.Join(two, "site.lua"), 0o644))
	require.NoError(t, os.Chtimes(filepath.Join(two, "lib/a.lua"), time.Unix(1, 0), time.Unix(2, 0)))
	require.NoError(t, os.MkdirAll(filepath.Join(two, ".git/objects"), 0o755))
	text := pack(t, bundle.Folder{Dir: one})
	require.Equal(t, text, pack(t, bundle.Folder{Dir: two}))
	require.Equal(t, text, pack(t, bundle.Folder{Dir: one}), "and again")

	// Other programs unpack it too: their result is packed again and compared.
	place := t.TempDir()
	root, err := os.OpenRoot(place)
	require.NoError(t, err)
	defer root.Close()
	_, err = bundle.Unpack(t.Context(), bytes.NewReader(text), root, bundle.DefaultLimits)
	require.NoError(t, err)
	require.Equal(t, text, pack(t, bundle.Folder{Dir: place}))

	for name, change := range map[string]func(){
		"a byte":          func() { require.NoError(t, os.WriteFile(filepath.Join(two, "site.lua"), []byte("file {]"), 0o600)) },
		"may be executed": func() { require.NoError(t, os.Chmod(filepath.Join(two, "lib/a.lua"), 0o700)) },
		"an empty folder": func() { require.NoError(t, os.Mkdir(filepath.Join(two, "more"), 0o700)) },
		"another name":    func() { require.NoError(t, os.Rename(filepath.Join(two, "files/x"), filepath.Join(two, "files/y"))) },
		"where a link leads": func() {
			require.NoError(t, os.Remove(filepath.Join(two, "files/link")))
			require.NoError(t, os.Symlink("y", filepath.Join(two, "files/link")))
		},
	} {
		before, err := packErr(two)
		change()
		after, _ := packErr(two)
		if err == nil {
			require.NotEqual(t, before, after, name)
		}
	}
}

func packErr(dir string) ([]byte, error) {
	var b bytes.Buffer
	_, err := bundle.Write(context.Background(), &b, bundle.Folder{Dir: dir, Limits: bundle.DefaultLimits})
	return b.Bytes(), err
}

// The bytes are those that they were: a bundle that was signed can be made again from its commit.
func TestBytes(t *testing.T) {
	sum, err := bundle.Write(t.Context(), io.Discard, bundle.Folder{Dir: folder(t, site), Limits: bundle.DefaultLimits})
	require.NoError(t, err)
	require.Equal(t, "983c296aa2432cdb90b5f855ff194f8043fef518351ab2f02817adea0466526b", sum.SHA256)
	require.Equal(t, 8, sum.Files)
}

func TestEntry(t *testing.T) {
	for name, x := range map[string]struct {
		files map[string]string
		entry string // as it is packed
		want  string
		err   string
	}{
		"a script":               {files: map[string]string{"site.lua": "", "manifest.yaml": ""}, want: "site.lua"},
		"a manifest":             {files: map[string]string{"manifest.yaml": "", "other.lua": ""}, want: "manifest.yaml"},
		"another script":         {files: map[string]string{"site.lua": "", "web.lua": ""}, entry: "web.lua", want: "web.lua"},
		"the usual one, by name": {files: map[string]string{"site.lua": ""}, entry: "site.lua", want: "site.lua"},
		"not the first":          {files: map[string]string{"site.lua": "", "manifest.yaml": ""}, entry: "manifest.yaml", want: "manifest.yaml"},
		"nothing":                {files: map[string]string{"web.lua": ""}, err: "no site.lua or manifest.yaml"},
		"left out":               {files: map[string]string{"site.lua": ""}, entry: "left.lua", err: "left.lua, which is excluded from it"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			_, err := bundle.Write(t.Context(), &b, bundle.Folder{Dir: folder(t, x.files), Entry: x.entry, Limits: bundle.DefaultLimits})
			if x.err != "" {
				require.ErrorContains(t, err, x.err)
				return
			}
			require.NoError(t, err)
			_, entry, err := unpack(t, b.Bytes(), bundle.DefaultLimits)
			require.NoError(t, err)
			require.Equal(t, x.want, entry)
		})
	}
}

// Files that cannot be in a bundle are refused when it is packed.
func TestRefusedToPack(t *testing.T) {
	pipe := folder(t, map[string]string{"site.lua": ""})
	require.NoError(t, syscall.Mkfifo(filepath.Join(pipe, "pipe"), 0o600))
	for name, x := range map[string]struct {
		dir    string
		limits bundle.Limits
		err    string
	}{
		"a link out":         {dir: folder(t, map[string]string{"site.lua": "", "x": "-> ../../etc/passwd"}), err: "x: is a link to ../../etc/passwd, which is outside of the directory"},
		"an absolute link":   {dir: folder(t, map[string]string{"site.lua": "", "x": "-> /etc/passwd"}), err: "x: is a link to /etc/passwd: expected a relative link inside of the directory"},
		"a link out by link": {dir: folder(t, map[string]string{"site.lua": "", "sub/d": "-> ..", "x": "-> sub/d/../.."}), err: "which is outside of the directory"},
		"a link to nothing":  {dir: folder(t, map[string]string{"site.lua": "", "x": "-> y"}), err: "x: is a link to y, which does not exist"},
		"a circle":           {dir: folder(t, map[string]string{"site.lua": "", "x": "-> y", "y": "-> x"}), err: "x: is a link to y, which forms a loop"},
		"a pipe":             {dir: pipe, err: "pipe: expected a file, link or directory"},
		"too many":           {dir: folder(t, map[string]string{"site.lua": "", "a": "", "b": ""}), limits: bundle.Limits{Entries: 2}, err: "bundle exceeds the limit of 2 files, links and directories"},
		"too much":           {dir: folder(t, map[string]string{"site.lua": "", "a": "12345", "b": "1"}), limits: bundle.Limits{Bytes: 5}, err: "bundle exceeds the limit of 5 B"},
		"too large":          {dir: folder(t, map[string]string{"site.lua": ""}), limits: bundle.Limits{PackedSize: 50}, err: "bundle exceeds the limit of 50 B"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bundle.Write(t.Context(), io.Discard, bundle.Folder{Dir: x.dir, Limits: x.limits})
			require.ErrorContains(t, err, x.err)
		})
	}
	_, err := bundle.Write(t.Context(), io.Discard, bundle.Folder{Dir: pipe, Check: func(path string) error { return fmt.Errorf("not %s", filepath.Base(path)) }, Leave: func(rel string, _ bool) bool { return rel == "pipe" }})
	require.ErrorContains(t, err, "not site.lua")
}

// An entry is an entry of a foreign archive.
type entry struct {
	tar.Header
	body string
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag = tar.TypeReg
		}
		if e.Size == 0 {
			e.Size = int64(len(e.body))
		}
		if e.Mode == 0 && e.Typeflag != tar.TypeXGlobalHeader {
			e.Mode = 0o644
		}
		require.NoError(t, w.WriteHeader(&e.Header))
		_, err := io.WriteString(w, e.body)
		require.NoError(t, err)
	}
	_ = w.Close()
	require.NoError(t, gz.Close())
	return b.Bytes()
}

func file(name, body string) entry { return entry{Header: tar.Header{Name: name}, body: body} }
func link(name, target string) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}}
}
func of(kind byte, name string) entry { return entry{Header: tar.Header{Name: name, Typeflag: kind}} }

// What other programs have packed is taken as well.
func TestOtherArchives(t *testing.T) {
	for name, x := range map[string]struct {
		entries []entry
		want    map[string]string
		entry   string
	}{
		"of tar -C dir .": {[]entry{of(tar.TypeDir, "./"), of(tar.TypeDir, "./files/"), file("./manifest.yaml", "ccm: {}"), file("./files/a", "a")},
			map[string]string{"manifest.yaml": "ccm: {}", "files/a": "a"}, "manifest.yaml"},
		"of a folder": {[]entry{of(tar.TypeDir, "web/"), file("web/manifest.yaml", ""), file("web/a", "")}, map[string]string{"web/manifest.yaml": "", "web/a": ""}, "web/manifest.yaml"},
		"files alone": {[]entry{file("a/b/c", "c"), file("site.lua", "")}, map[string]string{"a/b/c": "c", "site.lua": ""}, "site.lua"},
		"a folder twice": {[]entry{of(tar.TypeDir, "a/"), of(tar.TypeDir, "a"), file("a/b", ""), of(tar.TypeDir, "a/"), file("site.lua", "")},
			map[string]string{"a/b": "", "site.lua": ""}, "site.lua"},
		"of git archive": {[]entry{{Header: tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "c0ffee"}}}, file("site.lua", "")},
			map[string]string{"site.lua": ""}, "site.lua"},
		"a link before its target": {[]entry{link("a", "b/c"), file("b/c", "c"), file("site.lua", "")}, map[string]string{"a": "-> b/c", "b/c": "c", "site.lua": ""}, "site.lua"},
	} {
		t.Run(name, func(t *testing.T) {
			text := archive(t, x.entries...)
			got, entry, err := unpack(t, text, bundle.DefaultLimits)
			require.NoError(t, err)
			require.Equal(t, x.want, got)
			require.Equal(t, x.entry, entry)
		})
	}
	modes := archive(t, entry{Header: tar.Header{Name: "site.lua", Mode: 0o6777}}, entry{Header: tar.Header{Name: "b", Mode: 0o066}}, entry{Header: tar.Header{Name: "d/", Mode: 0o1777, Typeflag: tar.TypeDir}})
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	_, err = bundle.Unpack(t.Context(), bytes.NewReader(modes), root, bundle.DefaultLimits)
	require.NoError(t, err)
	for name, want := range map[string]fs.FileMode{"site.lua": 0o755, "b": 0o644, "d": fs.ModeDir | 0o755} {
		fi, err := root.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, fi.Mode(), "%s: of modes one bit counts", name)
	}
}

// hostile are archives that are refused, and why.
func hostile(t testing.TB) map[string]struct {
	text []byte
	err  string
} {
	script := file("site.lua", "")
	many := []entry{script}
	for i := range 20 {
		many = append(many, file(fmt.Sprint(i), ""))
	}
	type x = struct {
		text []byte
		err  string
	}
	good := archive(t, script, file("a", strings.Repeat("a", 500)))
	var twoStreams bytes.Buffer
	gz := gzip.NewWriter(&twoStreams)
	_, err := io.WriteString(gz, "what follows")
	require.NoError(t, err)
	require.NoError(t, gz.Close())
	list := map[string]x{
		"out by name":                {archive(t, script, file("../x", "")), `entry "../x": expected a path below the directory, in UTF-8`},
		"out by name, in the middle": {archive(t, script, file("a/../../x", "")), "expected a path below the directory, in UTF-8"},
		"dots that stay":             {archive(t, script, file("a/../x", "")), "expected a path below the directory, in UTF-8"},
		"absolute":                   {archive(t, script, file("/etc/x", "")), "expected a path below the directory, in UTF-8"},
		"two slashes":                {archive(t, script, file("a//x", "")), "expected a path below the directory, in UTF-8"},
		"no name":                    {archive(t, script, file(".", "")), "expected a path below the directory, in UTF-8"},
		"no UTF-8":                   {archive(t, script, entry{Header: tar.Header{Name: "\xff", Format: tar.FormatGNU}}), "expected a path below the directory, in UTF-8"},
		"absolute link":              {archive(t, script, link("x", "/etc/passwd")), "is a link to /etc/passwd"},
		"link out":                   {archive(t, script, link("x", "../../../etc/passwd")), "which is outside of the directory"},
		"link out by a link":         {archive(t, script, link("sub/d", ".."), link("x", "sub/d/..")), "which is outside of the directory"},
		"link to the folder above":   {archive(t, script, link("x", "..")), "which is outside of the directory"},
		"link to nothing":            {archive(t, script, link("x", "y")), "which does not exist"},
		"links in a circle":          {archive(t, script, link("x", "y"), link("y", "x")), "which forms a loop"},
		"below a link":               {archive(t, script, of(tar.TypeDir, "d"), link("x", "d"), file("x/y", "")), "is a path below x, which is not a directory"},
		"over a link":                {archive(t, script, link("x", "site.lua"), file("x", "")), "duplicate entry"},
		"link over a file":           {archive(t, script, link("site.lua", "x"), file("x", "")), "duplicate entry"},
		"below a file":               {archive(t, script, file("site.lua/x", "")), "is a path below site.lua, which is not a directory"},
		"twice":                      {archive(t, script, script), "duplicate entry"},
		"twice by another name":      {archive(t, script, file("./site.lua", "")), "duplicate entry"},
		"file over a folder":         {archive(t, script, of(tar.TypeDir, "a"), file("a", "")), "duplicate entry"},
		"a hard link":                {archive(t, script, entry{Header: tar.Header{Name: "x", Typeflag: tar.TypeLink, Linkname: "site.lua"}}), "is a hard link"},
		"a device":                   {archive(t, script, of(tar.TypeChar, "x")), "is a device or pipe, which is not supported in bundles"},
		"a block device":             {archive(t, script, of(tar.TypeBlock, "x")), "is a device or pipe, which is not supported in bundles"},
		"a pipe":                     {archive(t, script, of(tar.TypeFifo, "x")), "is a device or pipe, which is not supported in bundles"},
		"another type":               {archive(t, script, of('Z', "x")), "of type 'Z'"},
		"too many":                   {archive(t, many...), "exceeds the limit of 10 files, links and directories"},
		"too many folders":           {archive(t, script, file("1/2/3/4/5/6/7/8/9/10/11", "")), "exceeds the limit of 10 files, links and directories"},
		"too much":                   {archive(t, script, file("x", strings.Repeat("x", 1001))), "exceeds the limit of 1000 B"},
		"too much together":          {archive(t, script, file("x", strings.Repeat("x", 501)), file("y", strings.Repeat("x", 500))), "exceeds the limit of 1000 B"},
		"a name without end":         {archive(t, script, file(strings.Repeat("long/", 2000)+"x", "")), "expected a path below the directory, in UTF-8"},
		"no script":                  {archive(t, file("x", "")), "no site.lua or manifest.yaml"},
		"two folders":                {archive(t, file("a/site.lua", ""), file("b/site.lua", "")), "expected one script or manifest, found a/site.lua and b/site.lua"},
		"the script is a folder":     {archive(t, of(tar.TypeDir, "site.lua")), "no site.lua or manifest.yaml"},
		"the script is a link":       {archive(t, link("site.lua", "d"), of(tar.TypeDir, "d")), "no site.lua or manifest.yaml"},
		"runs what does not exist":   {archive(t, script, file(".ccm/bundle.json", `{"protocol":"io.choria.ccm.v1.bundle","format":1,"entry":"x"}`)), `"x" does not exist in the bundle`},
		"runs what is elsewhere":     {archive(t, script, file(".ccm/bundle.json", `{"protocol":"io.choria.ccm.v1.bundle","format":1,"entry":"../x"}`)), `"../x" does not exist in the bundle`},
		"of a later ccm":             {archive(t, script, file(".ccm/bundle.json", `{"protocol":"io.choria.ccm.v1.bundle","format":2,"entry":"x"}`)), "bundle has format 2, but this ccm supports 1"},
		"of another program":         {archive(t, script, file(".ccm/bundle.json", `{"entry":"site.lua"}`)), ".ccm/bundle.json is damaged"},
		"empty":                      {archive(t), "bundle is empty"},
		"no bytes":                   {nil, "bundle is truncated"},
		"no gzip":                    {[]byte("file { \"/etc/motd\" }"), "expected a tar archive that is compressed by gzip"},
		"no tar":                     {gzipped(t, strings.Repeat("no tar ", 200)), "bundle is damaged"},
		"damaged plan: unexpected data at its end": {gzipped(t, string(expanded(t, good))+"x"), "bundle is damaged"},
		"a stream follows":                         {append(slices.Clip(good), twoStreams.Bytes()...), "bundle is damaged"},
		"bytes follow":                             {append(slices.Clip(good), "more"...), "bundle"},
		"zeros without end":                        {gzipped(t, string(expanded(t, good))+strings.Repeat("\x00", 4<<20)), "exceeds the limit of 1000 B"},
	}
	return list
}

func gzipped(t testing.TB, text string) []byte {
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	_, err := io.WriteString(gz, text)
	require.NoError(t, err)
	require.NoError(t, gz.Close())
	return b.Bytes()
}

func expanded(t testing.TB, text []byte) []byte {
	gz, err := gzip.NewReader(bytes.NewReader(text))
	require.NoError(t, err)
	all, err := io.ReadAll(gz)
	require.NoError(t, err)
	return all
}

var small = bundle.Limits{Entries: 10, Bytes: 1000, PackedSize: 1 << 20}

func TestHostileArchives(t *testing.T) {
	tries := tally.Of(t, "bundles that lead out, hold links, devices, things twice, too much, or are damaged", "refused before anything is run, with the entry and the reason")
	for name, x := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			tries.Add(1)
			above := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(above, "in"), 0o700))
			root, err := os.OpenRoot(filepath.Join(above, "in"))
			require.NoError(t, err)
			defer root.Close()
			_, err = bundle.Unpack(t.Context(), bytes.NewReader(x.text), root, small)
			require.ErrorContains(t, err, x.err)
			list, err := os.ReadDir(above)
			require.NoError(t, err)
			require.Len(t, list, 1, "nothing lands elsewhere")
		})
	}
}

// A bundle of which one byte is another one, or that is cut short, is refused, or is the same.
func TestDamaged(t *testing.T) {
	tries := tally.Of(t, "bundles with another byte at each place, and cut short at each", "refused, or the content is the same")
	files := map[string]string{"site.lua": "file { \"/etc/motd\", content = \"hi\" }\n", "a/b": "text", "a/l": "-> b"}
	text := pack(t, bundle.Folder{Dir: folder(t, files)})
	refused := 0
	try := func(changed []byte, at int) {
		tries.Add(1)
		dir := filepath.Join(t.TempDir())
		root, err := os.OpenRoot(dir)
		require.NoError(t, err)
		defer root.Close()
		_, err = bundle.Unpack(t.Context(), bytes.NewReader(changed), root, bundle.DefaultLimits)
		if err != nil {
			refused++
			return
		}
		require.Equal(t, files, contents(t, dir), "byte %d", at)
	}
	for i := range text {
		for _, flip := range []byte{0x01, 0xff} {
			changed := bytes.Clone(text)
			changed[i] ^= flip
			try(changed, i)
		}
		try(text[:i], i)
	}
	require.Greater(t, refused, 3*len(text)*9/10)
}

func FuzzUnpack(f *testing.F) {
	for _, x := range hostile(f) {
		f.Add(x.text)
	}
	f.Add(archive(f, file("site.lua", "x"), link("a", "site.lua"), of(tar.TypeDir, "d")))
	f.Fuzz(func(t *testing.T, text []byte) {
		above := t.TempDir()
		in := filepath.Join(above, "in")
		require.NoError(t, os.Mkdir(in, 0o700))
		root, err := os.OpenRoot(in)
		require.NoError(t, err)
		defer root.Close()
		entry, err := bundle.Unpack(t.Context(), bytes.NewReader(text), root, small)
		list, listErr := os.ReadDir(above)
		require.NoError(t, listErr)
		require.Len(t, list, 1, "something lies beside the place")
		if err != nil {
			return
		}
		fi, err := root.Stat(entry)
		require.NoError(t, err)
		require.True(t, fi.Mode().IsRegular())
		count, size := 0, int64(0)
		real, err := filepath.EvalSymlinks(in)
		require.NoError(t, err)
		require.NoError(t, filepath.WalkDir(in, func(path string, e fs.DirEntry, err error) error {
			require.NoError(t, err)
			count++
			to, err := filepath.EvalSymlinks(path)
			require.NoError(t, err)
			require.True(t, to == real || strings.HasPrefix(to, real+"/"), "%s leads to %s", path, to)
			fi, err := e.Info()
			require.NoError(t, err)
			require.Zero(t, fi.Mode()&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
			if fi.Mode().IsRegular() {
				size += fi.Size()
			}
			return nil
		}))
		require.LessOrEqual(t, count, small.Entries+1)
		require.LessOrEqual(t, size, small.Bytes)
	})
}

// Directories of unpacked bundles are private, have the same path in each run, and are removed once their processes
// are dead.
func TestPlaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "bundles")
	one, err := bundle.Take(dir, "web")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "web"), one.Path)
	require.NoError(t, one.Root.WriteFile("x", nil, 0o600))
	fi, err := os.Stat(one.Path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), fi.Mode().Perm())

	two, err := bundle.Take(dir, "web")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "web-2"), two.Path, "the first is taken")
	require.FileExists(t, filepath.Join(one.Path, "x"), "and is left alone")
	require.NoError(t, one.Close())
	require.NoDirExists(t, one.Path)
	require.NoError(t, two.Close())

	// Directories of a killed process, which nobody has locked.
	for _, name := range []string{"web", "db", "web-2"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "site"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "site", "site.lua"), nil, 0o400))
	}
	again, err := bundle.Take(dir, "web")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "web"), again.Path)
	require.Empty(t, contents(t, again.Path))
	require.NoDirExists(t, filepath.Join(dir, "db"))
	require.NoError(t, again.Close())

	// A link in the place of a directory is not followed.
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "kept"), nil, 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "web")))
	_, err = bundle.Take(dir, "web")
	require.Error(t, err)
	require.FileExists(t, filepath.Join(elsewhere, "kept"))
}

// Many processes take places at once, and each has its own.
func TestPlacesAtOnce(t *testing.T) {
	dir := t.TempDir()
	errs := make(chan error, 200)
	for range cap(errs) {
		go func() {
			p, err := bundle.Take(dir, "web")
			if err == nil {
				if err = p.Root.WriteFile("mine", nil, 0o600); err == nil {
					if list, e := fs.ReadDir(p.Root.FS(), "."); e != nil || len(list) != 1 {
						err = fmt.Errorf("%d files: %v", len(list), e)
					}
				}
				if e := p.Close(); err == nil {
					err = e
				}
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	require.Empty(t, contents(t, dir))
}
