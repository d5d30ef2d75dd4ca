package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
)

// A hostileTool is a resource with the tools for it, whose output is hostile.
type hostileTool struct {
	site  string
	tools []string
	reply string // output of the tools that is valid except for one word, EVIL; "" if there is none
}

var hostileTools = map[string]hostileTool{
	"apt": {`package { "zsh", "curl", ensure = "1.0", provider = "apt" }`, []string{"dpkg-query", "apt-cache", "apt-get", "apt-mark", "dpkg"},
		`for p in zsh curl; do printf '%s 1.0EVIL all installed install %s\thttp://example.com\tA package\n more of it\n' "$p" "$p"; done`},
	"dnf": {`package { "zsh", "curl", ensure = "1.0-1", provider = "dnf" }`, []string{"rpm", "dnf"},
		`for p in zsh curl; do printf '%s 0 1.0EVIL 1 noarch\tMIT\thttp://example.com\tA package\nmore of it\n\036\n' "$p"; done`},
	"pacman": {`package { "zsh", "curl", ensure = "1.0", provider = "pacman" }`, []string{"pacman", "vercmp"},
		`for p in zsh curl; do printf 'Name : %s\nVersion : 1.1EVIL\nDescription : EVIL\n\n' "$p"; done`},
	"zypper": {`package { "zsh", "curl", ensure = "latest", provider = "zypper" }`, []string{"rpm", "zypper"}, ""},
	"apk":    {`package { "zsh", "curl", ensure = "latest", provider = "apk" }`, []string{"apk"}, `printf 'zsh policy:\n  1.0EVIL:\n    lib/apk/db/installed\n'`},
	"brew":   {`package { "zsh", "curl", provider = "brew" }`, []string{"brew"}, ""},
	"pkg":    {`package { "zsh", "curl", provider = "pkg" }`, []string{"pkg"}, `printf 'zsh\t1.0EVIL\tFreeBSD\thttp://example.com\tA package\n'`},
	"systemd": {`service { "one", "two", ensure = "running", enable = true, provider = "systemd" }`, []string{"systemctl", "journalctl"},
		`for u in one two; do printf 'Id=%s.service\nNames=%s.service\nLoadState=loaded\nActiveState=failedEVIL\nSubState=EVIL\nUnitFileState=EVIL\nFragmentPath=/lib/EVIL\nNeedDaemonReload=no\nType=simple\n\n' $u $u; done`},
	"npm": {`require "std.language_package" { "p", manager = "npm" }`, []string{"npm"}, ""},
	"gem": {`require "std.language_package" { "p", manager = "gem" }`, []string{"gem"}, ""},
	"pip": {`require "std.language_package" { "p", manager = "pip" }`, []string{"python3", "pip"}, ""},
}

// forgery imitates the report of a changed resource.
const forgery = `\n+ package#zsh: Installed\r+ package#curl: Installed\n1 resource: 1 changed (0s)\n`

// answers are the actions of the tools, in the language of the shell.
var answers = map[string]string{
	"evil":          `printf '` + evilShell + `'; printf '` + evilShell + `' >&2`,
	"evil failure":  `printf '` + evilShell + `'; printf '` + evilShell + `' >&2; exit 1`,
	"forged":        `printf '` + forgery + `'; printf '` + forgery + `' >&2`,
	"forged, fails": `printf '` + forgery + `'; printf '` + forgery + `' >&2; exit 1`,
	"silence":       ``,
}

// command returns a run of a site with only these tools. In its mounts systemd seems to run.
func (x tools) command(t *testing.T, site string, options ...string) *exec.Cmd {
	program, err := exec.LookPath("ccm")
	require.NoError(t, err)
	words := append([]string{program, "run", "--diff", "full", "--state-dir", t.TempDir()}, options...)
	cmd := inOwnMounts(t, "/bin/mount -t tmpfs run /run; /bin/mkdir -p /run/systemd/system; export PATH="+x.dir, append(words, siteFile(t, "lua", site))...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=xterm"}
	return cmd
}

// all returns the same script for each tool.
func (h hostileTool) all(text string) map[string]string {
	scripts := make(map[string]string)
	for _, name := range h.tools {
		scripts[name] = text
	}
	return scripts
}

// Whatever tools for packages and services print, the terminal shows only text, no line imitates the report, and an
// invalid answer is a failure.
func TestHostileAnswersOfTools(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	needPTY(t)
	for name, h := range hostileTools {
		all := map[string]string{"word": strings.ReplaceAll(h.reply, "EVIL", octals(strings.NewReplacer("\r", "", "\x00", "").Replace(evilText)))}
		maps.Copy(all, answers)
		for answer, text := range all {
			if text == "" && answer == "word" {
				continue
			}
			t.Run(name+" "+answer, func(t *testing.T) {
				t.Parallel()
				x := newTools(t, h.all(text))
				cmd := x.command(t, h.site)
				out := onTerminal(t, cmd)
				require.Empty(t, harmful(out, "terminal"), "%q", out)
				plain := ownSequences.ReplaceAllString(out, "")
				require.NotRegexp(t, `(?m)^\+ package#|^1 resource: 1 changed`, plain)
				require.NotEmpty(t, strings.Trim(strings.Join(x.started(t), ""), "\n"), "no tool was asked: %s", plain)
				require.Equal(t, cli.ExitFailed, cmd.ProcessState.ExitCode(), "%s", plain)
				if testing.Verbose() {
					t.Log(plain)
				}
			})
		}
	}
}

// A tool that prints for ever uses no more memory than the kept part of its output.
func TestEndlessAnswersOfTools(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	for name, h := range hostileTools {
		for answer, text := range map[string]string{
			"lines": `exec /usr/bin/yes`, "one line": `exec /bin/cat /dev/zero`, "mistakes": `exec /usr/bin/yes >&2`,
		} {
			t.Run(name+" "+answer, func(t *testing.T) {
				t.Parallel()
				x := newTools(t, h.all(text))
				cmd := x.command(t, h.site, "--timeout", "1s")
				most := measured(t, cmd)
				out, err := cmd.CombinedOutput()
				require.Error(t, err, "%s", out)
				require.Contains(t, string(out), "run exceeded the time limit of 1s")
				require.Less(t, len(out), 64<<10)
				require.Less(t, most(), int64(400<<10), "KiB")
			})
		}
	}
}

// A tool that hangs and ignores signals ends with the timeout of the run, and with the second interrupt.
func TestHangingTools(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	const hang = `trap '' TERM INT HUP; echo $$ > "${0%/*}/hangs~"; /bin/mv "${0%/*}/hangs~" "${0%/*}/hangs"; while :; do /bin/sleep 1; done`
	for name, h := range hostileTools {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTools(t, h.all(hang))
			pid := filepath.Join(x.dir, "hangs")
			ended := func() {
				text, err := os.ReadFile(pid)
				require.NoError(t, err)
				n, err := strconv.Atoi(strings.TrimSpace(string(text)))
				require.NoError(t, err)
				require.ErrorIs(t, syscall.Kill(n, 0), syscall.ESRCH, "the tool goes on")
				require.NoError(t, os.Remove(pid))
			}
			out, err := x.command(t, h.site, "--timeout", "300ms").CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Contains(t, string(out), "run exceeded the time limit of 300ms")
			ended()

			cmd := x.command(t, h.site)
			require.NoError(t, cmd.Start())
			appears(t, pid)
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM)) // two equal signals may arrive as one
			_ = cmd.Wait()
			require.Equal(t, cli.ExitInterrupted, cmd.ProcessState.ExitCode())
			ended()
		})
	}
}
