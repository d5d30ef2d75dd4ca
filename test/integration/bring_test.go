//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
)

// bringGit copies this machine's git to the lab, which has none: its files, and the libraries that the lab lacks. It
// has to work with the lab's C library.
func (l *lab) bringGit() {
	l.t.Helper()
	git, err := exec.LookPath("git")
	require.NoError(l.t, err, "this test wants git on the machine that runs it")
	core, err := exec.CommandContext(l.t.Context(), git, "--exec-path").Output()
	require.NoError(l.t, err)
	files := []string{git, strings.TrimSpace(string(core))}
	for _, name := range []string{"git-upload-pack", "git-receive-pack"} {
		files = append(files, filepath.Join(filepath.Dir(git), name))
	}
	l.bring(append(files, l.missing(git)...)...)
	l.sh("git --version")
}

// library matches a line of ldd: a name and its file.
var library = regexp.MustCompile(`(?m)^\t\S+ => (/\S+) `)

// missing returns the libraries of a program that the lab lacks.
func (l *lab) missing(program string) (files []string) {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), "ldd", program).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	for _, m := range library.FindAllStringSubmatch(string(out), -1) {
		if l.exec("test", "-e", m[1]).status != 0 {
			files = append(files, m[1])
		}
	}
	return files
}

// bring copies files and directories of this machine to the same paths in the lab.
func (l *lab) bring(files ...string) {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), "files.tar")
	args := []string{"-C", "/", "-cf", file}
	for _, f := range files {
		// A directory on the path may be a link here and in the lab.
		dir, err := filepath.EvalSymlinks(filepath.Dir(f))
		require.NoError(l.t, err)
		f = filepath.Join(dir, filepath.Base(f))
		args = append(args, f[1:])
		if target, err := filepath.EvalSymlinks(f); err == nil && target != f && strings.Contains(f, ".so") {
			args = append(args, target[1:])
		}
	}
	out, err := exec.CommandContext(l.t.Context(), "tar", args...).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	out, err = exec.CommandContext(l.t.Context(), labCommand, "cp", l.name, file, "/srv/files.tar").CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	l.sh("tar -C / -xf /srv/files.tar; rm /srv/files.tar")
}

// bringPackages installs Debian packages that the lab lacks. This machine's apt downloads them; if it cannot, the
// test is skipped, or fails if CI is set.
func (l *lab) bringPackages(names ...string) {
	l.t.Helper()
	dir := l.t.TempDir()
	cmd := exec.CommandContext(l.t.Context(), "apt-get", append([]string{"download", "-q"}, names...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		give := l.t.Skipf
		if os.Getenv("CI") != "" {
			give = l.t.Fatalf
		}
		give("apt-get download %s: %v: this test needs a Debian mirror\n%s", strings.Join(names, " "), err, out)
	}
	out, err := exec.CommandContext(l.t.Context(), labCommand, "cp", l.name, dir, "/srv/packages").CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	l.sh("apt-get install -q -y /srv/packages/*.deb; rm -r /srv/packages")
}
