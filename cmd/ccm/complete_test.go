package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a shell shows beside a flag has no marks in it, and the help names the value.
func TestCompletionOfFlags(t *testing.T) {
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--rep"}, "--report\twrite a report to FILE as well"},
		{[]string{"ensure", "file", "--state-d"}, "--state-dir\tkeep state in DIR"},
	} {
		stdout, _, status := ccm(t, nil, append([]string{"__complete"}, x.args...)...)
		require.Zero(t, status)
		require.Contains(t, stdout, x.want)
		require.NotContains(t, stdout, "`")
	}
	stdout, _, _ := ccm(t, nil, "run", "--help")
	require.Contains(t, stdout, "--report FILE")
}
