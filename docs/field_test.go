package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFieldRows: each row of test/field.md names a report, and words of a test that is there.
func TestFieldRows(t *testing.T) {
	report := regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+(, (#\d+|[\w.-]+/[\w.-]+#\d+))*$`)
	rows := 0
	for line := range strings.Lines(readPage(t, "test/field.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.TrimSpace(cells[0]) == "report" {
			continue
		}
		rows++
		require.Len(t, cells, 4, line)
		require.Regexp(t, report, strings.TrimSpace(cells[0]))
		file, words, ok := strings.Cut(strings.Trim(strings.TrimSpace(cells[3]), "`"), ": ")
		require.True(t, ok, line)
		require.True(t, strings.Contains(readPage(t, file), words), "%s does not have these words: %s", file, line)
	}
	require.GreaterOrEqual(t, rows, 100)
}
