package repl_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/repl"
)

func open(t *testing.T, file string) *repl.History {
	t.Helper()
	reg := registry(t)
	h, err := repl.OpenHistory(file, func() time.Time { return time.Unix(0, 0).UTC() }, func(s string) string { return repl.Redact(s, reg) })
	require.NoError(t, err)
	return h
}

func entries(h *repl.History) (out []string) {
	for i := range h.Len() {
		out = append(out, h.Entry(i))
	}
	return out
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "repl_history")
	h := open(t, file)
	for _, text := range []string{"1", "for i = 1, 2 do\n  print(i)\nend", "1", "1", "  hidden", "\thidden", "", "x  \n", `secret "hunter2"`} {
		require.NoError(t, h.Add(text))
	}
	want := []string{"1", "for i = 1, 2 do\n  print(i)\nend", "1", "x", `secret "(secret)"`}
	require.Equal(t, want, entries(h))
	h.Mute(true)
	require.NoError(t, h.Add("muted"))
	require.Equal(t, want, entries(h))
	require.Equal(t, want, entries(open(t, file)), "it is the same in the next session")

	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, "-rw-------", info.Mode().String())
	dir, err := os.Stat(filepath.Dir(file))
	require.NoError(t, err)
	require.Equal(t, "drwx------", dir.Mode().String())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter2")
	for line := range strings.Lines(string(text)) {
		require.True(t, json.Valid([]byte(line)), line)
	}
}

// A damaged file, or one that others can read, is repaired.
func TestHistoryRepairs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h")
	require.NoError(t, os.WriteFile(file, []byte("not json\n{\"text\":\"1\"}\n\x00\x00\n{\"text\":\"2\"}"), 0o644))
	h := open(t, file)
	require.Equal(t, []string{"1", "2"}, entries(h))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, "-rw-------", info.Mode().String())
	require.NoError(t, h.Add("3"))
	require.Equal(t, []string{"1", "2", "3"}, entries(open(t, file)), "the line that had no end is kept too")
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h")
	var b strings.Builder
	for i := range 10050 {
		fmt.Fprintf(&b, "{\"time\":\"2026-01-02T03:04:05Z\",\"text\":\"%d\"}\n", i)
	}
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	h := open(t, file)
	require.Equal(t, 10000, h.Len())
	require.Equal(t, "50", h.Entry(0))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 10000, strings.Count(string(text), "\n"))
	require.Contains(t, string(text), "2026-01-02", "the times are kept")
	require.NoError(t, h.Add("new"))
	require.Equal(t, 10000, h.Len())
	require.Equal(t, "51", h.Entry(0))
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")
}

// Without a file the history lasts for the session.
func TestHistoryWithoutFile(t *testing.T) {
	h := open(t, "")
	require.NoError(t, h.Add("1"))
	require.Equal(t, []string{"1"}, entries(h))

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	h, err := repl.OpenHistory(filepath.Join(dir, "file", "h"), time.Now, strings.Clone)
	require.ErrorContains(t, err, "history: ")
	require.NoError(t, h.Add("1"))
}

func TestRedact(t *testing.T) {
	reg := registry(t)
	for text, want := range map[string]string{
		`secret "x"`:                          `secret "(secret)"`,
		`secret("x")`:                         `secret("(secret)")`,
		`secret([[x]])`:                       `secret("(secret)")`,
		`local s = secret('x') .. "y"`:        `local s = secret("(secret)") .. "y"`,
		`file { "/x", password = "hunter2" }`: `file { "/x", password = "(secret)" }`,
		`db_password = "x"`:                   `db_password = "(secret)"`,
		`t.api_key = "x"`:                     `t.api_key = "(secret)"`,
		`{ ["token"] = "x" }`:                 `{ ["token"] = "(secret)" }`,
		`if password == "x" then`:             `if password == "(secret)" then`,
		`{ "DB_PASSWORD=x y", "A=b" }`:        `{ "DB_PASSWORD=(secret)", "A=b" }`,
		`url = "https://me:hunter2@host/x"`:   `url = "https://me:(secret)@host/x"`,
		`url = "https://host:80/x@y"`:         `url = "https://host:80/x@y"`,
		`password = "x`:                       `password = "(secret)"`,
		`password = [[x`:                      `password = "(secret)"`,
		`file { "/x", mode = "0644" }`:        `file { "/x", mode = "0644" }`,
		`print("password")`:                   `print("password")`,
		`.facts password`:                     `.facts password`,
		``:                                    ``,
	} {
		require.Equal(t, want, repl.Redact(text, reg), text)
	}
}
