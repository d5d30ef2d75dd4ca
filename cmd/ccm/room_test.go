package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPlanOfFullDisk: a plan fails where the file system has no room for what the resources write together, and a run
// of the same site fails too. What frees room before, or may free it, is no reason to fail.
func TestPlanOfFullDisk(t *testing.T) {
	long(t)
	const sized = `
		local function sized(name, kib) return file { DIR .. "/d/" .. name, content = ("x"):rep(kib * 1024), owner = "0", group = "0", mode = "0644" } end
		`
	const full, small = "the file system of DIR/d is full: ", "the file system of DIR/d is too small for this plan: "
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(make([]byte, 2<<20)))
	}))
	defer srv.Close()
	for what, c := range map[string]struct{ options, before, site, fails string }{
		"a source":                  {"size=1m", "", `file { DIR .. "/d/big", source = "big", owner = "0", group = "0", mode = "0644" }`, full + "1.0 MiB free, 2.0 MiB needed (df DIR/d)"},
		"a directory that is new":   {"size=1m", "", `require "std.directory" { DIR .. "/d/tree", source = "tree" }`, full + "1.0 MiB free, 2.0 MiB needed"},
		"a directory that is there": {"size=1m", "mkdir d/tree", `require "std.directory" { DIR .. "/d/tree", source = "tree" }`, "the file system of DIR/d/tree is full: 1.0 MiB free, 2.0 MiB needed"},
		"an archive":                {"size=1m", "", `archive { DIR .. "/d/big.gz", source = "big.gz", owner = "0", group = "0" }`, full + "1.0 MiB free, 2.0 MiB needed"},
		"a download":                {"size=2100k", "", `archive { DIR .. "/d/big.gz", url = URL .. "/big.gz", owner = "0", group = "0" }`, full + "2.1 MiB free, of which 105.0 KiB are reserved, 2.0 MiB needed (df DIR/d)"},
		"two downloads": {"size=4m", "", `
			archive { DIR .. "/d/a.gz", url = URL .. "/big.gz", owner = "0", group = "0" }
			archive { DIR .. "/d/b.gz", url = URL .. "/big.gz", owner = "0", group = "0" }`, small + "4.0 MiB free, of which 204.8 KiB are reserved, 2.0 MiB needed by earlier changes and 2.0 MiB by this one"},
		"a source that is downloaded":          {"size=1m", "", `file { DIR .. "/d/big", source = URL .. "/big", owner = "0", group = "0", mode = "0644" }`, full + "1.0 MiB free, 2.0 MiB needed (df DIR/d)"},
		"two files":                            {"size=1m", "", sized + `sized("a", 700) sized("b", 200) sized("c", 300)`, small + "1.0 MiB free, 900.0 KiB needed by earlier changes and 300.0 KiB by this one (df DIR/d)"},
		"a file that is replaced":              {"size=1m", "head -c 700k /dev/zero > d/a", sized + `sized("a", 600)`, full},
		"more files":                           {"nr_inodes=4", "", sized + `sized("a", 1) sized("b", 1) sized("c", 1) sized("d", 1)`, "the file system of DIR/d can hold only 3 more files, which earlier changes of this plan create"},
		"a file in the place of a smaller one": {"size=1m", "echo x > d/a", sized + `sized("a", 700)`, ""},
		"what fits":                            {"size=1m", "", sized + `sized("a", 500) sized("b", 500)`, ""},
		"a file is removed before": {"size=1m", "head -c 700k /dev/zero > d/old", sized + `
			file { DIR .. "/d/old", ensure = "absent" }
			sized("a", 200) sized("b", 700)`, ""},
		"a directory is removed before": {"size=1m", "mkdir d/old; head -c 700k /dev/zero > d/old/x", sized + `
			require "std.directory" { DIR .. "/d/old", ensure = "absent", with_data = true, backup = false }
			sized("a", 700)`, ""},
		"a command may free room": {"size=1m", "", sized + `
			sized("a", 700)
			exec { "free", command = "rm -f " .. DIR .. "/d/a", creates = DIR .. "/d/b", provider = "shell" }
			sized("b", 700)`, ""},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			site := fmt.Sprintf("local DIR, URL = %q, %q\n%s", dir, srv.URL, c.site)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(site), 0o644))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "tree"), 0o755))
			for _, name := range []string{"big", "big.gz", "tree/big"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, 2<<20), 0o644))
			}
			do := "export " + askVariable + "=1; cd " + dir + "\nccm plan --state-dir state site.lua; echo plan $?; ls d/*; ccm run --state-dir state site.lua; echo run $?"
			out, err := inOwnMounts(t, "cd "+dir+"\nmkdir d; mount -t tmpfs -o "+c.options+" d d\n"+c.before, "sh", "-c", do).CombinedOutput()
			require.NoError(t, err, "%s", out)
			text := strings.ReplaceAll(string(out), dir, "DIR")
			if c.fails == "" {
				require.NotContains(t, text, "file system of")
				require.Contains(t, text, "run 0\n")
				return
			}
			require.Contains(t, text, c.fails)
			require.Contains(t, text, "plan 4\n")
			require.Contains(t, text, "run 4\n")
		})
	}
}
