package filelist

import (
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

const contents = `etc/web/a file.conf	httpd/web
etc/web/b.conf                        httpd/web,net/other
usr/bin/none                          none
usr/share/doc/web/copyright           web
`

func compressed(t *testing.T, name, text string) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch name[strings.LastIndexByte(name, '.'):] {
	case ".gz":
		w = gzip.NewWriter(&b)
	case ".zst":
		w, err = zstd.NewWriter(&b)
	case ".xz":
		w, err = xz.NewWriter(&b)
	case ".lz4":
		w = lz4.NewWriter(&b)
	default:
		return []byte(text)
	}
	require.NoError(t, err)
	_, err = io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestContents(t *testing.T) {
	want := []Entry{{Package: "web", Path: "/etc/web/a file.conf"}, {Package: "web", Path: "/etc/web/b.conf"}, {Package: "web", Path: "/usr/share/doc/web/copyright"}}
	for _, name := range []string{"C.plain", "C.gz", "C.zst", "C.xz", "C.lz4"} {
		var got []Entry
		isWeb := func(pkg string) bool { return pkg == "web" }
		require.NoError(t, Contents(name, bytes.NewReader(compressed(t, name, contents)), isWeb, func(e Entry) { got = append(got, e) }), name)
		require.Equal(t, want, got, name)
	}
}

// TestDamaged: a list that is cut off or damaged is an error, never an endless or huge text.
func TestDamaged(t *testing.T) {
	none := func(string) bool { return false }
	for _, name := range []string{"C.gz", "C.lz4", "C.zst", "C.xz"} {
		whole := compressed(t, name, contents)
		require.Error(t, Contents(name, bytes.NewReader(whole[:len(whole)-6]), none, nil), name)
		require.Error(t, Contents(name, strings.NewReader("nonsense that is no list"), none, nil), name)
	}
	_, err := io.ReadAll(&limited{strings.NewReader(contents), 40})
	require.ErrorIs(t, err, ErrTooLong)
	all := func(string) bool { return true }
	many := strings.Repeat("a p\n", mostEntries+1)
	require.ErrorIs(t, Contents("C", strings.NewReader(many), all, func(Entry) {}), ErrTooLong)
	require.NoError(t, Contents("C", strings.NewReader(many), none, nil))
	many = `<package name="p">` + strings.Repeat("<file>/a</file>", mostEntries+1) + `</package>`
	require.ErrorIs(t, RPM("f", strings.NewReader(many), all, func(Entry) {}), ErrTooLong)
}

const filelists = `<?xml version="1.0"?>
<filelists><package pkgid="1" name="web" arch="noarch"><version epoch="0" ver="1.0" rel="2"/>
  <file>/etc/web/a&amp;b.conf</file><file type="dir">/etc/web</file>
  <file type="ghost">/var/log/web.log</file>
</package><package pkgid="2" name="other" arch="noarch"><file>/etc/other</file></package>
<package pkgid="3" name="meta" arch="noarch"><version epoch="1" ver="3" rel="4"/></package></filelists>`

func TestRPM(t *testing.T) {
	var got []Entry
	wants := func(pkg string) bool { return pkg != "other" }
	require.NoError(t, RPM("f.xml.gz", bytes.NewReader(compressed(t, "f.gz", filelists)), wants, func(e Entry) { got = append(got, e) }))
	require.Equal(t, []Entry{
		{Package: "web", Version: "0:1.0-2"}, {Package: "web", Version: "0:1.0-2", Path: "/etc/web/a&b.conf"},
		{Package: "web", Version: "0:1.0-2", Path: "/etc/web", Directory: true}, {Package: "web", Version: "0:1.0-2", Path: "/var/log/web.log", Ghost: true},
		{Package: "meta", Version: "1:3-4"},
	}, got)
}

// FuzzLists: whatever a list contains, it is read or refused, and all paths are absolute and clean.
func FuzzLists(f *testing.F) {
	f.Add("C.plain", []byte(contents))
	f.Add("f", []byte(filelists))
	f.Add("C.lz4", []byte("\x04\x22\x4d\x18\x40\x40\xc0"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		all := func(string) bool { return true }
		check := func(e Entry) {
			if e.Path != "" {
				require.Equal(t, path.Join("/", e.Path), e.Path)
			}
		}
		_ = Contents(name, bytes.NewReader(text), all, check)
		_ = RPM(name, bytes.NewReader(text), all, check)
	})
}
