package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The description of a flag in completions has no markup, and the help names its value. Only files that the command
// can read are proposed.
func TestCompletionOfFlags(t *testing.T) {
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--rep"}, "--report\talso write a report to FILE"},
		{[]string{"ensure", "file", "--state-d"}, "--state-dir\tDIR for history"},
	} {
		stdout, _, status := ccm(t, nil, append([]string{"__complete"}, x.args...)...)
		require.Zero(t, status)
		require.Contains(t, stdout, x.want)
		require.NotContains(t, stdout, "`")
	}
	for line, want := range map[string]string{
		"run":                     "lua\nyaml\nyml\nplan\ngz\ntgz\n:8\n",
		"plan":                    "lua\nyaml\nyml\nplan\ngz\ntgz\n:8\n",
		"catalog":                 "lua\nyaml\nyml\n:8\n",
		"lint a":                  "lua\n:8\n",
		"run a.lua":               ":0\n", // arguments of the script
		"run a.lua --report":      ":0\n",
		"fleet events --since":    ":4\n",
		"fleet nodes --within":    ":4\n",
		"fleet release --stages":  ":4\n",
		"fleet release --sign":    ":0\n",
		"fleet init --fleet":      ":0\n",
		"fleet jobs --last":       ":4\n",
		"fleet jobs":              ":4\n",
		"fleet check":             ":4\n",
		"fleet status --color":    "auto\nalways\nnever\n:4\n",
		"ensure file /x --source": ":0\n", // a property
	} {
		stdout, _, status := ccm(t, nil, append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
		require.Zero(t, status)
		require.Equal(t, want, stdout, line)
	}
	stdout, _, _ := ccm(t, nil, "run", "--help")
	require.Contains(t, stdout, "--report FILE")
}
