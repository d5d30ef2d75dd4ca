package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/encryption"
)

// TestPassphraseDuringARun: the status line of a run is removed for the prompt, the passphrase is asked for once, and
// the time of waiting does not count for the script.
func TestPassphraseDuringARun(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	identity, public, err := encryption.NewIdentity("today")
	require.NoError(t, err)
	locked, err := encryption.Lock(identity, "correct horse", 10)
	require.NoError(t, err)
	write("age.key", string(locked))
	r, err := encryption.ReadRecipients("r", "ann "+public+"\n")
	require.NoError(t, err)
	to, err := r.Audience()
	require.NoError(t, err)
	for _, name := range []string{"one.age", "two.age"} {
		enc, err := encryption.Encrypt([]byte("hunter-"+name), to, false)
		require.NoError(t, err)
		write(name, string(enc))
	}
	write("site.lua", `
capture { "sh", "-c", "until test -e asked; do sleep 0.05; done", cwd = env.HOME }
assert(secret.age "one.age" .. secret.age "two.age" == "hunter-one.agehunter-two.age")
`)
	s := onScreen(t, screenOptions{home: home, env: []string{"CCM_AGE_IDENTITY_FILE=age.key"}}, "plan", "site.lua")
	s.until("the status line", func(text string) bool { return strings.Contains(text, "$ sh -c 'until") })
	write("asked", "")
	s.until("the question", func(text string) bool { return strings.HasSuffix(text, "passphrase of age.key:") })
	for range 10 { // long enough for the status line to be drawn
		require.NoError(t, exec.Command("ccm", "version").Run())
	}
	s.press("correct horse\r")
	require.Zero(t, s.status(), s.text())
	require.Equal(t, 1, strings.Count(s.written(), "passphrase of"))
	require.Regexp(t, `^passphrase of age\.key:\nNothing to do: `, s.text())
}
