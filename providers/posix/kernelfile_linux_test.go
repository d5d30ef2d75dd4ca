package posix

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// TestKernelFileWithSource: a file of the kernel with a source is compared by what it reads back, as with a content. Its
// size, which is 0 in /proc, does not count.
func TestKernelFileWithSource(t *testing.T) {
	h := host.New(host.Options{})
	comm := fmt.Sprintf("/proc/%d/comm", os.Getpid())
	text, err := os.ReadFile(comm)
	require.NoError(t, err)
	source := filepath.Join(t.TempDir(), "value")
	for value, want := range map[string]bool{strings.TrimSpace(string(text)): true, string(text) + "\n": true, "another\n": false} {
		require.NoError(t, os.WriteFile(source, []byte(value), 0o600))
		have, err := files{}.Status(t.Context(), &h.View, resources.File{Name: comm, Ensure: resources.FilePresent, Source: &source})
		require.NoError(t, err)
		require.Equal(t, want, !have.ContentDiffers, value)
	}
}
