package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplInHomeOfAnother: root at the prompt with the HOME of another user, as after su, trusts nothing in it:
// neither keys, nor the first script, nor the history.
func TestReplInHomeOfAnother(t *testing.T) {
	needPTY(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	home := t.TempDir()
	for name, text := range map[string]string{
		".inputrc": "Control-o: \"print('of the keys')\\n\"\n", ".config/ccm/repl.lua": "print('of the script')\n",
		".local/state/ccm/repl_history": `{"time":"2026-01-02T03:04:05Z","text":"print('of the history')"}` + "\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o644))
	}
	const believed = "of the script"
	env := []string{"INPUTRC=", "CCM_STATE_DIR="}
	s := onScreen(t, screenOptions{home: home, env: env}, "repl", "-q")
	s.shows(believed)
	s.press("\x1b[A")
	s.shows("of the history")

	require.NoError(t, exec.Command("chown", "-R", "12345", home).Run())
	s = onScreen(t, screenOptions{home: home, env: env}, "repl", "-q")
	s.shows("ccm>")
	s.press("\x0f\x1b[A")
	s.enter("6 * 7")
	s.shows("42")
	said := s.written()
	for _, name := range []string{".inputrc", "repl.lua", "history not available"} {
		require.Contains(t, said, name)
	}
	for _, text := range []string{"of the keys", believed, "of the history"} {
		require.NotContains(t, said, text)
	}
}
