package main

import (
	"encoding/base64"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// workflows returns the workflows in docs/ci.md: that of GitHub, and that of GitLab.
func workflows(t *testing.T) (list []map[string]any) {
	t.Helper()
	text, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	for _, part := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```\n")
		var workflow map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(block), &workflow), block)
		list = append(list, workflow)
	}
	require.Len(t, list, 2)
	return list
}

// TestWorkflowsOfCI: the ccm commands of the workflows in docs/ci.md have the flags that these give them.
func TestWorkflowsOfCI(t *testing.T) {
	var counts []int
	for _, workflow := range workflows(t) {
		commands := 0
		for _, line := range textsOf(workflow) {
			command, _, _ := strings.Cut(line, " > ")
			words, err := shellquote.Split(strings.TrimPrefix(command, "sudo "))
			if err != nil || len(words) < 2 || words[0] != "ccm" {
				continue
			}
			commands++
			e := newEnv(strings.NewReader(""), io.Discard, io.Discard, hosttest.Clock{})
			e.Args = words[1:]
			cmd, args, err := newRootCommand(e).Find(e.Args)
			require.NoError(t, err, line)
			require.NoError(t, cmd.ParseFlags(args), line)
		}
		counts = append(counts, commands)
	}
	require.Equal(t, []int{6, 6}, counts)
}

// stepsOf returns the shell commands of a job, in their order.
func stepsOf(job map[string]any) (steps []string) {
	for _, key := range []string{"before_script", "script"} {
		if lines, ok := job[key].([]any); ok {
			for _, line := range lines {
				steps = append(steps, line.(string))
			}
		}
	}
	list, _ := job["steps"].([]any)
	for _, step := range list {
		if line, ok := step.(map[string]any)["run"].(string); ok {
			steps = append(steps, line)
		}
	}
	return steps
}

// TestStepsOfCI: the steps of the workflows in docs/ci.md work, in a repository with a change to a site. Programs that
// need a forge, a network, a system or a fleet only record their arguments.
func TestStepsOfCI(t *testing.T) {
	for _, program := range []string{"git", "ssh-keygen", "bash", "base64"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	real, err := exec.LookPath("realccm")
	require.NoError(t, err)
	for n, forge := range []string{"GitHub", "GitLab"} {
		t.Run(forge, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string, mode os.FileMode) {
				t.Helper()
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
			}
			record := "#!/bin/sh\necho \"${0##*/} $*\" >> " + dir + "/calls\n"
			for _, name := range []string{"gh", "curl", "apt-get"} {
				write("bin/"+name, record, 0o755)
			}
			write("bin/sudo", "#!/bin/sh\nexec \"$@\"\n", 0o755)
			write("bin/ccm", record+"case \"$1 $2\" in 'fleet release'|'test --system') exit ;; esac\nexec "+real+" \"$@\"\n", 0o755)
			temp := filepath.Join(dir, "temp")
			env := append(os.Environ(),
				"PATH="+dir+"/bin:"+os.Getenv("PATH"), "HOME="+dir, "CCM_STATE_DIR="+dir+"/state", "CCM_CACHE_DIR="+dir+"/cache", "RUNNER_TEMP="+temp,
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.invalid", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.invalid",
				"GITHUB_BASE_REF=main", "GITHUB_STEP_SUMMARY="+dir+"/summary", "NUMBER=7",
				"CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "CI_API_V4_URL=https://gitlab.invalid/api/v4", "CI_PROJECT_ID=3", "CI_MERGE_REQUEST_IID=7", "PLAN_TOKEN=secret")
			sh := func(in, script string) {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
				cmd.Dir, cmd.Env = filepath.Join(dir, in), env
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s\n%s", script, out)
			}
			require.NoError(t, os.Mkdir(temp, 0o700))
			write("fleet/config.yaml", "", 0o600)
			sh("", "ssh-keygen -q -t ed25519 -N '' -f signing; tar -cz fleet | base64 > packed; rm -r fleet")
			key, err := os.ReadFile(filepath.Join(dir, "signing"))
			require.NoError(t, err)
			packed, err := os.ReadFile(filepath.Join(dir, "packed"))
			require.NoError(t, err)
			_, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(string(packed), "\n", ""))
			require.NoError(t, err)
			if forge == "GitHub" { // its secrets are texts, those of GitLab are files
				env = append(env, "SIGNING_KEY="+string(key), "FLEET="+string(packed))
			} else {
				env = append(env, "SIGNING_KEY="+dir+"/signing", "FLEET="+dir+"/packed")
			}

			const site = `file { "/etc/ccm-ci-test", content = "%", owner = "root", group = "root", mode = "0644" }`
			write("origin/site.lua", strings.Replace(site, "%", "one", 1)+"\n", 0o644)
			write("origin/site_spec.lua", `it("converges", function() catalog("site.lua", {}):converge() end)`+"\n", 0o644)
			sh("origin", "git init -q -b main; git add .; git commit -qm one; git clone -q . ../work")
			write("work/site.lua", strings.Replace(site, "%", "two", 1)+"\n", 0o644)
			sh("work", "git checkout -qb change; git commit -qam two")

			workflow := workflows(t)[n]
			jobs := workflow
			if inner, ok := workflow["jobs"].(map[string]any); ok {
				jobs = inner
			}
			for _, name := range []string{"default", "check", "plan", "release"} {
				if job, ok := jobs[name].(map[string]any); ok {
					for _, step := range stepsOf(job) {
						sh("work", strings.ReplaceAll(step, "/tmp", temp))
					}
				}
			}
			plan, err := os.ReadFile(filepath.Join(dir, "work/plan.md"))
			require.NoError(t, err)
			require.Contains(t, string(plan), "/etc/ccm-ci-test")
			require.Contains(t, string(plan), "1 planned differently")
			calls, err := os.ReadFile(filepath.Join(dir, "calls"))
			require.NoError(t, err)
			for _, want := range []string{
				`(?m)^ccm test --system debian:12.* --reboot --report junit.xml \.$`,
				`(?m)^(gh pr comment 7 --body-file plan.md .*|curl .*--data-urlencode body@plan.md https://gitlab.invalid/api/v4/projects/3/merge_requests/7/notes)$`,
				`(?m)^ccm fleet release prod ` + regexp.QuoteMeta(temp) + `/site.tar.gz --fleet ` + regexp.QuoteMeta(temp) + `/fleet --sign .*/key --canary labels.role == "canary"$`,
			} {
				require.Regexp(t, want, string(calls))
			}
			write("signers", "ci "+readText(t, filepath.Join(dir, "signing.pub")), 0o644)
			sh("", "ccm plan temp/site.tar.gz --signers signers; test -e temp/fleet/config.yaml")
		})
	}
}

// readText returns the text of a file.
func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
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
