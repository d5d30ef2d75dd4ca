package unpack_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/unpack"
)

// xzBlocks compresses with blocks of a size and a type of check.
func xzBlocks(t *testing.T, b []byte, size int64, check byte) []byte {
	var buf bytes.Buffer
	w, err := xz.WriterConfig{BlockSize: size, CheckSum: check}.NewWriter(&buf)
	require.NoError(t, err)
	_, err = w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// The dictionary size of each block is checked, not only of the first.
func TestExtractXzBlocks(t *testing.T) {
	noise := make([]byte, 200_000) // chunks of all kinds
	for i := range noise {
		noise[i] = byte(i * i >> 7 * (i / 50_000))
	}
	archive := hosttest.Tar(t, file("a", string(noise)), file("b", strings.Repeat("b", 300_000)))
	for _, check := range []byte{xz.CRC32, xz.CRC64, xz.SHA256} {
		b := xzBlocks(t, archive, 70_001, check)
		root, err := extract(t, "a.tar.xz", b, unpack.Options{})
		require.NoError(t, err)
		require.Contains(t, below(t, root+"/opt/app"), "b")
		// Each block header has the filter LZMA2 with a dictionary of 8 MiB.
		filter := []byte{0x21, 0x01, 0x16}
		parts := bytes.Split(b, filter)
		require.Greater(t, len(parts), 5)
		last := bytes.LastIndex(b, filter)
		b[last+2] = 40
		_, err = extract(t, "a.tar.xz", b, unpack.Options{})
		require.ErrorContains(t, err, "the memory to read it must be at most 128.0 MiB, got 4.0 GiB")
	}
}

// A window that needs too much memory is refused before it is allocated.
func TestExtractMemory(t *testing.T) {
	// A frame with a window of 512 MiB (exponent 19 over 1 KiB), and one raw block, its last.
	archive := hosttest.Tar(t, file("a", "x"))
	z := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 19 << 3}
	size := len(archive)<<3 | 1
	z = append(append(z, byte(size), byte(size>>8), byte(size>>16)), archive...)
	x := hosttest.TarXz(t, file("a", "x"))
	x[bytes.Index(x, []byte{0x21, 0x01})+2] = 38
	for name, b := range map[string][]byte{"a.tar.xz": x, "a.tar.zst": z} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		root, err := extract(t, name, b, unpack.Options{})
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, map[string]string{"a.tar.xz": "the memory to read it must be", "a.tar.zst": "window size"}[name])
		require.NotContains(t, below(t, root), "opt", name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), name)
	}
}

// A truncated or damaged archive leaves no files.
func TestExtractDamaged(t *testing.T) {
	for name, b := range map[string][]byte{
		"a.tar.xz": hosttest.TarXz(t, file("a", strings.Repeat("x", 5000))), "a.tar.zst": hosttest.TarZstd(t, file("a", strings.Repeat("x", 5000))),
	} {
		for n := range len(b) {
			root, err := extract(t, name, b[:n], unpack.Options{})
			require.Error(t, err, "%s: %d bytes", name, n)
			require.NotContains(t, below(t, root), "opt", name)
		}
	}
}

// The output is limited by max_size, however small the input.
func TestExtractBombs(t *testing.T) {
	zeros := file("zeros", strings.Repeat("\x00", 50<<20))
	for name, b := range map[string][]byte{"a.tar.xz": hosttest.TarXz(t, zeros), "a.tar.zst": hosttest.TarZstd(t, zeros)} {
		require.Less(t, len(b), 1<<20)
		_, err := extract(t, name, b, unpack.Options{MaxBytes: 10 << 20})
		require.ErrorContains(t, err, "expands to more than the limit of 10.0 MiB", name)
	}
}
