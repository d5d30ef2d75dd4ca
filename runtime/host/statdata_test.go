package host_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// aheadClock is ahead of the times of files.
type aheadClock struct {
	host.RealClock
	by time.Duration
}

func (a aheadClock) Now() time.Time { return time.Now().Add(a.by) }

func TestStamp(t *testing.T) {
	source := filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.WriteFile(source, []byte("one"), 0o600))
	stamp := func(by time.Duration) string {
		t.Helper()
		src, err := host.New(host.Options{Clock: aheadClock{by: by}}).Sources().Open(t.Context(), source)
		require.NoError(t, err)
		require.NoError(t, src.Close())
		require.Equal(t, int64(3), src.Size)
		return src.Stamp()
	}
	first := stamp(time.Hour)
	require.NotEmpty(t, first)
	require.Equal(t, first, stamp(2*time.Hour))
	require.Empty(t, stamp(-time.Hour), "it may be changed again without a trace")
	require.Empty(t, stamp(0))

	// Any change of a source changes its stat data.
	old := time.Now().Add(-24 * time.Hour)
	require.NoError(t, os.Chtimes(source, old, old))
	times := stamp(time.Hour)
	require.NotEqual(t, first, times)
	require.NoError(t, os.WriteFile(source+".new", []byte("two"), 0o600))
	require.NoError(t, os.Chtimes(source+".new", old, old))
	require.NoError(t, os.Rename(source+".new", source))
	require.NotEqual(t, times, stamp(time.Hour))
}

// The digest of a source is computed once, unless the source has changed, or may have without new stat data.
func TestSumSource(t *testing.T) {
	one, two := sha256sum.Bytes([]byte("one")), sha256sum.Bytes([]byte("two"))
	for name, x := range map[string]struct {
		by    time.Duration
		known bool
	}{"settled": {time.Hour, true}, "just now": {0, false}} {
		t.Run(name, func(t *testing.T) {
			h := host.New(host.Options{Clock: aheadClock{by: x.by}})
			source := filepath.Join(t.TempDir(), "s")
			put := func(text string) { require.NoError(t, os.WriteFile(source, []byte(text), 0o600)) }
			glance := func() host.StatData {
				src, err := h.Sources().Open(t.Context(), source)
				require.NoError(t, err)
				require.NoError(t, src.Close())
				return src.StatData
			}
			put("one")
			seen := glance()
			require.Empty(t, h.Sources().KnownSum(source, seen))
			sum, err := h.Sources().Sum(t.Context(), source)
			require.NoError(t, err)
			require.Equal(t, one, sum)
			require.Equal(t, x.known, h.Sources().KnownSum(source, seen) == one)

			put("two")
			sum, err = h.Sources().Sum(t.Context(), source)
			require.NoError(t, err)
			if !x.known { // it may have the same stat data
				require.Equal(t, two, sum)
			}
			put("three")
			sum, err = h.Sources().Sum(t.Context(), source)
			require.NoError(t, err)
			require.Equal(t, sha256sum.Bytes([]byte("three")), sum)
			require.NoError(t, os.Remove(source))
			_, err = h.Sources().Sum(t.Context(), source)
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// A copy of a source computes its digest on the way.
func TestOpenSummed(t *testing.T) {
	h := host.New(host.Options{Clock: aheadClock{}})
	source := filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.WriteFile(source, []byte("one"), 0o600))
	src, err := h.Sources().Open(t.Context(), source)
	require.NoError(t, err)
	require.NoError(t, src.Close())

	summed, err := h.Sources().OpenSummed(t.Context(), source, "")
	require.NoError(t, err)
	_, err = io.ReadFull(summed, make([]byte, 3))
	require.NoError(t, err)
	require.Empty(t, h.Sources().KnownSum(source, src.StatData), "more may come")
	rest, err := io.ReadAll(summed)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.NoError(t, summed.Close())
	require.Equal(t, sha256sum.Bytes([]byte("one")), h.Sources().KnownSum(source, src.StatData))
	other := src.StatData
	other.Size++
	require.Empty(t, h.Sources().KnownSum(source, other))
	require.Empty(t, h.Sources().KnownSum(source+"x", src.StatData))
	_, err = h.Sources().OpenSummed(t.Context(), source+"x", "")
	require.ErrorIs(t, err, os.ErrNotExist)
}
