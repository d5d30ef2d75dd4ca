package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/test/tally"
)

// TestDamagedFiles damages each file of a state directory in several ways. Every command still works, except for the
// data of that file, and replaced contents can always be restored.
func TestDamagedFiles(t *testing.T) {
	long(t)
	tries := tally.Of(t, "damaged state files: empty, zeros, half, other JSON, junk; ten commands each",
		"a warning, a copy set aside, what is good is used, what was overwritten can be had back")
	dir, err := os.MkdirTemp("/dev/shm", "ccm-test-") // in memory if possible, because it syncs often
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	t.Chdir(dir)
	conf := filepath.Join(dir, "conf")
	owner, group := os.Geteuid(), os.Getegid()
	site := func(text string) {
		script := fmt.Sprintf("file { %q, content = %q, owner = \"%d\", group = \"%d\", mode = \"0644\" }\n", conf, text, owner, group) +
			"exec { \"refresh\", command = \"true\", refreshonly = true, subscribe = \"file#\" .. " + fmt.Sprintf("%q", conf) + " }\n"
		require.NoError(t, os.WriteFile("site.lua", []byte(script), 0o644))
	}
	command := func(args ...string) (code int, out string) {
		var text bytes.Buffer
		e := newEnv(strings.NewReader(""), &text, &text, host.RealClock{})
		code = run(context.Background(), e, append(args, "--state-dir", "state"))
		return code, text.String()
	}
	for _, text := range []string{"one", "two"} {
		site(text)
		code, out := command("run", "site.lua")
		require.Zero(t, code, out)
	}
	require.NoError(t, os.CopyFS("good", os.DirFS("state")))
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS("good"), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	require.Greater(t, len(files), 7)
	for _, file := range files {
		good, err := os.ReadFile(filepath.Join("good", file))
		require.NoError(t, err)
		for does, text := range map[string]string{
			"empty": "", "zeros": strings.Repeat("\x00", len(good)), "half": string(good[:len(good)/2]), "other JSON": "{\"a\":[1]}\n", "junk": "\xff\x1f\x8b\"\n{",
		} {
			what := file + ": " + does
			tries.Add(1)
			require.NoError(t, os.RemoveAll("state"))
			require.NoError(t, os.CopyFS("state", os.DirFS("good")))
			require.NoError(t, os.Chmod("state", 0o700))
			require.NoError(t, os.WriteFile(filepath.Join("state", file), []byte(text), 0o600))
			require.NoError(t, os.WriteFile(conf, []byte("two"), 0o644))
			site("three")
			for _, args := range [][]string{{"history"}, {"history", "--pending"}, {"plan", "site.lua"}, {"run", "site.lua"}, {"history"}} {
				code, out := command(args...)
				require.Zero(t, code, "%s, %v: %s", what, args, out)
			}
			for _, args := range [][]string{{"history", "show", "last"}, {"diff", "last"}, {"drift"}, {"undo", "--noop"}} {
				code, out := command(args...)
				require.Contains(t, []int{0, 1, 2}, code, "%s, %v: %s", what, args, out)
				require.NotEmpty(t, out, "%s, %v", what, args)
			}
			code, out := command("undo")
			require.Zero(t, code, "%s: %s", what, out)
			have, err := os.ReadFile(conf)
			require.NoError(t, err)
			require.Equal(t, "two", string(have), what)
		}
	}
}
