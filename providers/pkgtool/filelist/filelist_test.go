package filelist

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

const contents = `etc/web/a file.conf	httpd/web
etc/web/b.conf                        httpd/web,net/other
usr/bin/none                          none
usr/share/doc/web/copyright           web
`

// lz4Frame returns a frame with two blocks: one that is not compressed, and one of a match in it and a literal.
func lz4Frame(text string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	b = append(b, 0x40, 0x40, 0) // version 1, linked blocks of 64 KiB; the checksum is not looked at
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text))|1<<31)
	b = append(b, text...)
	block := []byte{0x0f, byte(len(text)), byte(len(text) >> 8), byte(len(text) - 4 - 15), 0x10, '\n'}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(block)))
	b = append(b, block...)
	return binary.LittleEndian.AppendUint32(b, 0)
}

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
		return lz4Frame(text)
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
		if name == "C.lz4" {
			require.Equal(t, append(want, want...), got, "the match repeats the text")
			continue
		}
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
	far := lz4Frame("abcdefghijklmnopqrstuvwxyz")
	far[len(far)-4-5] = 0xff // a match before the beginning
	require.Error(t, Contents("C.lz4", bytes.NewReader(far), none, nil))
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
