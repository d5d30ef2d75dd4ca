package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Examples keep their lines in the manual page of a command, and flags look as in the help.
func TestManualPageExamples(t *testing.T) {
	long(t)
	dir := filepath.Join(t.TempDir(), "man")
	_, stderr, status := ccm(t, nil, "docs", "--man", dir)
	require.Zero(t, status, stderr)
	page, err := os.ReadFile(filepath.Join(dir, "ccm.1"))
	require.NoError(t, err)
	require.Contains(t, string(page), ".B ccm COMMAND [flags]\n")
	require.Contains(t, string(page), "\\fB\\-h\\fP, \\fB\\-\\-help\\fP\n")
	require.Contains(t, string(page), ".EX\nccm plan site.lua    show what would change\nccm run site.lua     apply the script\n")
	page, err = os.ReadFile(filepath.Join(dir, "ccm-run.1"))
	require.NoError(t, err)
	for _, want := range []string{"\\fB\\-\\-report\\fP=FILE\nalso write a report", "\\fB\\-\\-profile\\fP[=FILE]\n", "\\fB\\-q\\fP, \\fB\\-\\-quiet\\fP\nonly show failures", "script (default 1m)\n"} {
		require.Contains(t, string(page), want)
	}
}
