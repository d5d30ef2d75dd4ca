package node

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/signed"
)

// If documents are stored concurrently, the file has the one with the highest version.
func TestMemoryKeepsTheNewest(t *testing.T) {
	m, err := openMemory(t.TempDir())
	require.NoError(t, err)
	keep := func(version int64) error {
		return m.keep(releaseFile, &signed.Release{}, version, fmt.Sprint("digest", version), fmt.Append(nil, version))
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for version := range int64(50) {
				_ = keep(version + 1) // the order does not matter
			}
		})
	}
	both.Wait()
	text, err := os.ReadFile(filepath.Join(m.dir, releaseFile))
	require.NoError(t, err)
	require.Equal(t, "50", string(text))
	require.Equal(t, int64(50), m.highest(releaseFile).Version)
	require.Equal(t, signed.RollbackRefused, signed.ReasonOf(keep(49)))
	require.NoError(t, keep(50), "it is known")
}

// A message that arrives while the node ends is not written.
func TestMemoryClosed(t *testing.T) {
	m, err := openMemory(t.TempDir())
	require.NoError(t, err)
	m.close()
	require.ErrorIs(t, m.keep(releaseFile, &signed.Release{}, 1, "digest", []byte("1")), errClosed)
	require.ErrorIs(t, m.update(func(x *memoryContent) { x.Sequence = 7 }), errClosed)
	left, err := os.ReadDir(m.dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Zero(t, m.x.Sequence)
}
