//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A repository of dnf, its key and a package of it, in one run.
func TestYumRepo(t *testing.T) {
	l := boot(t, rhel)
	l.sh("mkdir /srv/extra; cp /srv/ccm-lab/held/*.rpm /srv/extra; createrepo_c -q /srv/extra")
	l.converge(step{
		site: "lua/yum.lua present",
		does: []string{"package_key#test: Added the key", "yum_repo#extra: Added the repository", "package#ccm-demo-rpm: Installed version 3.0"},
	})
	l.says("1", "rpm -q gpg-pubkey | wc -l")
	l.sh("rpm -e --allmatches gpg-pubkey")
	l.converge(step{site: "lua/yum.lua present", does: []string{"package_key#test: Imported the key", "yum_repo#extra: stable", "package#ccm-demo-rpm: stable"}})
	l.converge(step{site: "lua/yum.lua absent", does: []string{"package_key#test: Removed the key", "yum_repo#extra: Removed the repository"}})
	l.says("ccm-lab.repo\npackage gpg-pubkey is not installed", "ls /etc/yum.repos.d /etc/pki/rpm-gpg | grep repo$; rpm -q gpg-pubkey || :")

	// A repository that cannot be read is removed again, so that the next run tries again.
	out := l.exec("/opt/ccm/ccm", "ensure", "yum_repo", "broken", "--baseurl", "file:///nosuch")
	require.Equal(t, 4, out.status)
	require.Contains(t, out.stdout, "Failed to download metadata for repo 'broken'")
	l.says("ccm-lab.repo", "ls /etc/yum.repos.d")
}

// A key with which the index cannot be verified does not replace the old key.
func TestAptRepoKey(t *testing.T) {
	l := boot(t, debian)
	out := l.exec("/opt/ccm/ccm", "ensure", "apt_repo", "x", "--uris", "file:/nosuch", "--suites", "./", "--key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n")
	require.Equal(t, 4, out.status)
	require.Contains(t, out.stdout, "apt-get")
	l.says("", "find /etc/apt -name 'x.*'")
	l.sh("echo old > /etc/apt/keyrings/x.asc; echo Types: deb > /etc/apt/sources.list.d/x.sources")
	l.exec("/opt/ccm/ccm", "ensure", "apt_repo", "x", "--uris", "file:/nosuch", "--suites", "./", "--key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n")
	l.says("old\nTypes: deb", "cat /etc/apt/keyrings/x.asc /etc/apt/sources.list.d/x.sources")
}
