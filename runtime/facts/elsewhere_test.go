package facts

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestElsewhere: the names of facter and Ansible that hints know are those of docs/facts.md.
func TestElsewhere(t *testing.T) {
	var lines []string
	for _, row := range sharedFacts(t) {
		for _, name := range slices.Concat(row[1], row[2]) {
			if name != row[0][0] && !strings.Contains(name, "NAME") {
				lines = append(lines, name+" "+row[0][0]+"\n")
			}
		}
	}
	slices.Sort(lines)
	want := strings.Join(slices.CompactFunc(lines, func(a, b string) bool {
		return strings.Fields(a)[0] == strings.Fields(b)[0]
	}), "")
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile("elsewhere.txt", []byte(want), 0o644))
		return
	}
	require.Equal(t, want, elsewhere)
}
