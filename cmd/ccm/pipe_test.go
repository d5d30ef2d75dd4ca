package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// ccm plan | head ends quietly: that somebody stops reading is no mistake.
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
