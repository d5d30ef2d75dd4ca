package machine_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/site/machine"
)

// A package of priority important is part of most base systems, and reported only if somebody installed it or changed
// something of it.
func TestScanOfUsualPackages(t *testing.T) {
	tr := debian.with(tree{
		"var/lib/dpkg/info/nftables.list": "/.\n/etc\n/etc/nftables.conf\n",
		"var/lib/dpkg/info/vim-tiny.list": "/.\n/etc\n",
		"etc/nftables.conf":               "flush ruleset\n",
	})
	tr["var/lib/dpkg/status"] += "\nPackage: nftables\nStatus: install ok installed\nPriority: important\nArchitecture: amd64\nConffiles:\n /etc/nftables.conf " +
		digest("flush ruleset\n") + "\n\nPackage: vim-tiny\nStatus: install ok installed\nPriority: important\nArchitecture: amd64\n"
	o := machine.Options{Only: []string{"packages", "files"}}
	require.Equal(t, []string{"package#shop"}, ids(scan(t, tr, o)))
	tr["etc/nftables.conf"] = "table inet filter {}\n"
	require.Equal(t, []string{"package#nftables", "package#shop", "file#/etc/nftables.conf"}, ids(scan(t, tr, o)))
	tr["var/log/apt/history.log"] = "Start-Date: 2026-01-01\nCommandline: apt-get install vim-tiny\nInstall: libx:amd64 (1, automatic), vim-tiny:amd64 (2:9)\n"
	require.Equal(t, []string{"package#nftables", "package#shop", "package#vim-tiny", "file#/etc/nftables.conf"}, ids(scan(t, tr, o)))
}

// A job needs the package that runs it, whoever ships its directory, and also if the installer had installed it.
func TestScanOfWhatReadsFiles(t *testing.T) {
	tr := debian.with(tree{
		"var/lib/dpkg/info/cron.list": "/.\n/etc\n/etc/cron.d\n/etc/cron.d/other\n", "var/lib/dpkg/info/other.list": "/.\n/etc\n/etc/cron.d\n",
		"var/lib/dpkg/info/sudo.list": "/.\n/etc\n", "etc/cron.d/other": "",
	})
	tr["var/lib/dpkg/status"] += "\nPackage: cron\nStatus: install ok installed\nPriority: important\nArchitecture: amd64\n" +
		"\nPackage: other\nStatus: install ok installed\nPriority: required\nArchitecture: amd64\n" +
		"\nPackage: sudo\nStatus: install ok installed\nPriority: optional\nArchitecture: amd64\n"
	tr["var/log/installer/initial-status.gz"] = packed("Package: sudo\n\n")
	o := machine.Options{Only: []string{"packages", "files"}}
	require.Equal(t, []string{"package#shop"}, ids(scan(t, tr, o)))
	job := tr.with(tree{"etc/cron.d/job": "0 4 * * * root true\n"})
	require.Equal(t, []string{"package#cron", "package#shop", "file#/etc/cron.d/job"}, ids(scan(t, job, o)))
	crontab := tr.with(tree{"var/spool/cron/crontabs/ada": "0 4 * * * true\n"})
	require.Equal(t, []string{"package#cron", "package#shop", "file#/var/spool/cron/crontabs/ada"}, ids(scan(t, crontab, o)))
	rule := tr.with(tree{"etc/sudoers.d/ada": "ada ALL=(ALL) ALL\n"})
	require.Equal(t, []string{"package#sudo", "package#shop", "directory#/etc/sudoers.d", "file#/etc/sudoers.d/ada"}, ids(scan(t, rule, o)))
}

// A damaged database of dpkg is reported. Files of packages that it lost are not files without a package, and no other
// database counts instead.
func TestScanOfDamage(t *testing.T) {
	o := machine.Options{Only: []string{"packages", "files"}}
	require.Empty(t, scan(t, debian, o).Damage)
	tr := debian.with(tree{"var/lib/dpkg/info/lost.list": "/.\n/etc\n/etc/lost.conf\n", "etc/lost.conf": "x\n", "var/lib/pacman/local/shop-1.0-1/desc": "%NAME%\nshop\n"})
	s := scan(t, tr, o)
	require.Equal(t, "/var/lib/dpkg/status lacks 1 package that /var/lib/dpkg/info has, such as lost (dpkg keeps copies in /var/backups)", s.Damage)
	require.Equal(t, []string{"package#shop"}, ids(s))
	tr["var/lib/dpkg/status"] = ""
	s = scan(t, tr, o)
	require.Regexp(t, `^/var/lib/dpkg/status lacks \d packages that`, s.Damage)
	require.Empty(t, s.Manager)
	require.Empty(t, ids(s))
	require.Equal(t, "the package database is needed to find changed files", left(s, "files"))
	tr = debian.with(tree{})
	for n := range 20 {
		tr["var/lib/dpkg/status"] += fmt.Sprintf("\nPackage: p%d\nStatus: install ok installed\nArchitecture: all\nPriority: required\n", n)
	}
	s = scan(t, tr, o)
	require.Regexp(t, `^/var/lib/dpkg/info has no list of the files of \d+ packages, which count as files without a package$`, s.Damage)
}

// packed returns a text packed with gzip.
func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}
