package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestFreshMachine: what looks at what an earlier pending resource makes is planned
// as the run has it, in Lua and in YAML. D stands for an empty directory; behind each
// resource is what the plan and the run say of it. Behind unknown stand the first of
// those because of whom, or if there are commas all, and the forecast.
func TestFreshMachine(t *testing.T) {
	for name, resources := range map[string][]string{
		"source with an edge": {
			"file D/a content=x pending changed",
			"file D/b source=D/a require=file#D/a pending changed",
		},
		"source without an edge, and something stable between": {
			"file D/a content=x pending changed",
			"file D/z ensure=absent stable stable",
			"file D/b source=D/a pending changed",
		},
		"templates": {
			"file D/t ensure=directory mode=0755 pending changed",
			"file D/t/one content=x pending changed",
			"scaffold D/out source=D/t pending changed",
		},
		"guard that is made": {
			"file D/guard content=#!/bin/sh mode=0755 pending changed",
			"exec e command=true unless=D/guard unknown:file#D/guard stable",
		},
		"validate that is made": {
			"file D/check content=#!/bin/sh mode=0755 pending changed",
			"file D/b content=x validate=D/check~%s unknown:file#D/check changed",
		},
		"creates, and a guard that looks at it": {
			"exec mk command=touch~D/x creates=D/x pending changed",
			"exec use command=touch~D/y onlyif=test~-e~D/x pending changed",
		},
		"a command of which nobody knows the effect": {
			"exec mk command=sh~-c~'touch~D/x' pending changed",
			"exec use command=touch~D/y onlyif=ls~D/x unknown:exec#mk changed",
			"file D/c source=D/x unknown:exec#mk changed",
		},
		"parents": {
			"file D/a/b/c ensure=directory mode=0755 pending changed",
			"file D/a/x content=x pending changed",
		},
		"parents of a scaffold": {
			"file D/t ensure=directory mode=0755 pending changed",
			"file D/t/one content=x pending changed",
			"scaffold D/deep/app source=D/t pending changed",
			"file D/deep/x content=x pending changed",
		},
		"a certain failure": {
			"exec date pending changed",
			"file D/no/x content=x failed failed",
		},
		"what is removed": {
			"file D/a content=x pending changed",
			"file D/d ensure=directory mode=0755 pending changed",
			"exec mk command=touch~D/d/x pending changed",
			"exec look command=true onlyif=test~-d~D/d pending changed",
		},
		"source behind a link": {
			"link D/l target=/etc pending changed",
			"file D/x source=D/l/passwd pending changed",
			"exec look command=true onlyif=test~-L~D/l pending changed",
		},
		"what hides behind a directory that may be there": {
			"exec a command=sh~-c~true onlyif=true pending changed",
			"file D/new/deep ensure=directory mode=0755 unknown:exec#a changed",
			"exec b command=sh~-c~true pending changed",
			"file D/new/x content=x require=file#D/new/deep unknown:file#D/new/deep,exec#a,exec#b>pending changed",
		},
		"what comes after something unknown may be skipped": {
			"exec a command=sh~-c~true pending changed",
			"exec u command=true onlyif=ls~D/no unknown:exec#a>stable stable",
			"exec m command=mkdir~-p~D/m require=exec#u pending changed",
			"exec l command=true onlyif=test~-d~D/m unknown:exec#m,exec#a,exec#u>pending changed",
		},
		"the forecast of a refresh is that of what refreshes": {
			"exec a command=sh~-c~true pending changed",
			"exec u command=true onlyif=ls~D/no unknown:exec#a>stable stable",
			"exec r command=true refreshonly=true subscribe=exec#u unknown:exec#u,exec#a>stable stable",
		},
	} {
		for _, file := range []string{"site.lua", "site.yaml"} {
			t.Run(name+"/"+file, func(t *testing.T) {
				isolate(t)
				w := &randomWorld{dir: filepath.Join(t.TempDir(), "D")}
				require.NoError(t, os.Mkdir(w.dir, 0o755))
				planned, ran := w.read(t, resources, file == "site.lua")
				plan, planStatus, err := w.tell(t, t.TempDir(), "plan", nil)
				require.NoError(t, err)
				run, runStatus, err := w.tell(t, t.TempDir(), "run", nil)
				require.NoError(t, err)
				_, text := w.site(nil)
				for _, d := range w.list {
					outcome, because, _ := strings.Cut(planned[d.id()], ":")
					because, forecast, _ := strings.Cut(because, ">")
					require.Equal(t, outcome, plan[d.id()].Outcome, "plan of %s %v\n%s", d.id(), plan[d.id()], text)
					require.Equal(t, ran[d.id()], run[d.id()].Outcome, "run of %s %v\n%s", d.id(), run[d.id()].Errors, text)
					if because != "" {
						n := len(plan[d.id()].Because)
						if !strings.Contains(because, ",") {
							n = 1
						}
						require.Equal(t, because, strings.Join(plan[d.id()].Because[:n], ","), d.id())
						require.NotNil(t, plan[d.id()].Forecast)
					}
					if forecast != "" {
						require.Equal(t, forecast, plan[d.id()].Forecast.Outcome, d.id())
					}
				}
				require.Equal(t, runStatus, planStatus, text)
			})
		}
	}
}

// read reads the lines of TestFreshMachine.
func (w *randomWorld) read(t *testing.T, lines []string, inLua bool) (planned, ran map[string]string) {
	owner, group := hosttest.Me()
	planned, ran = make(map[string]string), make(map[string]string)
	for _, line := range lines {
		words := strings.Fields(strings.NewReplacer("D/", w.dir+"/").Replace(line))
		n := len(words) - 2
		d := declaration{kind: words[0], name: words[1], lua: inLua, after: make(map[string][]string)}
		mode := "0644"
		for _, word := range words[2:n] {
			key, value, _ := strings.Cut(word, "=")
			value = strings.ReplaceAll(value, "~", " ")
			switch key {
			case "require", "subscribe":
				d.after[key] = []string{value}
				continue
			case "mode":
				mode = value
				continue
			case "refreshonly":
				d.props = append(d.props, key, value)
				continue
			case "content":
				value += "\n"
			}
			d.props = append(d.props, key, quoteLua(value))
			if !inLua {
				d.props[len(d.props)-1] = strings.ReplaceAll(quoteLua(value), `\010`, `\n`)
			}
		}
		if d.kind == "file" && !strings.Contains(line, "absent") {
			d.props = append(d.props, "owner", quoteLua(owner), "group", quoteLua(group), "mode", quoteLua(mode))
		}
		w.list = append(w.list, d)
		planned[d.id()], ran[d.id()] = words[n], words[n+1]
	}
	return planned, ran
}

// TestUnknownReason: the reason names what is required, or fits, and not the
// nearest that is pending.
func TestUnknownReason(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	site := filepath.Join(dir, "site.lua")
	owner, group := hosttest.Me()
	require.NoError(t, os.WriteFile(site, []byte(strings.NewReplacer("OWNER", owner, "GROUP", group, "D/", dir+"/").Replace(`
file.defaults { owner = "OWNER", group = "GROUP", mode = "0644" }
exec { "fetch", command = "sh -c 'mkdir D/web'" }
exec { "other", command = "sh -c 'touch D/else'" }
file { "D/srv", ensure = "directory", mode = "0755" }
file { "D/web/site.conf", content = "a\nb\nc\n", require = "exec#fetch" }
file { "D/web/b.conf", content = "a\n" }
file { "D/far/c.conf", content = "a\n" }
`)), 0o600))
	out, stderr, status := ccm(t, nil, "plan", site)
	require.Equal(t, 0, status, out+stderr)
	for _, want := range []string{
		"? file#D/web/site.conf: after exec#fetch (pending): would create, content +3 lines\n    owner OWNER, group GROUP, mode 0644\ndiff --git",
		"? file#D/web/b.conf: after exec#fetch (pending): would create, content +1 line\n",
		"? file#D/far/c.conf: exec#fetch (pending) and exec#other (pending) may make a difference: once what is missing is there, would create, content +1 line\n",
		"+c\n",
	} {
		require.Contains(t, out, strings.NewReplacer("OWNER", owner, "GROUP", group, "D/", dir+"/").Replace(want))
	}
}

// An ordinaryUser runs ccm as somebody who is not root.
type ordinaryUser struct {
	exe string
	own string // a directory of the user's
	as  *syscall.Credential
}

func newOrdinaryUser(t *testing.T) *ordinaryUser {
	exe, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "ccm-user-") // that others can reach
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	u := &ordinaryUser{exe: exe, own: filepath.Join(dir, "own")}
	require.NoError(t, os.Mkdir(u.own, 0o755))
	if os.Geteuid() == 0 {
		u.as = &syscall.Credential{Uid: 65534, Gid: 65534}
		require.NoError(t, os.Chown(u.own, 65534, 65534))
		u.exe = filepath.Join(dir, "ccm")
		text, err := os.ReadFile(exe)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(u.exe, text, 0o755))
	}
	return u
}

// ccm returns what ccm prints, and its exit status.
func (u *ordinaryUser) ccm(args ...string) (string, int) {
	cmd := exec.Command(u.exe, args...)
	cmd.Dir = u.own
	cmd.Env = append(os.Environ(), "TESTSCRIPT_COMMAND=ccm", "CCM_STATE_DIR="+u.own+"/state", "HOME="+u.own)
	cmd.Args[0] = "ccm"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.as}
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// TestPlanOfOrdinaryUser: what needs root is said by a plan, which exits as the run
// does.
func TestPlanOfOrdinaryUser(t *testing.T) {
	u := newOrdinaryUser(t)
	own, site := u.own, filepath.Join(filepath.Dir(u.own), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(strings.ReplaceAll(`
file { "/etc/of-root", content = "x", owner = "-1", group = "-1", mode = "0644" }
file { "OWN/given", content = "x", owner = "0", group = "-1", mode = "0644" }
file { "OWN/mine", content = "x", owner = "-1", group = "-1", mode = "0644" }
`, "OWN", own)), 0o644))
	plan, status := u.ccm("plan", site)
	require.Equal(t, 4, status, plan)
	require.Contains(t, plan, "x file#/etc/of-root: failed: would fail: needs root: /etc may not be written by uid ")
	require.Contains(t, plan, "x file#"+own+"/given: failed: would fail: needs root: only root can give "+own+"/given to another user")
	require.Contains(t, plan, "+ file#"+own+"/mine: Would have created the file")
	run, status := u.ccm("run", site)
	require.Equal(t, 4, status, run)
	require.Contains(t, run, "x file#/etc/of-root: failed: ")
	require.Contains(t, run, "x file#"+own+"/given: failed: ")
	require.Contains(t, run, "+ file#"+own+"/mine: Created the file")
}

// TestStateOfAnother: others than root believe no state directory but their own, by
// whatever way they are led to it.
func TestStateOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make directories of two users")
	}
	u := newOrdinaryUser(t)
	theirs, link := filepath.Join(filepath.Dir(u.own), "theirs"), filepath.Join(u.own, "link")
	require.NoError(t, os.Mkdir(theirs, 0o755))
	require.NoError(t, os.Symlink(theirs, link))
	site := filepath.Join(filepath.Dir(u.own), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(strings.ReplaceAll(
		`file { "OWN/made", content = "x", owner = "-1", group = "-1", mode = "0644" }`, "OWN", u.own)), 0o644))
	for _, dir := range []string{theirs, link} {
		for _, args := range [][]string{{"run", site}, {"history"}, {"undo"}} {
			out, status := u.ccm(append(args, "--state-dir", dir)...)
			require.Equal(t, 1, status, out)
			require.Contains(t, out, "found one that belongs to root")
		}
	}
	require.NoFileExists(t, filepath.Join(u.own, "made"))
	made, err := os.ReadDir(theirs)
	require.NoError(t, err)
	require.Empty(t, made)
	out, status := u.ccm("run", site)
	require.Equal(t, 0, status, out)
}
