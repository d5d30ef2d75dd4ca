package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultsAreTested checks that each fault in the table of test/fleet names tests that there are.
func TestFaultsAreTested(t *testing.T) {
	there := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = true
		}
		return err
	}))
	text, err := os.ReadFile("../test/fleet/faults.md")
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "fault" {
			continue
		}
		rows++
		names := regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cells[3], -1)
		require.NotEmpty(t, names, "%s names no test", cells[1])
		for _, name := range names {
			require.True(t, there[name[1]], "%s: there is no %s", cells[1], name[1])
		}
	}
	require.Greater(t, rows, 20)
}
