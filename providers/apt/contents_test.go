package apt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestFileLists: the files of packages are known if each is in an index of its repository.
func TestFileLists(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	debian, other := []string{"Debian"}, []string{"Other CE"}
	known := func(installs ...install) bool {
		return fileLists(t.Context(), h.Planning(t.Context()), simulation{installs: installs}).IsKnown()
	}
	require.False(t, known(install{pkg: "web", labels: debian}), "no index")

	const main = "/var/lib/apt/lists/deb.example.org_debian_dists_stable"
	put(main+"_InRelease", "Origin: Debian\nLabel: Debian\nSuite: stable\n")
	put(main+"_main_Contents-amd64", "etc/web/web.conf  httpd/web\netc/web/old.conf  httpd/web\n")
	put(main+"_main_Contents-all", "etc/web/mime.types  httpd/web-common\n")
	put(main+"_main_Contents-source", "etc/none  httpd/source\n")
	put("/var/lib/apt/lists/_srv_._Release", "Suite: local\n")
	put("/var/lib/apt/lists/_srv_._Contents-amd64", "etc/local.conf  local\n")
	put("/var/lib/dpkg/info/old.list", "/etc/old.conf\n")
	put(main+"-updates_Release", "Label: Debian\n")
	put(main+"-updates_main_Contents-amd64.gz", "not compressed")
	require.False(t, known(install{pkg: "web", labels: debian}), "a damaged index")
	require.NoError(t, os.Remove(filepath.Join(root, main+"-updates_main_Contents-amd64.gz")))

	web := install{pkg: "web", labels: []string{"Debian-Security"}}
	l := fileLists(t.Context(), h.Planning(t.Context()), simulation{installs: []install{web, {pkg: "web-common:all", labels: debian}, {pkg: "local", labels: []string{"localhost"}}}})
	require.True(t, l.IsKnown())
	require.True(t, l.Brings([]string{"web"}, "/etc/web/web.conf"))
	require.True(t, l.Mentions("/etc/web/mime.types"))
	require.True(t, l.Mentions("/etc/local.conf"))
	require.False(t, l.Mentions("/etc/none"))
	require.False(t, known(web, install{pkg: "unlisted", labels: debian}))
	require.False(t, known(install{pkg: "web", labels: other}), "another repository has other files")
}

// TestFilesOfResidue: dpkg does not bring a configuration file again that was removed from a package that it knows.
func TestFilesOfResidue(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	for name, text := range map[string]string{"apt/lists/x_Release": "Label: X\n", "apt/lists/x_Contents-all": "etc/a.conf a\n", "dpkg/info/a.list": ""} {
		name = filepath.Join(root, "/var/lib", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	l := fileLists(t.Context(), h.Planning(t.Context()), simulation{installs: []install{{pkg: "a", labels: []string{"X"}}}})
	require.True(t, l.IsKnown())
	require.True(t, l.Mentions("/etc/a.conf"))
	require.False(t, l.Brings([]string{"a"}, "/etc/a.conf"))
}
