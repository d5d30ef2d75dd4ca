package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// homeExamples is the folder of the examples on the first page of the website.
const homeExamples = "../../docs/website/examples"

// TestHomeExamplesAreTheSame: the script and the manifest on the first page of the website are the same catalog.
func TestHomeExamplesAreTheSame(t *testing.T) {
	var catalogs []string
	for _, name := range []string{"site.lua", "site.yaml"} {
		output, err := exec.Command("ccm", "catalog", "--output", "json", filepath.Join(homeExamples, name)).CombinedOutput()
		require.NoError(t, err, "%s", output)
		text := regexp.MustCompile(`[^" ]*site\.(lua|yaml)(:[0-9]+)*`).ReplaceAllString(string(output), "site")
		catalogs = append(catalogs, regexp.MustCompile(`(?m)^ *"(line|column)": [0-9]+,?\n`).ReplaceAllString(text, ""))
	}
	require.Equal(t, catalogs[0], catalogs[1])
	require.Contains(t, catalogs[0], "app.conf")
}

// TestHomeShell: the shell script on the first page does what it is compared with. It runs in a directory.
func TestHomeShell(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the script changes owners")
	}
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(homeExamples, "site.sh"))
	require.NoError(t, err)
	require.Contains(t, string(text), "/etc/myapp")
	script := strings.ReplaceAll(string(text), "/etc/myapp", filepath.Join(dir, "myapp"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "systemctl"), []byte("#!/bin/sh\necho \"$@\" >> "+dir+"/log\n"), 0o755))
	run := func() {
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	conf := filepath.Join(dir, "myapp", "app.conf")
	for range 2 { // the second run has nothing to do
		run()
	}
	require.NoError(t, os.Chmod(conf, 0o600))
	run()
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Equal(t, "reload myapp\nreload myapp\n", string(log))
	content, err := os.ReadFile(conf)
	require.NoError(t, err)
	require.Equal(t, "port = 8080\n", string(content))
	there, err := os.ReadDir(filepath.Dir(conf))
	require.NoError(t, err)
	require.Len(t, there, 1, "temporary files are removed")
	fi, err := os.Stat(conf)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), fi.Mode())
}

// TestPagesWorkflow: the workflow that publishes the website builds it into a new directory and uploads that.
func TestPagesWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../.github/workflows/pages.yml")
	require.NoError(t, err)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Run  string
				With struct{ Path string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &workflow))
	built, uploaded := "", ""
	for _, s := range workflow.Jobs["build"].Steps {
		if args, ok := strings.CutPrefix(s.Run, "go run ./cmd/ccm "); ok {
			args := strings.Fields(strings.ReplaceAll(args, `"$ADDRESS"`, "https://example.org/ccm"))
			built = args[2]
			require.NoFileExists(t, filepath.Join("../..", built))
			require.NoDirExists(t, filepath.Join("../..", built))
			cmd := exec.Command("ccm", args...)
			cmd.Dir = t.TempDir()
			output, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", output)
			require.FileExists(t, filepath.Join(cmd.Dir, built, "sitemap.xml"))
		}
		uploaded += s.With.Path
	}
	require.NotEmpty(t, built)
	require.Equal(t, built, uploaded)
}
