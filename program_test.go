package ccm_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostLines is how long the program of the page may be.
const mostLines = 42

// TestProgramOfThePage: the program in docs/go.md compiles, and prints what the page says.
func TestProgramOfThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	page, err := os.ReadFile("docs/go.md")
	require.NoError(t, err)
	program, script := block(t, page, "go"), block(t, page, "lua")
	require.LessOrEqual(t, strings.Count(program, "\n"), mostLines)

	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	// As a package of this module: in one of its own, all others would be compiled again.
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, "program/main.go"): filepath.Join(dir, "main.go")}})
	require.NoError(t, err)
	for name, content := range map[string]string{"overlay.json": string(overlay), "main.go": program, "site.lua": script} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "machine"), 0o700))

	out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", filepath.Join(dir, "program"), "./program").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, want := range outputs(t, page) {
		run := exec.Command("./program")
		run.Dir = dir
		out, err := run.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, strings.TrimSpace(string(out)))
	}
}

// block returns the first block of a page in a language.
func block(t *testing.T, page []byte, language string) string {
	m := regexp.MustCompile("(?s)```" + language + "(?: part)?\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, m, language)
	return string(m[1])
}

// outputs returns what the page says that each start of the program prints.
func outputs(t *testing.T, page []byte) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^    \$ .*go run \.\n    (.*)$`).FindAllSubmatch(page, -1) {
		list = append(list, string(m[1]))
	}
	require.Len(t, list, 2)
	return list
}
