package stdlib_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirewall: on a machine that is only a directory nft is not used.
func TestFirewall(t *testing.T) {
	const file, conf = "/etc/nftables.d/ccm-web.nft", "/etc/nftables.conf"
	const include = "include \"/etc/nftables.d/ccm-*.nft\"\n"
	const text = "# Kept by ccm.\ntable inet web\ndelete table inet web\ntable inet web {\nchain kept_by_ccm { }\n  chain a { }\n}\n"
	suite{
		name: "firewall",
		starts: map[string]map[string]string{
			"nothing":   {"/etc/": ""},
			"installed": {conf: "flush ruleset\n"},
			"redhat":    {"/etc/sysconfig/nftables.conf": "# mine\n"},
			"right":     {conf: include, file: text + "# listed as 0123abcd\n"},
			"not read":  {conf: "flush ruleset\n", file: text},
			"other":     {conf: include, file: "# mine\n"},
		},
		wants: map[string]string{
			"rules":  `{ "web", rules = "\n  chain a { }\n" }`,
			"ip":     `{ "web", family = "ip", rules = [[chain b { comment "} {"; } # } ]] }`,
			"absent": `{ "web", ensure = "absent" }`,
		},
		fails: map[string]string{"nothing/rules": "/etc/nftables.conf does not exist (install the package nftables)", "nothing/ip": "/etc/nftables.conf does not exist"},
		phrases: map[string][]string{
			"installed/rules": {"loaded the rules"}, "right/rules": {}, "not read/rules": {"replaced the rules"}, "other/rules": {"replaced the rules"}, "right/ip": {"replaced the rules"},
			"right/absent": {"removed the rules"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"installed/rules": {file: new(text), conf: new("flush ruleset\n" + include)},
			"redhat/rules":    {file: new(text), "/etc/sysconfig/nftables.conf": new("# mine\n" + include)},
			"other/rules":     {file: new(text), conf: new(include)},
			"right/absent":    {file: nil, conf: new(include)},
		},
	}.run(t)
	for args, want := range map[string]string{
		`rules = "chain a { } } table ip x {"`: `rules: unmatched } in the rules`,
		`rules = "chain a {"`:                  `rules: unmatched { in the rules`,
		// nft continues a quoted text on the next line.
		`rules = [[chain a { accept comment "x` + "\n" + `y"; }; }; table ip evil { chain b { accept comment "z"; }]]`: `rules: unmatched } in the rules`,
		`rules = [[chain a { accept comment "x; }]]`: `rules: expected a string without NUL bytes, and quotes in pairs`,
		`rules = [["]]`:            `rules: expected a string without NUL bytes, and quotes in pairs`,
		`rules = "chain a { }\0}"`: `rules: expected a string without NUL bytes, and quotes in pairs`,
		`rules = [[include "/x"]]`: `rules: include is not allowed (read a file of the site with fs.read)`,
		`family = "inet"`:          `rules: is required unless ensure is absent`,
	} {
		require.Contains(t, mistake(t, `require "std.firewall" { "web", `+args+` }`), "firewall#web: "+want)
	}
	require.Contains(t, mistake(t, `require "std.firewall" { "a b", rules = "" }`), `name: expected letters, digits and underscores, got "a b"`)
}
