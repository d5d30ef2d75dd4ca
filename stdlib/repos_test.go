package stdlib_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRPMRepos(t *testing.T) {
	for _, x := range []struct{ name, dir, own, line string }{
		{"yum_repo", "/etc/yum.repos.d/", `exclude = { "kernel*", "x" }, metadata_expire = "6h"`, "exclude=kernel* x\nmetadata_expire=6h\n"},
		{"zypper_repo", "/etc/zypp/repos.d/", `autorefresh = false`, "autorefresh=0\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			auto := map[string]string{"zypper_repo": "autorefresh=1\n"}[x.name]
			full := "# Kept by ccm.\n[x]\nname=x\nbaseurl=https://rpm.example.org/el9\nenabled=1\ngpgcheck=1\ngpgkey=file:///k.asc\n" + auto
			suite{
				name: x.name,
				starts: map[string]map[string]string{
					"nothing": {"/etc/": ""},
					"right":   {x.dir + "x.repo": full},
					"other":   {x.dir + "x.repo": "[x]\nname = X\nbaseurl=http://other\nenabled=0\ngpgcheck=1\n"},
					"more":    {x.dir + "x.repo": full + "proxy=http://p\n"},
				},
				wants: map[string]string{
					"signed":   `{ "x", baseurl = "https://rpm.example.org/el9", gpgkey = "file:///k.asc" }`,
					"all":      `{ "x", title = "The X", mirrorlist = "https://m", enabled = false, gpgcheck = false, repo_gpgcheck = true, priority = 10, ` + x.own + ` }`,
					"metalink": `{ "x", metalink = "https://m" }`,
					"absent":   `{ "x", ensure = "absent" }`,
				},
				phrases: map[string][]string{
					"nothing/signed": {"added the repository"}, "right/signed": {}, "other/signed": {"updated the repository"},
					"more/signed": {"updated the repository"}, "right/absent": {"removed the repository"}, "nothing/absent": {},
				},
				after: map[string]map[string]*string{
					"other/signed": {x.dir + "x.repo": new(full)}, "right/absent": {x.dir + "x.repo": nil},
				},
			}.run(t)
			require.Contains(t, mistake(t, `require "std.`+x.name+`" { "x" }`), x.name+`#x: baseurl: one of baseurl, mirrorlist and metalink is required unless ensure is absent`)
			require.Contains(t, mistake(t, `require "std.`+x.name+`" { "x", baseurl = "http://a\nenabled=1" }`), x.name+`#x: baseurl: expected one line`)
			require.Contains(t, mistake(t, `require "std.`+x.name+`" { "../x", baseurl = "http://a" }`), `name: expected letters, digits, dots, hyphens and underscores, got "../x"`)
		})
	}
}

func TestPackageKey(t *testing.T) {
	const key, other = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nBBBB\n"
	suite{
		name: "package_key",
		starts: map[string]map[string]string{
			"nothing": {"/etc/": ""},
			"right":   {"/etc/apt/keyrings/x.asc": key, "/etc/pki/rpm-gpg/x.asc": key},
			"other":   {"/etc/apt/keyrings/x.asc": other, "/etc/pki/rpm-gpg/x.asc": other},
		},
		wants: map[string]string{
			"apt":     "{ 'x', store = 'apt', key = [[" + key + "]] }",
			"rpm":     "{ 'x', store = 'rpm', key = [[" + key + "]] }",
			"absent":  "{ 'x', store = 'apt', ensure = 'absent' }",
			"removed": "{ 'x', store = 'rpm', key = [[" + key + "]], ensure = 'absent' }",
		},
		phrases: map[string][]string{
			"nothing/apt": {"added the key"}, "right/apt": {}, "right/rpm": {}, "other/rpm": {"updated the key"},
			"right/absent": {"removed the key"}, "nothing/absent": {}, "other/removed": {"removed the key"},
		},
		after: map[string]map[string]*string{
			"nothing/rpm": {"/etc/pki/rpm-gpg/x.asc": new(key)}, "other/apt": {"/etc/apt/keyrings/x.asc": new(key)},
			"right/removed": {"/etc/pki/rpm-gpg/x.asc": nil, "/etc/apt/keyrings/x.asc": new(key)},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.package_key" { "x", store = "apt" }`), `package_key#x: key: is required unless ensure is absent`)
	require.Contains(t, mistake(t, `require "std.package_key" { "x", store = "apt", key = "" }`), `key: expected a key in ASCII armor, got an empty string`)
	require.Contains(t, mistake(t, `require "std.package_key" { "x", store = "apt", key = "https://a/k" }`), `key: expected the key itself, in ASCII armor, got a URL`)
	require.Contains(t, mistake(t, `require "std.package_key" { "x", store = "apt", key = "-----BEGIN PGP PRIVATE KEY BLOCK-----" }`), `key: expected a public key, got a private key`)
}
