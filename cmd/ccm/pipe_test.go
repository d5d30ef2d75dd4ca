package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// ccm plan | head ends without an error.
func TestReaderGoesAway(t *testing.T) {
	site := siteFile(t, "lua", `for i = 1, 5000 do exec { "e" .. i, command = "true" } end`)
	cmd := exec.Command("ccm", "plan", "--state-dir", t.TempDir(), site)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReaderSize(out, 16).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "exec#e1")
	require.NoError(t, out.Close())
	require.NoError(t, cmd.Wait(), "%s", &stderr)
	require.Empty(t, stderr.String())
}

// So does every command whose output is closed at once.
func TestReaderOfAllIsGone(t *testing.T) {
	state, site := t.TempDir(), siteFile(t, "lua", `exec { "true" }`)
	for _, words := range [][]string{{"run", site}, {"history"}, {"history", "--output", "json"}, {"docs", "file"}, {"catalog", site}, {"facts"}} {
		out, in, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, out.Close())
		cmd := exec.Command("ccm", append(words, "--state-dir", state)...)
		if words[0] == "docs" || words[0] == "facts" || words[0] == "catalog" {
			cmd.Args = cmd.Args[:len(words)+1]
		}
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = in, &stderr
		require.NoError(t, cmd.Run(), "%v: %s", words, &stderr)
		require.Empty(t, stderr.String(), words)
		require.NoError(t, in.Close())
	}
}
