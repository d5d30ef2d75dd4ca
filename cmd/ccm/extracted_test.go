package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// TestOtherArchiveExtracted: behind creates, a plan and a run notice that another archive was extracted than the site
// wants, also where only the URL differs or the archive itself was removed. on_url_change = "extract" replaces it.
func TestOtherArchiveExtracted(t *testing.T) {
	bodies := map[string][]byte{}
	for _, v := range []string{"1", "2"} {
		bodies[v] = hosttest.TarGzip(t, hosttest.File("version", "app "+v))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b := bodies[path.Base(path.Dir(r.URL.Path))]; b != nil {
			_, _ = w.Write(b)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	url := func(v string) string { return fmt.Sprintf("url = %q", server.URL+"/"+v+"/app.tgz") }
	sum := func(v string) string { return fmt.Sprintf(", checksum = %q", sha256sum.Bytes(bodies[v])) }
	const cleanup = ", cleanup = true"
	for name, c := range map[string]struct {
		first, second string // properties of the archive
		differs       string // part of the warning; "" if there is none
	}{
		"url":                        {url("1"), url("2"), "/1/app.tgz, and the site wants " + server.URL + "/2/app.tgz"},
		"url and cleanup":            {url("1") + cleanup, url("2") + cleanup, "/1/app.tgz, and the site wants "},
		"checksum":                   {`source = "1.tgz"` + sum("1"), `source = "2.tgz"` + sum("2"), "another archive"},
		"checksum, url and cleanup":  {url("1") + sum("1") + cleanup, url("2") + sum("2") + cleanup, "/1/app.tgz, and the site wants "},
		"source":                     {`source = "1.tgz"`, `source = "2.tgz"`, "another archive"},
		"source and cleanup":         {`source = "1.tgz"` + cleanup, `source = "2.tgz"` + cleanup, "another archive"},
		"a mirror with the checksum": {url("1") + sum("1"), fmt.Sprintf("url = %q", server.URL+"/mirror/1/app.tgz") + sum("1"), ""},
		"a query":                    {url("1"), fmt.Sprintf("url = %q", server.URL+"/1/app.tgz?signature=x"), ""},
		"nothing":                    {url("1") + cleanup, url("1") + cleanup, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for v, b := range bodies {
				require.NoError(t, os.WriteFile(filepath.Join(dir, v+".tgz"), b, 0o644))
			}
			do := func(properties, more string, args ...string) string {
				site := fmt.Sprintf("archive { %q, extract_parent = %q, creates = %q, owner = \"%d\", group = \"%d\", %s%s }\n",
					filepath.Join(dir, "app.tgz"), filepath.Join(dir, "app"), filepath.Join(dir, "app/version"), os.Getuid(), os.Getgid(), properties, more)
				require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(site), 0o644))
				if len(args) < 2 {
					args = append(args, filepath.Join(dir, "site.lua"))
				}
				cmd := exec.Command("ccm", append(args[:1:1], append([]string{"--state-dir", filepath.Join(dir, "state")}, args[1:]...)...)...)
				cmd.Env = append(os.Environ(), "no_proxy=*")
				out, err := cmd.CombinedOutput()
				if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
					require.NoError(t, err, "%s", out)
				}
				return string(out)
			}
			version := func() string {
				text, err := os.ReadFile(filepath.Join(dir, "app/version"))
				require.NoError(t, err)
				return string(text)
			}
			require.Contains(t, do(c.first, "", "run"), "1 changed")
			require.NotContains(t, do(c.first, "", "run"), "was extracted from")
			for _, command := range []string{"plan", "run", "run"} {
				out := do(c.second, "", command)
				if c.differs == "" {
					require.NotContains(t, out, "was extracted from", command)
					continue
				}
				require.Equal(t, 1, strings.Count(out, "app/version was extracted from "), "%s: %s", command, out)
				require.Contains(t, out, c.differs, command)
				require.Contains(t, out, `(on_url_change = "extract" extracts the new archive)`, command)
			}
			const again = `, on_url_change = "extract"`
			if c.differs == "" {
				require.Contains(t, do(c.second, again, "run"), "Nothing to do")
				require.Equal(t, "app 1", version())
				return
			}
			require.Contains(t, do(c.second, again, "plan"), "1 pending")
			require.Equal(t, "app 1", version())
			require.Contains(t, do(c.second, again, "run"), "1 changed")
			require.Equal(t, "app 2", version())
			require.Contains(t, do(c.second, again, "run"), "Nothing to do")

			// An undo brings the first one back. Which one is there is unknown then, so nothing is claimed about it.
			do(c.first, "", "undo", "--quiet")
			require.Equal(t, "app 1", version())
			require.NotContains(t, do(c.first, "", "plan"), "app/version was extracted from http")
		})
	}
}
