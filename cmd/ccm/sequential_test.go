package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// entangled returns a site of files and commands that interfere with each other: directories and files with two
// names, commands that change managed files, parents that are made or missing, references in both directions. With
// calm it has long rows of files without commands.
func entangled(rnd *rand.Rand, root string, calm bool) string {
	b := &strings.Builder{}
	owner, group := hosttest.Me()
	fmt.Fprintf(b, "file.defaults { owner = %q, group = %q, mode = \"0644\" }\n", owner, group)
	dirs := []string{"/d", "/alias", "/e", "/made", "/f0", "/outside"}
	var ids []string
	declared := make(map[string]bool)
	some, names, execs := 5+rnd.IntN(200), 30, 16
	if calm {
		some, names, execs = 400, 300, 150
	}
	for n := range some {
		edges := ""
		if len(ids) > 0 && rnd.IntN(4) == 0 {
			edges = fmt.Sprintf(", %s = %q", []string{"require", "subscribe"}[rnd.IntN(2)], ids[rnd.IntN(len(ids))])
		}
		path := fmt.Sprintf("%s/f%d", dirs[rnd.IntN(len(dirs))], rnd.IntN(names))
		if rnd.IntN(3) == 0 {
			path = fmt.Sprintf("/f%d", rnd.IntN(names))
		}
		if rnd.IntN(execs) == 0 {
			name := fmt.Sprintf("c%d", n)
			fmt.Fprintf(b, "exec { %q, command = \"/bin/sh -c 'echo %s >> %s/log; echo %d > %s%s'\", refreshonly = %v%s }\n",
				name, name, root, rnd.IntN(3), root, path, rnd.IntN(2) == 0, edges)
			ids = append(ids, "exec#"+name)
			continue
		}
		if rnd.IntN(25) == 0 {
			path = "/made"
		}
		if declared[path] {
			continue
		}
		declared[path] = true
		wish := fmt.Sprintf("content = \"%d\\n\"", rnd.IntN(3))
		switch {
		case path == "/made":
			wish = "ensure = \"directory\""
		case rnd.IntN(6) == 0:
			wish = "ensure = \"absent\""
		case rnd.IntN(8) == 0:
			wish = "mode = \"0600\""
		case rnd.IntN(8) == 0:
			wish = fmt.Sprintf("source = \"%s/f%d\"", root, rnd.IntN(30))
		case rnd.IntN(30) == 0:
			wish += ", validate = \"/bin/grep -q 1 %s\""
		}
		fmt.Fprintf(b, "file { %q, %s%s }\n", path, wish, strings.Replace(edges, "subscribe", "require", 1))
		ids = append(ids, "file#"+path)
	}
	return b.String()
}

// entangle makes the directories and links for entangled.
func entangle(t *testing.T, rnd *rand.Rand, root string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(root))
	for _, dir := range []string{root, root + "/d", root + "/e"} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	require.NoError(t, os.Symlink("d", root+"/alias"))
	require.NoError(t, os.Symlink("nowhere", root+"/outside"))
	for n := range 30 {
		for _, dir := range []string{"", "/d", "/e"} {
			path := fmt.Sprintf("%s%s/f%d", root, dir, n)
			switch rnd.IntN(6) {
			case 0:
			case 1:
				other := fmt.Sprintf("%s/e/g%d", root, n)
				_ = os.WriteFile(other, fmt.Appendf(nil, "%d\n", rnd.IntN(3)), 0o644)
				require.NoError(t, os.Link(other, path))
			default:
				require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "%d\n", rnd.IntN(3)), 0o644))
			}
		}
	}
}

// disk returns all files below a directory: kind, mode, and content.
func disk(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		text := ""
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			text = string(b)
		}
		all = append(all, fmt.Sprintf("%s %s %q", info.Mode(), strings.TrimPrefix(path, dir), text))
		return nil
	}))
	return all
}

var passing = regexp.MustCompile(`"(event_id|run_id|timestamp|start_time|duration)":("[^"]*"|[0-9.]+)|ccm-[0-9]+`)

// TestSequential: prefetching statuses and writing files in batches changes no plan, no event and no file. With an
// effect hook one goroutine writes files, otherwise several do.
func TestSequential(t *testing.T) {
	if testing.Short() {
		t.Skip("makes random sites: make test-all")
	}
	isolate(t)
	dir := t.TempDir()
	root, site := filepath.Join(dir, "root"), filepath.Join(dir, "site.lua")
	outcome := func(sequential, asked bool, seed uint64, command string) (events string, files []string) {
		entangle(t, rand.New(rand.NewPCG(seed, 1)), root)
		t.Setenv("CCM_STATE_DIR", filepath.Join(t.TempDir(), "state"))
		var effect func(op, path string) error
		if asked {
			effect = func(string, string) error { return nil }
		}
		var out, errs bytes.Buffer
		e := newEnv(strings.NewReader(""), &out, &errs, hosttest.Clock{})
		e.Effect = effect
		e.Sequential = sequential
		status := run(t.Context(), e, []string{command, "--output", "json", "-v", "--root", root, site})
		return fmt.Sprint(status, "\n", passing.ReplaceAllString(out.String(), "$1"), errs.String()), disk(t, root)
	}
	seeds := uint64(4) // even ones are entangled, odd ones calm
	if os.Getenv(growthEnv) != "" {
		seeds = 20
	}
	for seed := range seeds {
		require.NoError(t, os.WriteFile(site, []byte(entangled(rand.New(rand.NewPCG(seed, 2)), root, seed%2 == 1)), 0o600))
		for _, command := range []string{"plan", "run"} {
			want, wantFiles := outcome(true, false, seed, command)
			for _, asked := range []bool{false, true} {
				got, files := outcome(false, asked, seed, command)
				wantLines, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
				for i := range min(len(wantLines), len(lines)) {
					require.Equal(t, wantLines[i], lines[i], "seed %d: %s", seed, command)
				}
				require.Len(t, lines, len(wantLines))
				require.Equal(t, wantFiles, files, "seed %d: %s", seed, command)
			}
		}
	}
}
