package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnsafeLinks: a user replaces a directory, in which root manages a file, by a link. No command reads or changes
// its target, and each says why.
func TestUnsafeLinks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	const ada = 54321
	base, err := os.MkdirTemp("", "ccm-links-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	require.NoError(t, os.Chmod(base, 0o755))
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"victim", "ada", "ada/conf"} {
		require.NoError(t, os.Mkdir(at(dir), 0o755))
	}
	for name, text := range map[string]string{"victim/app.conf": "only root knows this\n", "ada/conf/app.conf": "old\n"} {
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	for _, name := range []string{"ada", "ada/conf", "ada/conf/app.conf"} {
		require.NoError(t, os.Chown(at(name), ada, ada))
	}
	site, state := filepath.Join(t.TempDir(), "site.lua"), t.TempDir()
	require.NoError(t, os.WriteFile(site, fmt.Appendf(nil, `file { %q, content = "new\n", owner = "%d", group = "%d", mode = "0644" }`, at("ada/conf/app.conf"), ada, ada), 0o644))
	_, out, status := ccm(t, nil, "run", "--state-dir", state, site)
	require.Zero(t, status, out)

	require.NoError(t, os.Rename(at("ada/conf"), at("ada/mine")))
	require.NoError(t, os.Symlink("../victim", at("ada/conf")))
	require.NoError(t, os.Lchown(at("ada/conf"), ada, ada))
	for _, args := range [][]string{
		{"plan", "--diff", "full", "--state-dir", state, site},
		{"run", "--diff", "full", "--state-dir", state, site},
		{"drift", "--state-dir", state, site},
		{"status", "file", at("ada/conf/app.conf")},
		{"diff", "--state-dir", state, "last"},
		{"undo", "--state-dir", state},
	} {
		stdout, stderr, status := ccm(t, nil, args...)
		require.NotContains(t, stdout+stderr, "only root knows this", args)
		if args[0] != "diff" { // it may have all that it prints from the record
			require.NotZero(t, status, args)
		}
		if args[0] == "plan" || args[0] == "run" || args[0] == "undo" {
			require.Contains(t, stdout+stderr, "unsafe symbolic link: "+at("ada/conf")+" belongs to 54321 and leads to "+at("victim")+", which belongs to root", args)
		}
		text, err := os.ReadFile(at("victim/app.conf"))
		require.NoError(t, err)
		require.Equal(t, "only root knows this\n", string(text), args)
		info, err := os.Stat(at("victim/app.conf"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), args)
		entries, err := os.ReadDir(at("victim"))
		require.NoError(t, err)
		require.Len(t, entries, 1, args)
	}
}
