package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestFreshMachine: a resource that depends on the effects of an earlier pending one is planned as the run does it,
// in Lua and in YAML. D stands for an empty directory; after each resource are its outcomes in the plan and in the
// run. After unknown and expected (pending and not certain) are the first of the resources that make it unknown, or all of them if there are commas, and the
// forecast.
func TestFreshMachine(t *testing.T) {
	long(t)
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
			"file D/b content=x validate=D/check~%s expected:file#D/check changed",
		},
		"creates, and a guard that looks at it": {
			"exec mk command=touch~D/x creates=D/x pending changed",
			"exec use command=touch~D/y onlyif=test~-e~D/x pending changed",
		},
		"a command of which nobody knows the effect": {
			"exec mk command=sh~-c~'touch~D/x' pending changed",
			"exec use command=touch~D/y onlyif=ls~D/x unknown:exec#mk changed",
			"file D/c source=D/x expected:exec#mk changed",
		},
		"a file whose directory a command may make": {
			"exec mk command=sh~-c~'mkdir~D/u' pending changed",
			"file D/u/a content=x require=exec#mk expected:exec#mk>pending changed",
			"exec use command=touch~D/y onlyif=test~-f~D/u/a unknown:file#D/u/a,exec#mk changed",
			"file D/c source=D/u/a unknown:file#D/u/a,exec#mk changed",
		},
		"a command that names what another resource manages": {
			"exec mk command=sh~-c~'mkdir~-p~D/u'~'echo~D/tmp' pending changed",
			"file D/u ensure=directory mode=0755 unknown:exec#mk>pending stable",
			"file D/tmp ensure=absent unknown:exec#mk>stable stable",
			"file D/a content=x pending changed",
		},
		"a command that names something in a directory": {
			"file D/u ensure=directory mode=0755 pending changed",
			"exec mk command=sh~-c~'umask~077;~touch~D/u/new' pending changed",
			"directory D/u recurse=true mode=0644 unknown:exec#mk>stable changed",
		},
		"one that names what is there": {
			"file D/u ensure=directory mode=0755 pending changed",
			"exec mk command=sh~-c~'mkdir~-p~D/u' pending changed",
			"file D/u/a content=x pending changed",
		},
		"one that names it from its directory": {
			"exec mk command=sh~-c~'mkdir~-p~u/v' cwd=D/ pending changed",
			"file D/u ensure=directory mode=0755 unknown:exec#mk>pending stable",
			"file D/v ensure=directory mode=0755 pending changed",
		},
		"a source that does not exist": {
			"directory D/copy source=D/gone failed failed",
		},
		"a directory that would be copied into itself": {
			"file D/t ensure=directory mode=0755 pending changed",
			"directory D/t/copy source=D/t failed failed",
			"directory D/t purge=true source=D/t/sub failed failed",
			"directory D/t/other source=D/t exclude={\"other\",\"copy\"} pending changed",
		},
		"a scaffold in its own source": {
			"file D/t ensure=directory mode=0755 pending changed",
			"file D/t/sub ensure=directory mode=0755 pending changed",
			"scaffold D/t/app source=D/t failed failed",
			"scaffold D/t purge=true source=D/t/sub failed failed",
		},
		"a link that leads nowhere is in the way": {
			"file D/t ensure=directory mode=0755 pending changed",
			"link D/l target=nowhere pending changed",
			"directory D/l/copy source=D/t failed failed",
		},
		"a package that is only planned": {
			"apply child.yaml noop=true failed failed",
			"package nowhere ensure=present in=child.yaml failed failed",
		},
		"what fails because of what is only planned, or of what is done": {
			"exec a command=sh~-c~true pending changed",
			"apply child.yaml noop=true stable stable",
			"file D/x content=x in=child.yaml pending pending",
			"file D/no/y content=x in=child.yaml unknown:file#D/x,exec#a>failed unknown",
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
		"below a link that is pending": {
			"file D/real ensure=directory mode=0755 pending changed",
			"link D/l target=D/real pending changed",
			"file D/l/x content=x pending changed",
			"file D/real/x content=x stable stable",
		},
		"what an unknown command may do is known": {
			"file D/guard content=#!/bin/sh mode=0755 pending changed",
			"exec t command=true unless=D/guard unknown:file#D/guard stable",
			"exec m command=mkdir~D/m unless=D/guard unknown:file#D/guard stable",
			"file D/no/x content=x failed failed",
			"exec look command=true onlyif=test~-d~D/m unknown:exec#m>pending stable",
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
		"directories that are made for a file of which something is unknown": {
			"exec a command=sh~-c~true pending changed",
			"file D/new/deep/b content=x parents=true expected:exec#a>pending changed",
			"file D/new ensure=directory mode=0755 unknown:file#D/new/deep/b,exec#a stable",
		},
		"directories that are made for a link of which something is unknown": {
			"exec a command=sh~-c~true pending changed",
			"exec u command=true onlyif=ls~D/no unknown:exec#a>stable stable",
			"link D/new/deep/b target=x parents=true require=exec#u pending changed",
			"file D/new ensure=directory mode=0755 unknown:link#D/new/deep/b stable",
		},
		"what hides behind a directory that may be there": {
			"exec a command=sh~-c~true onlyif=true pending changed",
			"file D/new/deep ensure=directory mode=0755 unknown:exec#a changed",
			"exec b command=sh~-c~true pending changed",
			"file D/new/x content=x require=file#D/new/deep expected:file#D/new/deep,exec#a,exec#b>pending changed",
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
				w.checkTold(t, resources, file == "site.lua")
			})
		}
	}
}

// TestPlanOfUsersRole: on a machine without the users of examples/roles, nothing about them is unknown.
func TestPlanOfUsersRole(t *testing.T) {
	isolate(t)
	root := t.TempDir()
	for name, text := range map[string]string{
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n", "etc/skel/.profile": "umask 022\n", "home/.keep": "", "bin/bash": "",
	} {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	out, stderr, status := ccm(t, nil, "plan", "--root", root, "../../examples/roles/users/site.lua")
	require.Equal(t, 0, status, out+stderr)
	require.Contains(t, out, "+ authorized_key#foo1: Would have added the key")
	require.Contains(t, out, "+ block#foo: Would have added the block")
	require.NotContains(t, out, "? ")
	require.NotContains(t, out, "unknown")
}

// TestUnknownReason: the reason is a required or matching resource, not just the nearest pending one.
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
		"+ file#D/web/site.conf: after exec#fetch (pending): would create (3 lines, OWNER:GROUP 0644)\n",
		"+ file#D/web/b.conf: after exec#fetch (pending): would create (1 line, OWNER:GROUP 0644)\n",
		"+ file#D/far/c.conf: needs something that exec#fetch (pending) and exec#other (pending) may create: would create (1 line, OWNER:GROUP 0644)\n",
	} {
		require.Contains(t, out, strings.NewReplacer("OWNER", owner, "GROUP", group, "D/", dir+"/").Replace(want))
	}
}

// TestManySuspects: of very many resources that may make another one unknown, a plan lists the most likely ones and
// counts the others.
func TestManySuspects(t *testing.T) {
	isolate(t)
	site := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(`
for i = 1, 130 do exec { "e" .. i, command = "sh -c true" } end
exec { "guarded", command = "true", unless = "ls /" }
`), 0o600))
	out, stderr, status := ccm(t, nil, "plan", site)
	require.Equal(t, 0, status, out+stderr)
	require.Contains(t, out, "? exec#guarded: unknown before exec#e1 (pending), exec#e2 (pending), exec#e3 (pending) and 127 others; now: nothing to do\n")
	out, _, _ = ccm(t, nil, "plan", "--output", "json", site)
	var last struct {
		Because     []string
		BecauseMore int `json:"because_more"`
		Reason      string
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"name":"guarded"`) {
			require.NoError(t, json.Unmarshal([]byte(line), &last))
		}
	}
	require.Len(t, last.Because, 100)
	require.Equal(t, 30, last.BecauseMore)
	require.Equal(t, "depends on exec#e1, exec#e2, exec#e3 and 127 others, which are pending", last.Reason)
}

// An ordinaryUser runs ccm as a user other than root.
type ordinaryUser struct {
	exe string
	own string // a directory of the user
	as  *syscall.Credential
}

func newOrdinaryUser(t *testing.T) *ordinaryUser {
	exe, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "ccm-user-") // accessible to others
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

// ccm returns the output of ccm and its exit status.
func (u *ordinaryUser) ccm(args ...string) (string, int) {
	cmd := exec.Command(u.exe, args...)
	cmd.Dir = u.own
	cmd.Env = append(os.Environ(), "TESTSCRIPT_COMMAND=ccm", "CCM_STATE_DIR="+u.own+"/state", "HOME="+u.own)
	cmd.Args[0] = "ccm"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.as}
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// TestPlanOfOrdinaryUser: a plan says what needs root, and has the exit status of the run.
func TestPlanOfOrdinaryUser(t *testing.T) {
	u := newOrdinaryUser(t)
	own, site := u.own, filepath.Join(filepath.Dir(u.own), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(strings.ReplaceAll(`
exec { "opaque", command = "sh -c 'echo x'" }
exec { "id", user = "root" }
file { "/etc/of-root", content = "x", owner = "-1", group = "-1", mode = "0644" }
require "std.sysctl" { "vm.swappiness", value = "7", path = "OWN/sysctl" }
require "std.user" { "ccm-nobody" }
require "std.cron" { "ccm-job", command = "true", schedule = "@daily" }
file { "OWN/given", content = "x", owner = "0", group = "-1", mode = "0644" }
file { "OWN/mine", content = "x", owner = "-1", group = "-1", mode = "0644" }
`, "OWN", own)), 0o644))
	plan, status := u.ccm("plan", site)
	require.Equal(t, 4, status, plan)
	require.Contains(t, plan, "x file#/etc/of-root: failed: needs root: /etc is not writable by uid ")
	for _, want := range []string{
		"x sysctl#vm.swappiness: failed: needs root: only root can change the owner of /proc/sys/vm/swappiness",
		"x user#ccm-nobody: failed: needs root: only root can change users and groups",
		"x cron#ccm-job: failed: needs root: /etc",
		"x exec#id: failed: only root can run a command as root",
	} {
		require.Contains(t, plan, want)
	}
	require.Equal(t, 1, strings.Count(plan, "--sudo"))
	require.Contains(t, plan, "6 resources fail for lack of permission: run it as root with --sudo\n")
	out, status := u.ccm("ensure", "file", "/etc/of-root", "--content", "x", "--owner", "-1", "--group", "-1", "--mode", "0644")
	require.Equal(t, 1, strings.Count(out, "1 resource fails for lack of permission: run it as root with --sudo\n"), out)
	require.NotZero(t, status)
	require.Contains(t, plan, "x file#"+own+"/given: failed: needs root: only root can change the owner of "+own+"/given")
	require.Contains(t, plan, "+ file#"+own+"/mine: Would have created the file")
	run, status := u.ccm("run", site)
	require.Equal(t, 4, status, run)
	require.Contains(t, run, "x file#/etc/of-root: failed: ")
	require.Contains(t, run, "x file#"+own+"/given: failed: ")
	require.Contains(t, run, "+ file#"+own+"/mine: Created the file")
}

// TestStateOfAnother: users other than root trust only their own state directory, however they are led to another
// one.
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
