package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
)

// TestUnderSudo: sudo gets the arguments unchanged, and not the user's PATH.
func TestUnderSudo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none") + ":" + dir
	args := []string{"run", "--sudo", "a  b.lua", "--", "-x", "$HOME", "", "line\nbreak"}
	_, _, err := cli.UnderSudo(filepath.Join(dir, "none"), args, nil)
	require.ErrorContains(t, err, "--sudo: sudo not found in "+filepath.Join(dir, "none"))

	fake := filepath.Join(dir, "sudo")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\nprintf '<%s>' \"$PATH\" \"$KEPT\" \"$@\"\nexit 6\n"), 0o700))
	argv, env, err := cli.UnderSudo(path, args, []string{"KEPT=yes", "PATH=" + dir + "/home", "PATHS=x"})
	require.NoError(t, err)
	require.Equal(t, fake, argv[0])
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	out, err := cmd.Output()
	require.Equal(t, 6, cmd.ProcessState.ExitCode(), err)
	self, err := os.Executable()
	require.NoError(t, err)
	require.Equal(t, "<"+path+"><yes><-u><root><--><"+self+"><run><--sudo><a  b.lua><--><-x><$HOME><><line\nbreak>", string(out))
}

// TestSudoOfRoot: root needs no sudo.
func TestSudoOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	isolate(t)
	site := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(`exec { "x", command = "true" }`), 0o600))
	out, stderr, status := ccm(t, nil, "run", "--sudo", site)
	require.Zero(t, status, stderr)
	require.Contains(t, out, "~ exec#x: Executed")
	out, stderr, status = ccm(t, nil, "ensure", "exec", "true", "--sudo")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "~ exec#true: Executed")
}
