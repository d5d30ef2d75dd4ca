package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGlossary: at least 40 terms in the order of the alphabet, each with a short meaning and what three others call it,
// and all outcomes are among them.
func TestGlossary(t *testing.T) {
	var terms []string
	for line := range strings.Lines(Text("glossary")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.TrimSpace(cells[0]) == "term" {
			continue
		}
		require.Len(t, cells, 5, line)
		for _, cell := range cells {
			require.NotEmpty(t, strings.TrimSpace(cell), line)
		}
		require.LessOrEqual(t, len(strings.Fields(cells[1])), 25, line)
		terms = append(terms, strings.TrimSpace(cells[0]))
	}
	require.GreaterOrEqual(t, len(terms), 40)
	require.True(t, slices.IsSorted(terms), terms)
	require.Equal(t, terms, slices.Compact(slices.Clone(terms)))
	for _, outcome := range []string{"up to date", "changed", "pending", "unknown", "skipped", "failed"} {
		require.Contains(t, terms, outcome)
	}
}
