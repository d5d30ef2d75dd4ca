package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// undo names the run that it takes back, so a second undo takes back the first.
func TestUndoNamesTheRun(t *testing.T) {
	dir := t.TempDir()
	state, site, conf := filepath.Join(dir, "state"), filepath.Join(dir, "site.lua"), filepath.Join(dir, "app.conf")
	undo := func(args ...string) string {
		t.Helper()
		stdout, stderr, status := ccm(t, nil, append(args, "--state-dir", state)...)
		require.Zero(t, status, stderr)
		return stdout
	}
	owner, group := hosttest.Me()
	require.NoError(t, os.WriteFile(site, fmt.Appendf(nil, "file { %q, content = \"new\\n\", owner = %q, group = %q, mode = \"0644\" }\n", conf, owner, group), 0o644))
	require.NoError(t, os.WriteFile(conf, []byte("old\n"), 0o644))
	undo("run", site)

	const run = ` of [-0-9]+ [:0-9]+ \([0-9]{8}T\S+\)\n~ file#`
	require.Regexp(t, `\AWould undo ccm run `+site+run, undo("undo", "--noop"))
	require.Regexp(t, `\AUndoing ccm run `+site+run, undo("undo"))
	require.Regexp(t, `\AUndoing ccm undo `+site+run, undo("undo"))
	require.NotContains(t, undo("undo", "--quiet"), "Undoing")
	require.Regexp(t, `\A\{`, undo("undo", "--output", "json"))
}
