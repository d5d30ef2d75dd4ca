package sparse_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/sparse"
)

// Copies of many small files share one buffer.
func TestCopyKeepsBuffer(t *testing.T) {
	const many = 1000
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range many {
		_, err := sparse.Copy(f, strings.NewReader("x"))
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(many*16<<10))
}
