package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplHostileText: control characters are escaped at the prompt, in the history, in completed names, in input and
// in results.
func TestReplHostileText(t *testing.T) {
	needPTY(t)
	// The parts of evilText that the prompt itself never writes.
	harm := []string{"]0;t\a", "\a", "\x1b[95m", "\u009b", "\u202e", "\u2028", "\ufeff", "\x7f"}
	line, err := json.Marshal(map[string]string{"time": "2026-01-02T03:04:05Z", "text": `x = "` + evilText + `"`})
	require.NoError(t, err)
	for name, try := range map[string]func(s *screen){
		"history":            func(s *screen) { s.press("\x1b[A") },
		"search in history":  func(s *screen) { s.press("\x12x =") },
		"completed argument": func(s *screen) { s.press(".load names/" + tab) },
		"pasted":             func(s *screen) { s.press("\x1b[200~x = '" + evilText + "'\x1b[201~") },
		"result":             func(s *screen) { s.enter(`env.EVIL`) },
		"printed":            func(s *screen) { s.enter(`print(env.EVIL)`) },
		"mistake":            func(s *screen) { s.enter(`error(env.EVIL)`) },
		"prompt":             func(s *screen) { s.enter(`_PROMPT = env.EVIL`) },
		"resource":           func(s *screen) { s.enter(`exec { env.EVIL, command = "false" }`) },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for _, dir := range []string{"state", "names"} {
				require.NoError(t, os.Mkdir(filepath.Join(home, dir), 0o700))
			}
			require.NoError(t, os.WriteFile(filepath.Join(home, "state", "repl_history"), append(line, '\n'), 0o600))
			for _, file := range []string{"names/a" + evilText + ".lua", "names/plain.lua", "names/more.lua"} {
				require.NoError(t, os.WriteFile(filepath.Join(home, file), nil, 0o600))
			}
			s := onScreen(t, screenOptions{home: home, env: []string{"EVIL=" + evilText}}, "repl", "-q")
			s.ends("ccm>")
			try(s)
			if strings.Contains(name, "completed") {
				s.shows("plain.lua") // the other name cannot be typed and is not proposed
			} else {
				s.shows(`]0;t\a`)
			}
			for _, bytes := range harm {
				require.NotContains(t, s.written(), bytes)
			}
		})
	}
}
