//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// app is the step of the site of one clone.
func app(args, does string) step {
	return step{site: "lua/git.lua " + args, does: []string{"git#/srv/app: " + does}}
}

// refused is app for a clone that fails, in the plan and in the run.
func refused(args string, words ...string) step {
	s := app(args, "failed")
	s.errs = map[string][]string{"git#/srv/app": words}
	return s
}

// publishing pushes a commit to the repository: push VERSION.
const publishing = `#!/bin/sh
set -eu
cd /srv/work
echo "$1" > version
git add version
git commit -q -m "$1"
git push -q --force origin main
`

// TestLuaGit clones a repository with the real git, and follows changes of the repository and of the clone.
func TestLuaGit(t *testing.T) {
	l := boot(t, debian)
	l.bringGit()
	l.write("/usr/local/bin/push", []byte(publishing))
	l.sh(`chmod +x /usr/local/bin/push
		git config --global user.name it; git config --global user.email it@example.org
		git init -q --bare -b main /srv/repo.git
		git init -q -b main /srv/work; git -C /srv/work remote add origin /srv/repo.git
		push 1; git -C /srv/work tag -a -m one v1; git -C /srv/work push -q origin v1`)

	// A branch: cloned, followed, left where it is.
	const repo = "/srv/repo.git "
	_, run := l.converge(app(repo+"main", "Cloned the repository"))
	require.Equal(t, "ensure: absent → present", run.event("git#/srv/app").Diff[0].String())
	l.at("1", "main")
	before := l.sh("git -C /srv/app rev-parse HEAD")
	l.sh("push 2")
	l.converge(app(repo+"main keep", "stable"))
	_, run = l.converge(app(repo+"main", "Updated the clone"))
	require.Equal(t, "ref: "+before[:12]+" → main", run.event("git#/srv/app").Diff[0].String())
	l.at("2", "main")

	// The branch was rewritten.
	l.sh("git -C /srv/work reset -q --hard HEAD^; push 2b")
	l.converge(app(repo+"main", "Updated the clone"))
	l.at("2b", "main")

	// An annotated tag, a commit, and a branch again. Without a ref HEAD stays as cloned.
	l.converge(app(repo+"v1", "Updated the clone"))
	l.at("1", "HEAD")
	commit := l.sh("git -C /srv/work rev-parse HEAD")
	l.converge(app(repo+commit, "Updated the clone"))
	l.at("2b", "HEAD")
	l.converge(app(repo+"HEAD", "stable"))
	l.sh("git -C /srv/work tag -f v1 HEAD 2>&1; git -C /srv/work push -q -f origin v1")
	l.converge(app(repo+"v1", "stable"))
	l.converge(app(repo+"main", "stable"))

	// Untracked files stay. Changed files are an error, or discarded with force.
	l.sh("echo mine > /srv/app/mine")
	l.converge(app(repo+"main", "stable"))
	l.sh("echo changed > /srv/app/version; push 3")
	l.converge(refused(repo+"main", "the clone has changes", "force = true"))
	l.says("changed\nmine", "cat /srv/app/version /srv/app/mine")
	l.converge(app(repo+"main force", "Updated the clone"))
	l.at("3", "main")
	l.says("mine", "cat /srv/app/mine")

	// So are local commits.
	l.sh("cd /srv/app; git checkout -q main; echo changed > version; git commit -q -a -m mine")
	l.converge(refused(repo+"main", "the clone has changes"))
	l.says("changed", "cat /srv/app/version")
	l.converge(app(repo+"main force", "Updated the clone"))
	l.at("3", "main")

	// Only a change, also in the index.
	l.sh("cd /srv/app; git rm -q version")
	l.converge(refused(repo+"main", "the clone has changes"))
	l.converge(app(repo+"main force", "Updated the clone"))
	l.at("3", "main")

	// The repository moves, and the ref does not exist.
	l.sh("mv /srv/repo.git /srv/moved.git; git -C /srv/work remote set-url origin /srv/moved.git")
	l.converge(refused(repo+"main", "/srv/repo.git"))
	l.converge(app("file:///srv/moved.git main", "Updated the clone"))
	l.converge(refused("/srv/moved.git nowhere", "no such branch or tag in /srv/moved.git: nowhere"))
	l.at("3", "main")

	l.sh("rm /srv/app/mine") // which would keep the clone
	l.converge(app(repo+"main absent", "Removed the clone"))
	l.sh("! test -e /srv/app")
}

// TestLuaGitRepairs: a clone that failed is made when it is possible, and a directory with other files is not
// changed.
func TestLuaGitRepairs(t *testing.T) {
	l := boot(t, debian)
	l.bringGit()
	s := refused("/srv/repo.git HEAD", "/srv/repo.git")
	s.plan = map[string]string{"git#/srv/app": "Would have cloned the repository"}
	s.retry = map[string]string{"git#/srv/app": "Would have updated the clone"}
	l.converge(s)

	l.sh(`git config --global user.name it; git config --global user.email it@example.org
		git init -q -b main /srv/work; cd /srv/work; echo 1 > version; git add version; git commit -q -m 1
		git clone -q --bare /srv/work /srv/repo.git`)
	l.converge(app("/srv/repo.git HEAD", "Updated the clone"))
	l.at("1", "HEAD")

	// An incomplete clone.
	l.sh("rm -r /srv/app; git init -q /srv/app")
	l.converge(app("/srv/repo.git HEAD", "Updated the clone"))
	l.at("1", "HEAD")

	l.sh("rm -r /srv/app; mkdir /srv/app; echo mine > /srv/app/mine")
	l.converge(refused("/srv/repo.git HEAD", "expected a clone, found a directory with other content"))
	l.says("mine", "cat /srv/app/*")
	l.sh("rm /srv/app/mine")
	l.converge(app("/srv/repo.git HEAD", "Cloned the repository"))
	l.at("1", "HEAD")
}

// at checks the version that is checked out, and its branch; HEAD means none.
func (l *lab) at(version, branch string) {
	l.t.Helper()
	l.says(version+"\n"+branch, "cd /srv/app; cat version; git rev-parse --abbrev-ref HEAD; git status --porcelain --untracked-files=no")
}

// TestLuaGitSubmodules clones a repository with nested submodules, and follows them.
func TestLuaGitSubmodules(t *testing.T) {
	l := boot(t, debian)
	l.bringGit()
	l.sh(`git config --global user.name it; git config --global user.email it@example.org
		git config --global protocol.file.allow always; git config --global init.defaultBranch main
		cd /srv; for r in inner sub main; do git init -q $r; done
		cd inner; echo 1 > f; git add .; git commit -qm 1; cd ..
		cd sub; git submodule -q add /srv/inner inner; git commit -qm 1; cd ..
		cd main; git submodule -q add /srv/sub deps/sub; git commit -qm 1`)
	l.write("/root/site.lua", []byte(`require "std.git" { "/srv/app", url = "/srv/main", ref = "main", submodules = true }`))
	run := func(want string) {
		t.Helper()
		require.Contains(t, l.sh("/opt/ccm/ccm plan /root/site.lua"), map[bool]string{true: "Nothing to do", false: "Would have "}[want == "Nothing to do"])
		require.Contains(t, l.sh("/opt/ccm/ccm run /root/site.lua"), want)
		require.Contains(t, l.sh("/opt/ccm/ccm run /root/site.lua"), "Nothing to do")
	}
	run("Cloned the repository")
	l.says("1", "cat /srv/app/deps/sub/inner/f")
	l.sh("cd /srv/inner; echo 2 > f; git commit -qam 2; cd /srv/sub/inner; git pull -q; cd ..; git commit -qam 2; cd /srv/main/deps/sub; git pull -q; cd ../..; git commit -qam 2")
	run("Updated the clone")
	l.says("2", "cat /srv/app/deps/sub/inner/f")
	l.sh("git -C /srv/app/deps/sub checkout -q HEAD^")
	run("Updated the clone")
	l.sh("cd /srv/app; git submodule deinit -q --all -f")
	run("Updated the clone")
	l.says("2", "cat /srv/app/deps/sub/inner/f")
}
