package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goreleaser/nfpm/v2"
	deb "github.com/knqyf263/go-deb-version"
	rpm "github.com/knqyf263/go-rpm-version"
	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestRelease: make package knows all keys of release.yaml.
func TestRelease(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, releaseFile))
	require.NoError(t, err)
	r, err := readRelease(filepath.Join(root, releaseFile))
	require.NoError(t, err)
	require.Equal(t, []string{"deb", "rpm", "apk"}, r.NFPMs[0].Formats)

	for from, to := range map[string]string{"bindir:": "bin_dir:", "maintainer:": "maintainers:"} {
		wrong := filepath.Join(t.TempDir(), "wrong.yaml")
		require.NoError(t, os.WriteFile(wrong, []byte(strings.Replace(string(text), from, to, 1)), 0o644))
		_, err := readRelease(wrong)
		require.ErrorContains(t, err, "field "+strings.TrimSuffix(to, ":")+" not found")
	}
}

// TestSystems: each system of the README can be built, and no other.
func TestSystems(t *testing.T) {
	r, err := readRelease(filepath.Join(root, releaseFile))
	require.NoError(t, err)
	for target, ok := range map[string]bool{
		"amd64": true, "arm64": true, "armv7": true, "riscv64": true, "darwin-amd64": true, "darwin-arm64": true, "freebsd-amd64": true,
		"armv6": false, "386": false, "darwin-riscv64": false, "freebsd-arm64": false, "windows-amd64": false, "linux-amd64": true,
	} {
		_, err := r.Builds[0].target(facts{}, target)
		require.Equal(t, ok, err == nil, "%s: %v", target, err)
	}
}

// TestInstalledPaths: packages install the paths that units and documentation name.
func TestInstalledPaths(t *testing.T) {
	r, err := readRelease(filepath.Join(root, releaseFile))
	require.NoError(t, err)
	b := &builder{root: root, release: r, facts: facts{Version: "1.0.0", Os: "linux", Arch: "amd64", CommitDate: "2026-11-23T12:00:00Z"}}
	for _, format := range r.NFPMs[0].Formats {
		info, err := b.info(b.facts, format, "/x/ccm")
		require.NoError(t, err)
		paths := make(map[string]bool)
		for _, c := range info.Contents {
			if c.Packager == "" || c.Packager == format {
				paths[c.Destination] = true
			}
		}
		require.Equal(t, format != "apk", paths["/usr/lib/systemd/system/ccm-run.timer"], format)
		require.Equal(t, format != "apk", paths["/usr/lib/systemd/system/ccm-agent.service"], format)
		for _, path := range []string{"/usr/bin/ccm", "/etc/ccm", "/usr/share/man/man1/", "/usr/share/bash-completion/completions/ccm"} {
			require.True(t, paths[path], "%s has no %s", format, path)
		}
	}
	unit, err := os.ReadFile(filepath.Join(root, ".ci/packaging/ccm-run.service"))
	require.NoError(t, err)
	require.Contains(t, string(unit), "\nExecStart=/usr/bin/ccm run /etc/ccm/site.lua\n")
	unit, err = os.ReadFile(filepath.Join(root, ".ci/packaging/ccm-agent.service"))
	require.NoError(t, err)
	require.Contains(t, string(unit), "\nExecStart=/usr/bin/ccm agent\n")
}

// TestFileNames: each package system has its own names of architectures.
func TestFileNames(t *testing.T) {
	for arch, want := range map[string][]string{
		"amd64":   {"ccm_1.0.0-1_amd64.deb", "ccm-1.0.0-1.x86_64.rpm", "ccm_1.0.0-r1_x86_64.apk"},
		"arm64":   {"ccm_1.0.0-1_arm64.deb", "ccm-1.0.0-1.aarch64.rpm", "ccm_1.0.0-r1_aarch64.apk"},
		"arm7":    {"ccm_1.0.0-1_armhf.deb", "ccm-1.0.0-1.armv7hl.rpm", "ccm_1.0.0-r1_armv7.apk"},
		"riscv64": {"ccm_1.0.0-1_riscv64.deb", "ccm-1.0.0-1.riscv64.rpm", "ccm_1.0.0-r1_riscv64.apk"},
	} {
		for i, format := range []string{"deb", "rpm", "apk"} {
			packager, err := nfpm.Get(format)
			require.NoError(t, err)
			info := nfpm.WithDefaults(&nfpm.Info{Name: "ccm", Arch: arch, Version: "1.0.0", Release: "1"})
			require.Equal(t, want[i], packager.ConventionalFileName(info))
			require.Equal(t, strings.Replace(want[i], "1.0.0", "*", 1), anyVersion(packager, *info))
		}
	}
}

// TestRemoveOthers: the new files replace other versions of the same files for the same architecture, and nothing
// else.
func TestRemoveOthers(t *testing.T) {
	dir := t.TempDir()
	b := &builder{out: dir}
	f := facts{Version: "1.1.0", Arch: "amd64", ConventionalFileName: "ccm_1.1.0-1_amd64.deb", anyConventionalFileName: "ccm_*-1_amd64.deb"}
	for _, x := range [][2]string{{"{{ .ConventionalFileName }}", ""}, {"ccm_{{ .Version }}_{{ .Arch }}", ".tar.gz"}} {
		name, err := b.expandName(f, x[0], x[1])
		require.NoError(t, err)
		b.made = append(b.made, name)
	}
	stay := []string{"ccm-1.0.0-1.x86_64.rpm", "ccm_1.0.0-1_arm64.deb", "ccm_1.1.0-1_amd64.deb", "ccm_1.1.0_amd64.tar.gz", "other_1.0.0-1_amd64.deb"}
	for _, name := range append([]string{"ccm_1.0.0~pre20261123225958+gabc-1_amd64.deb", "ccm_1.0.0_amd64.tar.gz"}, stay...) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	require.NoError(t, b.removeOthers())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	require.Equal(t, stay, left)
}

// TestChangelog: a release takes the fragments into the changelog, by kind, above the entries of before.
func TestChangelog(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	script, err := os.ReadFile(filepath.Join(root, ".ci/changelog/release"))
	require.NoError(t, err)
	write(".ci/changelog/release", string(script))
	write("CHANGELOG.md", "# Changelog\n\n## [0.1.0] - 2026-11-28\n\nFirst.\n")
	write(".ci/changelog/unreleased/b.md", "kind: fixed\n\nOne mistake\nless.\n")
	release := func() error {
		_, err := output(dir, filepath.Join(dir, ".ci/changelog/release"), "0.2.0", "2026-12-24")
		return err
	}
	write(".ci/changelog/unreleased/a.md", "kind: other\n\nA.\n")
	require.Error(t, release(), "an unknown kind")
	write(".ci/changelog/unreleased/a.md", "kind: added\n\nA.\n")
	require.NoError(t, release())
	text, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	require.NoError(t, err)
	require.Equal(t, "# Changelog\n\n## [0.2.0] - 2026-12-24\n\n### Added\n\n- A.\n\n### Fixed\n\n- One mistake\n  less.\n\n"+
		"## [0.1.0] - 2026-11-28\n\nFirst.\n", string(text))
	require.Error(t, release(), "no fragments")
}

// TestVersions: versions of later commits and releases are higher, in each package system.
func TestVersions(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(root, ".ci/version"))
	require.NoError(t, err)
	dir := t.TempDir()
	at := "2026-11-23T23:59:58+01:00"
	git := func(argv ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x.invalid", "-c", "commit.gpgsign=false"}, argv...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_COMMITTER_DATE="+at, "GIT_AUTHOR_DATE="+at)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	version := func() string {
		t.Helper()
		v, err := output(dir, script)
		require.NoError(t, err)
		return v
	}
	require.Equal(t, "0.0.0", version(), "no repository")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte("# Changelog\n\n## [0.1.0] - soon\n\n## [0.0.9] - x\n"), 0o644))
	require.Equal(t, "0.1.0", version(), "no repository, with a changelog")
	git("init", "-q")
	var all []string
	commit := func(tag string) {
		t.Helper()
		git("commit", "-q", "--allow-empty", "-m", "x")
		if tag != "" {
			git("tag", tag)
		}
		all = append(all, version())
	}
	commit("")
	require.Regexp(t, `^0\.1\.0-pre20261123225958\+g[0-9a-f]+$`, all[0])
	at = "2026-11-24T08:00:00-05:00"
	commit("")
	commit("v0.1.0-rc1")
	require.Equal(t, "0.1.0-rc1", all[2])
	at = "2026-11-25T08:00:00Z"
	commit("")
	require.Regexp(t, `^0\.1\.0-rc1\.git20261125080000\+g`, all[3])
	commit("v0.1.0")
	commit("")
	require.Regexp(t, `^0\.1\.1-pre20261125080000\+g`, all[5])
	commit("v0.1.9")
	at = "2026-11-26T08:00:00Z"
	commit("")
	commit("v0.1.10")
	commit("v0.2.0")
	commit("v1.0.0")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	require.Equal(t, "1.0.0", version(), "a file that git does not know")
	git("add", "file")
	require.Equal(t, "1.0.0+dirty", version())

	name := func(format, version string) string {
		packager, err := nfpm.Get(format)
		require.NoError(t, err)
		info := nfpm.WithDefaults(&nfpm.Info{Name: "ccm", Arch: "amd64", Version: version, Release: "1"})
		file := packager.ConventionalFileName(info)
		if format == "deb" {
			return strings.Split(file, "_")[1]
		}
		return strings.TrimSuffix(strings.TrimPrefix(file, "ccm-"), ".x86_64.rpm")
	}
	for i := range all[1:] {
		x, y := rpm.NewVersion(name("rpm", all[i])), rpm.NewVersion(name("rpm", all[i+1]))
		require.Negative(t, x.Compare(y), "%s and %s", x, y)
		older, err := deb.NewVersion(name("deb", all[i]))
		require.NoError(t, err)
		newer, err := deb.NewVersion(name("deb", all[i+1]))
		require.NoError(t, err)
		require.Negative(t, older.Compare(newer), "%s and %s", older, newer)
	}
}

// TestReproducible: two builds of one commit are equal, in any directory and by any user.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the packages twice")
	}
	arch, err := output(".", "go", "env", "GOARCH")
	require.NoError(t, err)
	var sums []string
	for i, env := range [][]string{{"TZ=UTC"}, {"TZ=Asia/Tokyo", "LC_ALL=C", "USER=somebody", "GOFLAGS=-mod=readonly"}} {
		checkout := filepath.Join(t.TempDir(), strings.Repeat("deep/", i)+"checkout")
		_, err := output(".", "git", "clone", "-q", "--no-hardlinks", root, checkout)
		require.NoError(t, err)
		cmd := exec.Command("sh", "-c", "umask $0 && exec go run . -root $1 -out $1/dist $2", []string{"022", "077"}[i], checkout, arch)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		text, err := os.ReadFile(filepath.Join(checkout, "dist", "SHA256SUMS"))
		require.NoError(t, err)
		require.Equal(t, 5, strings.Count(string(text), "\n"))
		sums = append(sums, string(text))
	}
	require.Equal(t, sums[0], sums[1])
}
