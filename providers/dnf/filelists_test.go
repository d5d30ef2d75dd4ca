package dnf

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestFileLists: the files of packages are known if the cache has the file lists of all repositories, and each package.
func TestFileLists(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, "/var/cache/dnf", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	const repomd = `<repomd><data type="primary"><location href="repodata/p.xml"/></data><data type="filelists"><location href="repodata/f.xml"/></data></repomd>`
	put("base-1/repodata/repomd.xml", repomd)
	put("base-1/repodata/p.xml", "")
	require.False(t, fileLists(t.Context(), h.Planning(t.Context()), []string{"web"}).IsKnown(), "not cached")
	put("base-1/repodata/f.xml", `<filelists><package name="web"><version epoch="0" ver="1" rel="1"/><file>/etc/web.conf</file><file type="dir">/etc/web</file></package>
<package name="web"><version epoch="0" ver="2" rel="1"/><file>/etc/web.conf</file><file>/etc/new.conf</file></package><package name="meta"><version epoch="0" ver="1" rel="1"/></package></filelists>`)
	l := fileLists(t.Context(), h.Planning(t.Context()), []string{"web", "meta"})
	require.True(t, l.IsKnown())
	require.True(t, l.Brings([]string{"web"}, "/etc/web.conf"))
	require.False(t, l.Brings([]string{"web"}, "/etc/new.conf"), "in one version only")
	require.True(t, l.Mentions("/etc/web"))
	require.False(t, l.Mentions("/etc/web/other"))
	require.False(t, fileLists(t.Context(), h.Planning(t.Context()), []string{"web", "unlisted"}).IsKnown())
	put("more-2/repodata/repomd.xml", repomd)
	require.False(t, fileLists(t.Context(), h.Planning(t.Context()), []string{"web"}).IsKnown(), "one repository without them")
}
