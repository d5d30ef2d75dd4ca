package stdlib_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestLink(t *testing.T) {
	owner, group := hosttest.Me()
	suite{
		name: "link",
		starts: map[string]map[string]string{
			"nothing":   {"/d/": ""},
			"right":     {"/d/l": "->target"},
			"elsewhere": {"/d/l": "->other"},
			"file":      {"/d/l": "text"},
			"directory": {"/d/l/": ""},
			"no parent": {"/e/": ""},
		},
		wants: map[string]string{
			"link":   `{ "/d/l", target = "target" }`,
			"owned":  fmt.Sprintf(`{ "/d/l", target = "target", owner = %q, group = %q }`, owner, group),
			"absent": `{ "/d/l", ensure = "absent" }`,
		},
		fails: map[string]string{
			"file/link": "expected a symbolic link, found a file, which is not replaced", "file/owned": "found a file", "file/absent": "found a file",
			"directory/link": "found a directory", "directory/owned": "found a directory", "directory/absent": "found a directory",
			"no parent/link": "does not exist", "no parent/owned": "does not exist",
		},
		phrases: map[string][]string{
			"nothing/link": {"created the link"}, "elsewhere/link": {"updated the link"}, "right/link": {}, "right/owned": {},
			"right/absent": {"removed the link"}, "nothing/absent": {},
		},
	}.run(t)
}

func TestDirectory(t *testing.T) {
	site := t.TempDir()
	require.NoError(t, plant(site, map[string]string{
		"www/index.html": "<html>", "www/css/a.css": "a", "www/css/b.css": "b", "www/empty/": "", "www/x.bak": "old", "www/run.sh": "#!/bin/sh\n",
		"odd/l": "->x",
	}))
	require.NoError(t, os.Chmod(site+"/www/run.sh", 0o755))
	owner, group := hosttest.Me()
	suite{
		name: "directory",
		starts: map[string]map[string]string{
			"nothing": {"/srv/": ""},
			"right":   {"/srv/www/index.html": "<html>", "/srv/www/css/a.css": "a", "/srv/www/css/b.css": "b", "/srv/www/empty/": "", "/srv/www/run.sh": "#!/bin/sh\n"},
			"more":    {"/srv/www/index.html": "old", "/srv/www/more/x/y": "", "/srv/www/l": "->index.html", "/srv/www/x.bak": "mine"},
			"file":    {"/srv/www": "text"},
			"clash":   {"/srv/www/css": "a file"},
		},
		wants: map[string]string{
			"copy":   fmt.Sprintf(`{ "/srv/www", source = %q, exclude = { "*.bak" } }`, site+"/www"),
			"purge":  fmt.Sprintf(`{ "/srv/www", source = %q, exclude = "*.bak", purge = true }`, site+"/www"),
			"modes":  fmt.Sprintf(`{ "/srv/www", source = %q, exclude = "*.bak", mode = "0640", dir_mode = "0750", owner = %q, group = %q }`, site+"/www", owner, group),
			"odd":    fmt.Sprintf(`{ "/srv/www", source = %q }`, site+"/odd"),
			"absent": `{ "/srv/www", ensure = "absent" }`,
			"gone":   fmt.Sprintf(`{ "/srv/www", source = %q }`, site+"/gone"),
		},
		fails: map[string]string{
			"nothing/gone": "no such file or directory", "right/gone": "no such file or directory", "more/gone": "no such file or directory",
			"clash/gone": "no such file or directory", "file/gone": "found a file",
			"right/absent": "no record of a run that created /srv/www/css, ", "more/absent": "no record of a run that created ", "clash/absent": "no record of a run that created /srv/www/css, ",
			"file/copy": "expected a directory, found a file", "file/purge": "found a file", "file/modes": "found a file", "file/absent": "found a file",
			"file/odd": "found a file", "clash/copy": "expected a directory, found a file", "clash/purge": "found a file", "clash/modes": "found a file",
			"nothing/odd": "l: expected files and directories, found a link", "right/odd": "found a link", "more/odd": "found a link", "clash/odd": "found a link",
		},
		phrases: map[string][]string{
			"nothing/copy": {"created the directory"}, "right/copy": {}, "right/purge": {}, "right/modes": {"updated the attributes of 7 entries"},
			"more/copy": {"copied 6 entries"}, "more/purge": {"copied 6 entries, purged 5 entries"}, "nothing/absent": {}, "more/absent": {"removed the directory"},
		},
		after: map[string]map[string]*string{
			"more/copy":  {"/srv/www/index.html": new("<html>"), "/srv/www/more/x/y": new(""), "/srv/www/x.bak": new("mine")},
			"more/purge": {"/srv/www/css/b.css": new("b"), "/srv/www/more": nil, "/srv/www/x.bak": nil, "/srv/www/l": nil},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:27: directory#/: path: expected a directory below /`, mistake(t, `require "std.directory" { "/", ensure = "absent" }`))
}

// gitMachine is a machine with git, whose user has no configuration of git.
type gitMachine struct{}

func (gitMachine) Run(ctx context.Context, c host.Cmd) (host.Result, error) {
	c.Env = append(c.Env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME=/nonexistent")
	return command.Exec{}.Run(ctx, c)
}

func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed; .ci/run installs it")
	}
	origin := t.TempDir()
	run := func(dir string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	commit := func(text string) string {
		require.NoError(t, os.WriteFile(origin+"/f", []byte(text), 0o644))
		run(origin, "add", "f")
		run(origin, "commit", "-q", "-m", text)
		return run(origin, "rev-parse", "HEAD")
	}
	run(origin, "init", "-q")
	first := commit("one")
	run(origin, "tag", "-a", "-m", "v1", "v1")
	run(origin, "branch", "stable")
	old := filepath.Join(t.TempDir(), "old") // a clone from before the second commit
	run(origin, "clone", "-q", origin, old)
	commit("two")

	clone := func(change func(dir string)) func(root string) host.Runner {
		return func(root string) host.Runner {
			require.NoError(t, os.CopyFS(root+"/srv/app", os.DirFS(old)))
			change(root + "/srv/app")
			return gitMachine{}
		}
	}
	wants := map[string]string{
		"main":   fmt.Sprintf(`{ "/srv/app", url = %q, ref = "main" }`, origin),
		"stable": fmt.Sprintf(`{ "/srv/app", url = %q, ref = "stable" }`, origin),
		"tag":    fmt.Sprintf(`{ "/srv/app", url = %q, ref = "v1" }`, origin),
		"commit": fmt.Sprintf(`{ "/srv/app", url = %q, ref = %q }`, origin, first),
		"head":   fmt.Sprintf(`{ "/srv/app", url = %q }`, origin),
		"kept":   fmt.Sprintf(`{ "/srv/app", url = %q, ref = "main", update = false }`, origin),
		"force":  fmt.Sprintf(`{ "/srv/app", url = %q, ref = "main", force = true }`, origin),
		"absent": `{ "/srv/app", ensure = "absent" }`,
	}
	suite{
		name: "git", wants: wants, machine: func(string) host.Runner { return gitMachine{} },
		starts: map[string]map[string]string{"nothing": {"/srv/": ""}, "empty": {"/srv/app/": ""}, "no parent": {}},
		after: map[string]map[string]*string{
			"nothing/main": {"/srv/app/f": new("two")}, "nothing/tag": {"/srv/app/f": new("one")}, "empty/commit": {"/srv/app/f": new("one")},
			"nothing/head": {"/srv/app/f": new("two")}, "nothing/stable": {"/srv/app/f": new("one")},
		},
		phrases: map[string][]string{"nothing/main": {"cloned the repository"}, "nothing/absent": {}},
	}.run(t)
	suite{
		name: "git", wants: wants, machine: clone(func(string) {}),
		starts: map[string]map[string]string{"cloned": {}},
		phrases: map[string][]string{
			"cloned/main": {"updated the clone"}, "cloned/tag": {}, "cloned/commit": {}, "cloned/stable": {}, "cloned/head": {}, "cloned/kept": {},
		},
		after: map[string]map[string]*string{"cloned/main": {"/srv/app/f": new("two")}, "cloned/kept": {"/srv/app/f": new("one")}},
	}.run(t)
	some := map[string]string{"main": wants["main"], "force": wants["force"], "absent": wants["absent"]}
	for kept, change := range map[string]func(dir string){
		"uncommitted changes (f)":                       func(dir string) { require.NoError(t, os.WriteFile(dir+"/f", []byte("mine"), 0o644)) },
		"local commits that the server does not have (": func(dir string) { run(dir, "commit", "-q", "--allow-empty", "-m", "mine") },
	} {
		suite{
			name: "git", wants: some, machine: clone(change),
			fails:  map[string]string{"changed/main": "the clone has changes (discard them with force = true)", "changed/absent": "/srv/app has " + kept},
			starts: map[string]map[string]string{"changed": {}},
			after:  map[string]map[string]*string{"changed/force": {"/srv/app/f": new("two")}},
		}.run(t)
	}
	for kept, change := range map[string]func(dir string){
		"untracked files (new and 1 more)": func(dir string) {
			require.NoError(t, errors.Join(os.WriteFile(dir+"/new", nil, 0o644), os.WriteFile(dir+"/newer", nil, 0o644)))
		},
		"ignored files (f.o)": func(dir string) {
			require.NoError(t, errors.Join(os.WriteFile(dir+"/.git/info/exclude", []byte("*.o\n"), 0o644), os.WriteFile(dir+"/f.o", nil, 0o644)))
		},
		"stashes (On main: mine)": func(dir string) {
			require.NoError(t, os.WriteFile(dir+"/f", []byte("mine"), 0o644))
			run(dir, "stash", "push", "-q", "-m", "mine")
		},
		"a repository that git cannot read": func(dir string) { require.NoError(t, os.Remove(dir+"/.git/HEAD")) },
	} {
		suite{
			name: "git", machine: clone(change), wants: map[string]string{"absent": wants["absent"]}, starts: map[string]map[string]string{"changed": {}},
			fails: map[string]string{"changed/absent": "/srv/app has " + kept + " (remove it too with --with-data or with_data = true)"},
		}.run(t)
	}
	suite{
		name: "git", machine: func(string) host.Runner { return gitMachine{} },
		starts: map[string]map[string]string{"nothing": {"/srv/": ""}, "other": {"/srv/app/x": ""}, "file": {"/srv/app": ""}},
		wants: map[string]string{
			"no ref": fmt.Sprintf(`{ "/srv/app", url = %q, ref = "nope" }`, origin),
			"no url": `{ "/srv/app", url = "/no/such/repository", ref = "main" }`,
		},
		fails: map[string]string{
			"nothing/no ref": "no such branch or tag", "nothing/no url": "/no/such/repository",
			"other/no ref": "found a directory with other content", "other/no url": "with other content",
			"file/no ref": "expected a directory, found a file", "file/no url": "found a file",
		},
	}.run(t)
}

// Without a source, the directory and, with recurse, all files in it get the wanted owner and mode; files that
// exclude matches are not changed.
func TestDirectoryRecurse(t *testing.T) {
	owner, group := hosttest.Me()
	suite{
		name: "directory",
		starts: map[string]map[string]string{
			"nothing": {"/srv/": ""},
			"tree":    {"/srv/a/bin/": "", "/srv/a/x": "x", "/srv/a/keep/y": "y", "/srv/a/l": "->x"},
		},
		wants: map[string]string{
			"open":   `{ "/srv/a", mode = "u=rwX,go=rX", recurse = true, exclude = "keep" }`,
			"closed": fmt.Sprintf(`{ "/srv/a", mode = "go-rwx", recurse = true, owner = %q, group = %q }`, owner, group),
			"octal":  `{ "/srv/a", mode = "0600", dir_mode = "0750", recurse = true }`,
			"top":    `{ "/srv/a", mode = "u=rwx,go=" }`,
		},
		phrases: map[string][]string{
			"nothing/open": {"created the directory"}, "nothing/top": {"created the directory"}, "tree/open": {},
			"tree/closed": {"updated the attributes of 5 entries"}, "tree/octal": {"updated the attributes of 5 entries"}, "tree/top": {"updated the attributes of 1 entry"},
		},
		modes: map[string]map[string]os.FileMode{
			"tree/closed": {"/srv/a": 0o700, "/srv/a/bin": 0o700, "/srv/a/x": 0o600, "/srv/a/keep/y": 0o600},
			"tree/octal":  {"/srv/a": 0o750, "/srv/a/keep": 0o750, "/srv/a/x": 0o600},
			"tree/top":    {"/srv/a": 0o700, "/srv/a/bin": 0o755, "/srv/a/x": 0o644},
			"nothing/top": {"/srv/a": 0o700}, "nothing/octal": {"/srv/a": 0o750},
		},
	}.run(t)
	for properties, want := range map[string]string{
		`source = "x", recurse = true`:     "recurse: cannot be used with source",
		`source = "x", mode = "u=rwX"`:     "mode: a mode such as u=rwX cannot be used with source",
		`mode = "u=rwz"`:                   `mode: expected parts such as u=rwX or go-w, of u, g, o or a, then +, - or =, then r, w, x or X, got "u=rwz"`,
		`mode = "0750"`:                    `mode: applies to files, and requires source or recurse; use dir_mode = "0750" for the directory`,
		`recurse = true`:                   "recurse: requires owner, group, mode or dir_mode",
		`mode = "0999"`:                    `mode: expected octal permissions such as "0644", got "0999"`,
		`mode = "g+X,u+x", recurse = true`: "permissions with the same result when applied again",
	} {
		require.Contains(t, mistake(t, `require "std.directory" { "/srv/a", `+properties+` }`), want)
	}
	for dir, refused := range map[string]bool{
		"/": true, "/etc": true, "/srv": true, "/home": true, "/home/joe": true, "/usr/lib": true, "/var/lib": true, "/var/lib/dpkg": true, "/proc/1": true,
		"/etc/nginx": false, "/home/joe/bin": false, "/usr/local/bin": false, "/var/lib/app": false, "/srv/www": false,
	} {
		found := mistake(t, `require "std.directory" { "`+dir+`", purge = true }`)
		require.Equal(t, refused, strings.Contains(found, "cannot purge "+dir), dir)
	}
}
