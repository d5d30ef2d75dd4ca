package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A value that is known later is known at the prompt after .apply.
func TestReplKnownLater(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	root := filepath.Join(home, "root")
	require.NoError(t, os.MkdirAll(root, 0o755))
	site := filepath.Join(home, "site.lua")
	require.NoError(t, os.WriteFile(site, fmt.Appendf(nil, `m = exec { "m", command = "echo hi", provider = "shell", creates = "/f" }
file { "/f", content = ccm.lazy(function() return m.stdout end), owner = "%d", group = "%d", mode = "0644" }
`, os.Geteuid(), os.Getegid()), 0o600))
	s := onScreen(t, screenOptions{home: home}, "repl", "-q", "--no-init", "--root", root, site)
	s.ends("ccm>")
	s.enter("m.stdout")
	s.shows("exec#m.stdout is used too early")
	s.enter(".apply")
	s.shows("(known after run)")
	s.ends("Apply this? [y/N]")
	s.enter("y")
	s.shows("2 resources: 2 changed")
	s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
	s.enter("m.stdout, m.changed, m.exit_code")
	s.ends(`"hi"    true    0`, "ccm>")
	text, err := os.ReadFile(filepath.Join(root, "f"))
	require.NoError(t, err)
	require.Equal(t, "hi", string(text))
}
