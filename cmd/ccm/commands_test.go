package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// namesOfCommands returns the names of ccm's commands.
func namesOfCommands(args ...string) (names []string) {
	e := newEnv(strings.NewReader(""), io.Discard, io.Discard, hosttest.Clock{})
	e.Args = args
	for _, c := range newRootCommand(e).Commands() {
		names = append(names, c.Name())
	}
	return names
}

func TestCommands(t *testing.T) {
	var all []string
	for name, command := range commands() {
		c := command(newEnv(strings.NewReader(""), io.Discard, io.Discard, hosttest.Clock{}))
		assert.Equal(t, name, c.Name())
		assert.Equal(t, []string{name}, namesOfCommands(name, "status"))
		all = append(all, name)
	}
	for _, args := range [][]string{nil, {"stat"}, {"--color", "never", "run"}, {"help", "run"}, {"docs", "--man", "x"}, {cobra.ShellCompRequestCmd, "run", ""}} {
		assert.Subset(t, namesOfCommands(args...), all)
	}
}
