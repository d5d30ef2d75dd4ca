package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplApply(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	root := filepath.Join(home, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "etc"), 0o755))
	site := filepath.Join(home, "site.lua")
	declare := fmt.Sprintf(`file { "/etc/motd", content = "hi\n", owner = "%d", group = "%d", mode = "0644" }`, os.Geteuid(), os.Getegid())
	require.NoError(t, os.WriteFile(site, []byte(declare), 0o600))
	motd := filepath.Join(root, "etc", "motd")

	s := onScreen(t, screenOptions{home: home}, "run", "-i", "--root", root, site)
	s.ends("ccm>")
	s.enter("plan():pending()[1].message")
	s.ends(`"Would have created the file"`, "ccm>")
	s.enter(".apply")
	s.shows("+ file#/etc/motd: Would have created the file")
	s.ends("Apply this? [y/N]")
	s.enter("n")
	s.ends("nothing was changed", "ccm>")
	require.NoFileExists(t, motd)
	s.enter(".apply")
	s.ends("Apply this? [y/N]")
	s.press(ctrlC)
	s.ends("nothing was changed", "ccm>")
	require.NoFileExists(t, motd)
	s.enter(".apply")
	s.ends("Apply this? [y/N]")
	s.enter("y")
	s.shows("+ file#/etc/motd: Created the file")
	s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
	require.FileExists(t, motd)
	s.enter(".apply")
	s.shows("Nothing to do: 1 resource up to date")
	s.enter(`state("file#/etc/motd").mode`)
	s.ends(`"0644"`, "ccm>")
	s.enter(`file { "/etc/motd", ensure = "absent" }`)
	s.shows("file#/etc/motd replaces the declaration at")
	s.enter("plan()")
	s.ends("- file#/etc/motd: Would have removed the file (intended)", "1 pending", "ccm>")

	dry := onScreen(t, screenOptions{home: home}, "run", "-i", "-n", "--root", root, site)
	dry.ends("ccm>")
	dry.enter(`exec { "true" }`)
	dry.ends("exec#true", "ccm>")
	dry.enter(".apply")
	dry.ends("ccm was started with --noop: it only shows what would change", "ccm>")

	history, err := os.ReadFile(filepath.Join(home, "state", "repl_history"))
	require.NoError(t, err)
	require.NotContains(t, string(history), `"y"`, "answers are no history")
}

func TestReplStart(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".config", "ccm"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".config", "ccm", "repl.lua"), []byte("mine = 'own'\nfunction hello() return mine end"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(home, "bad.lua"), []byte("file {\n  '/x',\n  mdoe = 1,\n}"), 0o600))

	s := onScreen(t, screenOptions{home: home}, "repl", "-q", "bad.lua", "an argument")
	s.shows(`bad.lua:3:3: file#/x: unknown property "mdoe"`)
	s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
	s.enter("hello(), arg[1]")
	s.ends("\"own\"   \"an argument\"", "ccm>")
	s.enter(".save x.lua")
	s.ends("nothing to save: no statement entered yet", "ccm>")

	s = onScreen(t, screenOptions{home: home}, "repl", "-q", "--no-init")
	s.ends("ccm>")
	s.enter("hello")
	s.shows(`undefined global "hello"`)
}
