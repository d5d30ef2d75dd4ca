package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// Extracted archives are remembered by root, path and creates. Secrets are not kept, a damaged line loses only itself.
func TestExtractions(t *testing.T) {
	b := newBox(t)
	b.secrets = []string{"t0ken-in-a-path"}
	require.NoError(t, os.MkdirAll(b.dir, 0o700))
	x, elsewhere := b.store().Extractions("/"), b.store().Extractions("/mnt")
	one := host.Extraction{URL: "https://example.net/t0ken-in-a-path/1.tgz", Checksum: "11"}
	require.NoError(t, x.Remember("/srv/a.tgz", "/opt/a", one))
	require.NoError(t, elsewhere.Remember("/srv/a.tgz", "/opt/a", host.Extraction{URL: "https://example.net/2.tgz"}))

	found, ok := x.Extracted("/srv/a.tgz", "/opt/a")
	require.True(t, ok)
	require.Equal(t, x.Redact(one.URL), found.URL)
	require.NotContains(t, found.URL, "t0ken")
	require.Equal(t, "11", found.Checksum)
	_, ok = x.Extracted("/srv/a.tgz", "/opt/other")
	require.False(t, ok, "of another creates nothing is known")

	require.NoError(t, x.Forget("/srv/a.tgz"))
	_, ok = x.Extracted("/srv/a.tgz", "/opt/a")
	require.False(t, ok)
	found, ok = elsewhere.Extracted("/srv/a.tgz", "/opt/a")
	require.True(t, ok)
	require.Equal(t, "https://example.net/2.tgz", found.URL)

	file := filepath.Join(b.dir, "extracted.ndjson")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append([]byte("{damaged\n"), text...), 0o600))
	_, ok = elsewhere.Extracted("/srv/a.tgz", "/opt/a")
	require.True(t, ok)
	require.NoError(t, x.Remember("/srv/b.tgz", "/opt/b", one))
	require.Len(t, b.warned, 1)
	_, ok = elsewhere.Extracted("/srv/a.tgz", "/opt/a")
	require.True(t, ok)
}
