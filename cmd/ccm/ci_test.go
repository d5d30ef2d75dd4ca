package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestWorkflowsOfCI: each workflow in docs/ci.md is YAML, and its ccm commands have the flags that it gives them.
func TestWorkflowsOfCI(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	workflows, commands := 0, 0
	for rest != "" {
		var block string
		block, rest, _ = strings.Cut(rest, "\n```\n")
		var workflow map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(block), &workflow), block)
		workflows++
		for _, line := range textsOf(workflow) {
			command, _, _ := strings.Cut(line, " > ")
			words, err := shellquote.Split(command)
			require.NoError(t, err, line)
			if len(words) < 2 || words[0] != "ccm" {
				continue
			}
			commands++
			cmd, args, err := newRootCommand(newEnv(strings.NewReader(""), io.Discard, io.Discard, hosttest.Clock{})).Find(words[1:])
			require.NoError(t, err, line)
			require.NoError(t, cmd.ParseFlags(args), line)
		}
		_, rest, _ = strings.Cut(rest, "```yaml\n")
	}
	require.Equal(t, []int{3, 3}, []int{workflows, commands})
}

// textsOf returns all texts in decoded YAML.
func textsOf(x any) (list []string) {
	switch x := x.(type) {
	case string:
		return []string{x}
	case []any:
		for _, y := range x {
			list = append(list, textsOf(y)...)
		}
	case map[string]any:
		for _, y := range x {
			list = append(list, textsOf(y)...)
		}
	}
	return list
}
