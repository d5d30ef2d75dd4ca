package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLooksAreShown: on a terminal, the last lines of a slow command of a script or guard are shown while it runs and
// removed afterwards. Output of the script stays.
func TestLooksAreShown(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	const site = `
print("told")
capture { "sh", "-c", "echo asked once; until test -e one; do sleep 0.05; done", cwd = env.HOME }
exec { "x", command = "true", unless = { "sh", "-c", "echo asked again; until test -e two; do sleep 0.05; done" }, cwd = env.HOME }
`
	require.NoError(t, os.WriteFile(filepath.Join(home, "site.lua"), []byte(site), 0o600))
	s := onScreen(t, screenOptions{home: home}, "plan", "site.lua")
	s.until("the clock of the script", func(text string) bool {
		return strings.HasPrefix(text, "told\nsite.lua ") && strings.Contains(text, "\n    $ sh -c 'echo asked once; ") && strings.HasSuffix(text, "\n    asked once")
	})
	require.NoError(t, os.WriteFile(filepath.Join(home, "one"), nil, 0o600))
	s.until("that of the guard", func(text string) bool {
		return strings.HasPrefix(text, "told\n$ sh -c 'echo asked again; ") && strings.HasSuffix(text, "\n    asked again")
	})
	require.NoError(t, os.WriteFile(filepath.Join(home, "two"), nil, 0o600))
	require.Zero(t, s.status())
	require.Regexp(t, `^told\nNothing to do: 1 resource up to date \(\S+\)$`, s.text())
}

// TestWordsWrap: on a terminal, messages and help are broken between words.
func TestWordsWrap(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "site.lua"), []byte(`file { "/etc/a quite long name of a file", owner = "root", group = "root", moed = "0644" }`), 0o600))
	s := onScreen(t, screenOptions{home: home}, "plan", "site.lua")
	require.Equal(t, 1, s.status())
	require.True(t, strings.HasPrefix(s.text(), `site.lua:1:76: file#/etc/a quite long name of a file: unknown property "moed"
    (did you mean "mode"?)
  1 | ...`), s.text())
	s = onScreen(t, screenOptions{home: home, rows: 100}, "help", "plan")
	require.Zero(t, s.status())
	require.Contains(t, s.text(), `
  -v, --verbose                         also show resources that are up to date,
                                        and full diffs
`)
}
