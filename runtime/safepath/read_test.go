package safepath_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A text is read as bytes are, up to the same limit.
func TestReadText(t *testing.T) {
	r := &safepath.Resolver{Root: "/", AnyLink: true}
	path := filepath.Join(t.TempDir(), "f")
	for _, content := range []string{"", "text\x00\n", strings.Repeat("x", 100_000)} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		text, err := r.ReadText(path, 100_000)
		require.NoError(t, err)
		require.Equal(t, content, text)
	}
	for _, name := range []string{path, filepath.Dir(path), filepath.Join(filepath.Dir(path), "none")} {
		_, wrong := r.ReadRegular(name, 99_999)
		_, err := r.ReadText(name, 99_999)
		require.Error(t, wrong)
		require.EqualError(t, err, wrong.Error())
	}
	name, err := r.ReadText("/proc/self/comm", 1000) // its size is 0
	if err == nil {
		require.NotEmpty(t, name)
	}
}
