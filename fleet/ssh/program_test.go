package ssh

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Programs for other systems are found by the names that make cross gives them.
func TestProgramsAreNamedAsBuilt(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	var built []string
	for line := range strings.Lines(string(makefile)) {
		if list, ok := strings.CutPrefix(line, "SYSTEMS ?= "); ok {
			built = strings.Fields(list)
		}
	}
	require.NotEmpty(t, built)
	dir := t.TempDir()
	for _, system := range built {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ccm-"+system), []byte(system), 0o755))
	}
	programs := &Programs{Folders: []string{dir}}
	for uname, s := range systems {
		x, err := programs.of(s)
		require.NoError(t, err, uname)
		content, err := x.plain().from(0)
		require.NoError(t, err)
		require.Equal(t, s.String(), string(content))
	}
}
