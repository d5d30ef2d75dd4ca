package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// Equal contents with secrets have equal masks in plan, run, history, diff and undo.
func TestOneMaskForOneContent(t *testing.T) {
	dir := t.TempDir()
	site, state := filepath.Join(dir, "site.lua"), filepath.Join(dir, "state")
	masks := regexp.MustCompile(`\(secret [0-9a-f]+\)`)
	said := func(args ...string) []string {
		t.Helper()
		out, err := exec.Command("ccm", append(args, "--state-dir", state)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return masks.FindAllString(string(out), -1)
	}
	owner, group := hosttest.Me()
	write := func(value string) {
		text := `for name, text in tbl.pairs { whole = "` + value + `", part = "a\nb = ` + value + `\n" } do
  file { "` + dir + `/" .. name, content = secret(text), owner = "` + owner + `", group = "` + group + `", mode = "0600" }
end`
		require.NoError(t, os.WriteFile(site, []byte(text), 0o600))
	}
	write("the-first-value")
	said("run", site)
	write("the-second-value")
	planned := regexp.MustCompile(`"(?:have|want)":"([^"]*)"`)
	out, err := exec.Command("ccm", "plan", "--output", "json", "--diff", "summary", "--state-dir", state, site).Output()
	require.NoError(t, err)
	var want []string
	for _, m := range planned.FindAllStringSubmatch(string(out), -1) {
		want = append(want, m[1])
	}
	require.Len(t, want, 4)
	said("run", site)
	require.Equal(t, want, said("history", "show", "last"))
	require.Equal(t, want, said("diff", "last"))
	require.Equal(t, []string{want[1], want[0], want[3], want[2]}, said("undo", "--noop"))
}
