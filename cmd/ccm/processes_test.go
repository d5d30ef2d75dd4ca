package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// tools is a directory of programs that log their name and the number of their arguments.
type tools struct{ dir, log string }

// newTools makes shell scripts by name and text. $@ in a text are the arguments.
func newTools(t *testing.T, scripts map[string]string) tools {
	x := tools{dir: t.TempDir()}
	x.log = filepath.Join(x.dir, "log")
	require.NoError(t, os.WriteFile(x.log, nil, 0o644))
	// A process that is started meanwhile would hold a script open for writing, and the script could not be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for name, text := range scripts {
		text = fmt.Sprintf("#!/bin/sh\necho \"${0##*/} $#\" >> '%s'\n%s", x.log, text)
		require.NoError(t, os.WriteFile(filepath.Join(x.dir, name), []byte(text), 0o755))
	}
	return x
}

// started returns the programs started since the last call.
func (x tools) started(t *testing.T) (lines []string) {
	text, err := os.ReadFile(x.log)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(x.log, 0))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// run runs ccm with only these tools. The site must be stable.
func (x tools) run(t *testing.T, site string, env ...string) {
	t.Helper()
	ccm, err := exec.LookPath("ccm")
	require.NoError(t, err)
	cmd := exec.Command(ccm, "run", "--detailed-exitcodes", "--state-dir", t.TempDir(), siteFile(t, "lua", site))
	cmd.Env = append([]string{"PATH=" + x.dir, "HOME=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// One process lists the installed packages, however many there are.
func TestProcessesOfPackages(t *testing.T) {
	for provider, scripts := range map[string]map[string]string{
		"apt": {
			"dpkg-query": `shift 2; for p; do printf '%s 1.0 all installed install %s\thttp://example.com\tA package\n more of it\n' "$p" "$p"; done`,
			"apt-cache":  `exit 1`, "apt-get": `exit 1`,
		},
		"dnf": {
			"rpm": `shift; for p; do case $p in --queryformat) break;; esac; printf '%s 0 1.0 1 noarch\tMIT\thttp://example.com\tA package\nmore of it\n\036\n' "$p"; done`,
			"dnf": `exit 1`,
		},
	} {
		t.Run(provider, func(t *testing.T) {
			x := newTools(t, scripts)
			x.run(t, fmt.Sprintf(`for i = 1, 200 do package("p" .. i, { provider = %q }) end`, provider))
			require.Len(t, x.started(t), 1)
			x.run(t, fmt.Sprintf(`for i = 1, 200 do package("p" .. i, { provider = %q, ensure = i %% 2 == 0 and "present" or %q }) end`,
				provider, map[string]string{"apt": "1.0", "dnf": "1.0-1"}[provider]))
			require.Len(t, x.started(t), 1)
		})
	}
}

// Guards of commands are checked without a process.
func TestProcessesOfGuardedExecs(t *testing.T) {
	long(t)
	dir := stableTree(t, 1000)
	site := fmt.Sprintf(`for i = 0, 999 do exec("make " .. i, { command = "true", creates = %q .. i }) end`, filepath.Join(dir, "f"))
	x := newTools(t, map[string]string{"true": ""})
	x.run(t, site)
	require.Equal(t, []string{""}, x.started(t))
	calls := traced(t, "run", "--state-dir", t.TempDir(), siteFile(t, "lua", site))
	require.Len(t, calls.on("", "execve"), 1, "ccm itself")
	looks := calls.on(dir, "newfstatat", "lstat", "stat", "statx", "fstatat64", "openat", "openat2")
	require.GreaterOrEqual(t, len(looks), 1000)
	require.Less(t, len(looks), 1100, "one look each, and at times one at their directory")
}
