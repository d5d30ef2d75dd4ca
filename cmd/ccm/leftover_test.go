package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// If a run dies at any step of unpacking an archive, the next run removes the leftovers, even a run of another site.
// A further run of its own site unpacks the archive.
func TestArchiveLeavesNothing(t *testing.T) {
	long(t)
	body := hosttest.TarGzip(t, hosttest.Dir("bin", 0o755), hosttest.File("bin/app", "app 1"), hosttest.Dir("closed", 0o500), hosttest.File("closed/x", "x"))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	defer s.Close()
	tries := tally.Of(t, "a run dies at any step of an archive; the next is of the same or of another site", "nothing of the unpacking is left")
	steps, removed := 0, 0
	for _, same := range []bool{true, false} {
		for n := 1; ; n++ {
			dir := t.TempDir()
			isolate(t)
			t.Setenv("CCM_STATE_DIR", filepath.Join(dir, "state"))
			require.NoError(t, os.Mkdir(dir+"/srv", 0o755))
			site := siteFile(t, "lua", fmt.Sprintf(`archive { "%[1]s/srv/app.tar.gz", url = "%[2]s/app.tar.gz", owner = "%[3]d", group = "%[4]d", extract_parent = "%[1]s/opt/app" }`, dir, s.URL, os.Getuid(), os.Getgid()))
			effect, asked := hosttest.Failing(n, 1<<30)
			_, stderr, status := ccm(t, effect, "run", site)
			if asked() < n {
				require.Equal(t, cli.ExitOK, status, stderr)
				break
			}
			steps++
			tries.Add(1)
			next := site
			if !same {
				next = siteFile(t, "lua", fmt.Sprintf(`file { "%s/other", content = "x", owner = "%d", group = "%d", mode = "0644" }`, dir, os.Getuid(), os.Getgid()))
			}
			_, stderr, status = ccm(t, nil, "run", next)
			require.Equal(t, cli.ExitOK, status, "step %d: %s", n, stderr)
			if strings.Contains(stderr, "warning: removed "+dir) {
				removed++
			}
			for _, name := range listed(t, dir) {
				require.NotContains(t, name, ".ccm-", "step %d: %s", n, stderr)
			}
			if !same {
				_, stderr, status = ccm(t, nil, "run", site)
				require.Equal(t, cli.ExitOK, status, "step %d: %s", n, stderr)
			}
			_, err := os.Stat(dir + "/opt/app/bin/app")
			require.NoError(t, err, "step %d", n)
			info, err := os.Stat(dir + "/srv/app.tar.gz")
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o640), info.Mode(), "step %d", n)
		}
	}
	require.Greater(t, steps, 40)
	require.Greater(t, removed, 10)
	t.Logf("%d steps, %d directories removed", steps, removed)
}

// listed lists all files below a directory.
func listed(t *testing.T, dir string) (names []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}

// A directory other than the recorded one is not removed.
func TestLeftoverOfOthers(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	name := filepath.Join(dir, ".app.tar.gz.ccm-extract")
	require.NoError(t, os.MkdirAll(name+"/mine", 0o700))
	state := os.Getenv("CCM_STATE_DIR")
	require.NoError(t, os.Mkdir(state, 0o700))
	for _, line := range []string{
		`{"round":1,"begun":{"number":1,"run":"r","path":"` + name + `","dev":1,"ino":2}}`,
		`{"round":1,"begun":{"number":1,"run":"r","path":"` + name + `"}}`,
		`{"round":1,"begun":{"number":1,"run":"r","path":"` + dir + `"}}`,
		`{"round":1,"begun":{"number":1,"run":"r","boot":"other","pid":` + fmt.Sprint(os.Getpid()) + `,"start":1}}`,
		`{"round":1,"begun":{"number":1,"run":"r","path":"` + name + `/../../x"}}`,
		`{"round":1,"begun":{"number":1`, "null", `{}`, `[]`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(state, "unfinished.ndjson"), []byte(line+"\n"), 0o600))
		_, stderr, status := ccm(t, nil, "run", siteFile(t, "lua", `exec { "true" }`))
		require.Equal(t, cli.ExitOK, status, stderr)
		require.NotContains(t, stderr, "warning: removed", line)
		require.DirExists(t, name+"/mine")
	}
}
