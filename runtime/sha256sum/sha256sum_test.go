package sha256sum_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/sha256sum"
)

// Many small files share one buffer.
func TestReaderKeepsBuffer(t *testing.T) {
	const many = 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range many {
		sum, err := sha256sum.Reader(struct{ io.Reader }{strings.NewReader("x")})
		require.NoError(t, err)
		require.Equal(t, sha256sum.Text("x"), sum)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(many*16<<10))
}
