package stdlib_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

func TestLine(t *testing.T) {
	suite{
		name: "line",
		starts: map[string]map[string]string{
			"missing": {"/etc/": ""},
			"empty":   {"/etc/x": ""},
			"there":   {"/etc/x": "one\nPort 22\n"},
			"other":   {"/etc/x": "#Port 1\none\nPort 2\ntwo\nPort 3\nend\n"},
			"crlf":    {"/etc/x": "one\r\nPort 2\r\n"},
			"no end":  {"/etc/x": "one\nPort 2"},
			"a link":  {"/etc/y": "", "/etc/x": "->y"},
		},
		wants: map[string]string{
			"line":    `{ "/etc/x", line = "Port 22" }`,
			"match":   `{ "port", path = "/etc/x", line = "Port 22", match = [[^Port\s]] }`,
			"after":   `{ "/etc/x", line = "Port 22", insert_after = "^one" }`,
			"absent":  `{ "/etc/x", line = "Port 22", ensure = "absent" }`,
			"no port": `{ "/etc/x", match = "^Port", ensure = "absent" }`,
		},
		fails: map[string]string{
			"missing/line": "expected a file to edit at /etc/x, found nothing", "missing/match": "found nothing", "missing/after": "found nothing",
			"a link/line": "found a symbolic link", "a link/match": "found a symbolic link", "a link/after": "found a symbolic link",
			"a link/absent": "found a symbolic link", "a link/no port": "found a symbolic link",
		},
		phrases: map[string][]string{
			"missing/absent": {}, "there/line": {}, "there/match": {}, "empty/absent": {}, "other/absent": {},
			"empty/line": {"added the line"}, "other/match": {"replaced the line"}, "there/absent": {"removed the line"},
		},
		after: map[string]map[string]*string{
			"empty/line":    {"/etc/x": new("Port 22\n")},
			"other/line":    {"/etc/x": new("#Port 1\none\nPort 2\ntwo\nPort 3\nend\nPort 22\n")},
			"other/match":   {"/etc/x": new("#Port 1\none\nPort 2\ntwo\nPort 22\nend\n")},
			"other/after":   {"/etc/x": new("#Port 1\none\nPort 22\nPort 2\ntwo\nPort 3\nend\n")},
			"other/no port": {"/etc/x": new("#Port 1\none\ntwo\nend\n")},
			"crlf/match":    {"/etc/x": new("one\r\nPort 22\r\n")},
			"no end/line":   {"/etc/x": new("one\nPort 2\nPort 22")},
			"no end/absent": {"/etc/x": new("one\nPort 2")},
			"there/no port": {"/etc/x": new("one\n")},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:1: line#/x: line is required`, mistake(t, `require "std.line" { "/x" }`))
	require.Equal(t, `site.lua:1:35: line#/x: line: expected one line, got "a\nb"`, mistake(t, `require "std.line" { "/x", line = "a\nb" }`))
}

// TestChangedLines: a text after changes is that of its lines after them, and its lines are known then.
func TestChangedLines(t *testing.T) {
	require.Empty(t, mistake(t, `local lines = require "std.lines"
		for _, eol in ipairs { "\n", "\r\n" } do
			for _, final in ipairs { eol, "" } do
				local text = str.join({ "a", "b", "", "c" }, eol) .. final
				for _, split in ipairs { true, false } do
					for what, changes in pairs {
						["a,b,,c,x"] = { { lines = { "x" } } },
						["x,y,a,b,,c"] = { { from = 1, lines = { "x", "y" } } },
						["a,x,b,y,c"] = { { from = 2, lines = { "x" } }, { from = 3, to = 3, lines = { "y" } } },
						["a,c"] = { { from = 2, to = 3, lines = {} } },
						["a,b,"] = { { from = 4, to = 4, lines = {} } },
						["x,b,,y,z"] = { { from = 1, to = 1, lines = { "x" } }, { from = 4, to = 4, lines = { "y" } }, { from = 5, lines = { "z" } } },
					} do
						if split then lines.of(text) else lines.of("other") end
						local now = lines.changed(text, changes)
						for _, list in ipairs { (lines.of(now)), (lines.split(now)), str.lines(now) } do
							if str.join(list, ",") ~= what then error(inspect(now) .. " for " .. what) end
						end
					end
				end
			end
		end`))
	for text, want := range map[string]string{"": "", "\n": "1", "a\n\na": "1,2,3", "ba\r\na\r\n": "2"} {
		require.Empty(t, mistake(t, fmt.Sprintf(`local found = str.join(require "std.lines".matching(%q, "^a?$"), ",")
			if found ~= %q then error(found) end`, text, want)))
	}
}

// TestLineCreate: a new file has the attributes of create, and an existing one keeps its own.
func TestLineCreate(t *testing.T) {
	suite{
		name:   "line",
		starts: map[string]map[string]string{"missing": {"/etc/": ""}, "there": {"/etc/x": "one\n"}, "nowhere": {"/": ""}},
		wants: map[string]string{
			"true":    `{ "/etc/x", line = "Port 22", create = true }`,
			"private": `{ "/etc/x", line = "Port 22", create = { mode = "0600" } }`,
			"false":   `{ "/etc/x", line = "Port 22", create = false }`,
			"absent":  `{ "/etc/x", line = "Port 22", create = true, ensure = "absent" }`,
		},
		fails: map[string]string{
			"missing/false": "expected a file to edit at /etc/x, found nothing",
			"nowhere/true":  "/etc does not exist", "nowhere/private": "/etc does not exist", "nowhere/false": "found nothing",
		},
		phrases: map[string][]string{
			"missing/true": {"created the file and added the line"}, "there/true": {"added the line"}, "missing/absent": {},
		},
		after: map[string]map[string]*string{
			"missing/true": {"/etc/x": new("Port 22\n")}, "missing/private": {"/etc/x": new("Port 22\n")},
			"there/private": {"/etc/x": new("one\nPort 22\n")}, "missing/absent": {"/etc/x": nil},
		},
		modes: map[string]map[string]os.FileMode{
			"missing/true": {"/etc/x": 0o644}, "missing/private": {"/etc/x": 0o600}, "there/private": {"/etc/x": 0o644},
		},
	}.run(t)
	for name, property := range map[string]string{"kv": "value", "ini": "value", "block": "content"} {
		suite{
			name: name, starts: map[string]map[string]string{"missing": {"/etc/": ""}},
			wants: map[string]string{"made": `{ "a", path = "/etc/x", ` + property + ` = "1", create = { mode = "0640" } }`},
			modes: map[string]map[string]os.FileMode{"missing/made": {"/etc/x": 0o640}},
		}.run(t)
	}
	for create, want := range map[string]string{
		`{ mod = "0600" }`:          `unknown field "mod" (did you mean "mode"?)`,
		`{ mode = 600 }`:            "mode: expected a string, got 600",
		`{ owner = 0, mode = "9" }`: `mode: expected octal permissions such as "0644", got "9"`,
		`{ "0600" }`:                `expected true or a table such as { owner = "root", group = "root", mode = "0644" }, got 0600`,
		`"yes"`:                     `expected true or a table such as { owner = "root", group = "root", mode = "0644" }, got "yes"`,
	} {
		require.Contains(t, mistake(t, `require "std.line" { "/x", line = "a", create = `+create+` }`), "line#/x: create: "+want)
	}
}

// TestLineGroups: the groups of the match are put into the line, and a second run has nothing to do.
func TestLineGroups(t *testing.T) {
	suite{
		name: "line",
		starts: map[string]map[string]string{
			"grub":   {"/etc/x": "A=0\nCMD=\"a b\"\n"},
			"quiet":  {"/etc/x": "CMD=\"a quiet\"\n"},
			"hidden": {"/etc/x": "#deb a\nx\n#deb b\n"},
			"other":  {"/etc/x": "$1 ${1}\n"},
		},
		wants: map[string]string{
			"quiet":   `{ "/etc/x", line = 'CMD="${1} quiet"', match = [[^CMD="(.*?)( quiet)?"$]] }`,
			"dollars": `{ "/etc/x", line = '$$$${1}${HOME}$1=${1}', match = [[^(CMD|\$\$\{1\}.*?=CMD|A)=[^"A]*".*$]], all = true }`,
			"all":     `{ "/etc/x", line = "${1}", match = "^#(deb .)$", all = true }`,
			"again":   `{ "/etc/x", line = '${1}" x="', match = '^(CMD=.*)"$' }`,
			"last":    `{ "/etc/x", line = "${1}", match = "^#(deb .)$" }`,
			"literal": `{ "/etc/x", line = "$1 ${1}" }`,
			"fixed":   `{ "/etc/x", line = "$$5 $1", match = "^(#|A)" }`,
		},
		fails: map[string]string{
			"grub/again": "the next run would replace a line again", "quiet/again": "the next run would replace a line again",
			"hidden/last": "all = true",
		},
		phrases: map[string][]string{
			"quiet/quiet": {}, "hidden/quiet": {}, "grub/all": {}, "other/literal": {}, "grub/quiet": {"replaced the line"},
			"hidden/all": {"replaced the line"},
		},
		after: map[string]map[string]*string{
			"grub/quiet":   {"/etc/x": new("A=0\nCMD=\"a b quiet\"\n")},
			"grub/dollars": {"/etc/x": new("A=0\n$${1}${HOME}$1=CMD\n")},
			"hidden/all":   {"/etc/x": new("deb a\nx\ndeb b\n")},
			"grub/fixed":   {"/etc/x": new("$$5 $1\nCMD=\"a b\"\n")},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.line" { "/x", line = "${2}", match = [[^(?:a)[(]\((b)]] }`), "line: match has 1 groups, got ${2}")
	require.Empty(t, mistake(t, `require "std.line" { "/x", line = "${2}", match = [[^(?P<x>a)(b)]] }`))
	require.Contains(t, mistake(t, `require "std.line" { "/x", line = "a", after = "^b" }`), `unknown property "after" (did you mean "insert_after"?)`)
	require.Contains(t, mistake(t, `require "std.line" { "/x", line = "a", before = "^b" }`), `got "^b" (did you mean insert_before?)`)
	for _, key := range []string{"create = true", `insert_before = "a"`, `insert_after = "a"`} {
		require.Contains(t, mistake(t, `require "std.line" { "/x", line = "${1}", match = "(a)", `+key+` }`), "a line with ${1} can only replace a line, not be added")
	}
}

// TestLinePlaces: the position of a new line, and the number of replaced lines.
func TestLinePlaces(t *testing.T) {
	suite{
		name: "line",
		starts: map[string]map[string]string{
			"sshd": {"/etc/x": "Port 1\nMatch a\n  Port 3\nMatch b\n"},
			"done": {"/etc/x": "Port 22\nPort 1\n"},
		},
		wants: map[string]string{
			"before": `{ "/etc/x", line = "UseDNS no", insert_before = "^Match " }`,
			"after":  `{ "/etc/x", line = "UseDNS no", insert_after = "^Match " }`,
			"end":    `{ "/etc/x", line = "UseDNS no", insert_before = "^Include " }`,
			"all":    `{ "/etc/x", line = "Port 22", match = [[^\s*Port ]], all = true }`,
			"one":    `{ "/etc/x", line = "Port 22", match = [[^\s*Port ]] }`,
			"new":    `{ "/etc/x", line = "UseDNS no", match = "^UseDNS", all = true, insert_before = "^Match " }`,
		},
		phrases: map[string][]string{"done/one": {}, "done/all": {"replaced the line"}, "sshd/new": {"added the line"}},
		after: map[string]map[string]*string{
			"sshd/before": {"/etc/x": new("Port 1\nUseDNS no\nMatch a\n  Port 3\nMatch b\n")},
			"sshd/after":  {"/etc/x": new("Port 1\nMatch a\n  Port 3\nMatch b\nUseDNS no\n")},
			"sshd/end":    {"/etc/x": new("Port 1\nMatch a\n  Port 3\nMatch b\nUseDNS no\n")},
			"sshd/all":    {"/etc/x": new("Port 22\nMatch a\nPort 22\nMatch b\n")},
			"sshd/one":    {"/etc/x": new("Port 1\nMatch a\nPort 22\nMatch b\n")},
			"sshd/new":    {"/etc/x": new("Port 1\nUseDNS no\nMatch a\n  Port 3\nMatch b\n")},
			"done/all":    {"/etc/x": new("Port 22\nPort 22\n")},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.line" { "/x", line = "a", all = true }`), "line#/x: all: requires match")
	require.Contains(t, mistake(t, `require "std.line" { "/x", line = "a", insert_before = "a", insert_after = "b" }`), "insert_before: cannot be used with insert_after")
}

func TestBlock(t *testing.T) {
	suite{
		name: "block",
		starts: map[string]map[string]string{
			"empty":  {"/etc/x": ""},
			"text":   {"/etc/x": "first\nlast\n"},
			"there":  {"/etc/x": "first\n# BEGIN ccm b\none\ntwo\n# END ccm b\nlast\n"},
			"other":  {"/etc/x": "first\n# BEGIN ccm b\nold\n# END ccm b\n# BEGIN ccm c\n# END ccm c\n"},
			"broken": {"/etc/x": "# BEGIN ccm b\nold\n"},
		},
		wants: map[string]string{
			"block":  `{ "b", path = "/etc/x", content = "one\ntwo\n" }`,
			"no end": `{ "b", path = "/etc/x", content = "one\ntwo" }`,
			"after":  `{ "b", path = "/etc/x", content = "one", insert_after = "^first" }`,
			"empty":  `{ "b", path = "/etc/x", content = "" }`,
			"slash":  `{ "b", path = "/etc/x", content = "one", comment = "//" }`,
			"absent": `{ "b", path = "/etc/x", ensure = "absent" }`,
		},
		fails: map[string]string{
			"broken/block": "a marker of the block b is missing", "broken/no end": "missing", "broken/after": "missing",
			"broken/empty": "missing", "broken/absent": "missing",
		},
		phrases: map[string][]string{
			"there/block": {}, "there/no end": {}, "other/block": {"updated the block"}, "text/block": {"added the block"},
			"text/absent": {}, "there/absent": {"removed the block"},
		},
		after: map[string]map[string]*string{
			"empty/block":  {"/etc/x": new("# BEGIN ccm b\none\ntwo\n# END ccm b\n")},
			"text/after":   {"/etc/x": new("first\n# BEGIN ccm b\none\n# END ccm b\nlast\n")},
			"there/after":  {"/etc/x": new("first\n# BEGIN ccm b\none\n# END ccm b\nlast\n")},
			"other/block":  {"/etc/x": new("first\n# BEGIN ccm b\none\ntwo\n# END ccm b\n# BEGIN ccm c\n# END ccm c\n")},
			"there/absent": {"/etc/x": new("first\nlast\n")},
			"text/slash":   {"/etc/x": new("first\nlast\n// BEGIN ccm b\none\n// END ccm b\n")},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:1: block#b: content is required unless ensure is absent`, mistake(t, `require "std.block" { "b", path = "/x" }`))
}

func TestKv(t *testing.T) {
	const sshd = "# comment\n#PermitRootLogin prohibit-password\nPort 22\n\nMatch User bob\n    PermitRootLogin yes\n"
	suite{
		name: "kv",
		starts: map[string]map[string]string{
			"empty":   {"/etc/x": ""},
			"sshd":    {"/etc/x": sshd},
			"there":   {"/etc/x": "  PermitRootLogin   no  \nPort 22\n"},
			"twice":   {"/etc/x": "PermitRootLogin yes\nPort 22\nPermitRootLogin no\n"},
			"no more": {"/etc/x": "PermitRootLogin\n"},
			"near":    {"/etc/x": "PermitRootLoginX no\nxPermitRootLogin no\n"},
		},
		wants: map[string]string{
			"set":    `{ "PermitRootLogin", path = "/etc/x", value = "no", ends_at = "^Match " }`,
			"key":    `{ "any name", path = "/etc/x", key = "PermitRootLogin", value = "no", ends_at = "^Match " }`,
			"new":    `{ "UseDNS", path = "/etc/x", value = "a b", ends_at = "^Match " }`,
			"equals": `{ "a.b", path = "/etc/x", value = "1", separator = " = " }`,
			"absent": `{ "PermitRootLogin", path = "/etc/x", ensure = "absent", ends_at = "^Match " }`,
		},
		phrases: map[string][]string{
			"there/set": {}, "there/key": {}, "twice/set": {"changed the setting"}, "no more/set": {"changed the setting"},
			"sshd/set": {"added the setting"}, "sshd/absent": {}, "twice/absent": {"removed the setting"},
		},
		after: map[string]map[string]*string{
			"empty/set":    {"/etc/x": new("PermitRootLogin no\n")},
			"sshd/set":     {"/etc/x": new("# comment\n#PermitRootLogin prohibit-password\nPermitRootLogin no\nPort 22\n\nMatch User bob\n    PermitRootLogin yes\n")},
			"sshd/new":     {"/etc/x": new("# comment\n#PermitRootLogin prohibit-password\nPort 22\n\nUseDNS a b\nMatch User bob\n    PermitRootLogin yes\n")},
			"twice/set":    {"/etc/x": new("PermitRootLogin no\nPort 22\n")},
			"near/set":     {"/etc/x": new("PermitRootLoginX no\nxPermitRootLogin no\nPermitRootLogin no\n")},
			"empty/equals": {"/etc/x": new("a.b = 1\n")},
			"twice/absent": {"/etc/x": new("Port 22\n")},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:20: kv#a b: name: expected a key without blanks, got "a b"`, mistake(t, `require "std.kv" { "a b", path = "/x", value = "1" }`))
}

func TestIni(t *testing.T) {
	suite{
		name: "ini",
		starts: map[string]map[string]string{
			"empty":   {"/etc/x": ""},
			"there":   {"/etc/x": "listen=0\n\n[server]\n; listen = 9\nlisten = 80\nname = x\n\n[client]\nlisten = 1\n"},
			"twice":   {"/etc/x": "[server]\nlisten = 1\nlisten = 80\n"},
			"other":   {"/etc/x": "[ server ]\n  listen: 8080\n\n[client]\n"},
			"without": {"/etc/x": "[server]\nname = x\n\n[client]\nlisten = 80\n"},
		},
		wants: map[string]string{
			"set":    `{ "listen", path = "/etc/x", section = "server", value = "80" }`,
			"top":    `{ "listen", path = "/etc/x", value = "80" }`,
			"new":    `{ "n", path = "/etc/x", section = "new", key = "a.b", value = "x = y", separator = "=" }`,
			"absent": `{ "listen", path = "/etc/x", section = "server", ensure = "absent" }`,
		},
		phrases: map[string][]string{
			"there/set": {}, "twice/set": {}, "other/set": {"changed the setting"}, "without/set": {"added the setting"},
			"without/absent": {}, "twice/absent": {"removed the setting"},
		},
		after: map[string]map[string]*string{
			"empty/set":    {"/etc/x": new("[server]\nlisten = 80\n")},
			"empty/top":    {"/etc/x": new("listen = 80\n")},
			"there/top":    {"/etc/x": new("listen=80\n\n[server]\n; listen = 9\nlisten = 80\nname = x\n\n[client]\nlisten = 1\n")},
			"other/set":    {"/etc/x": new("[ server ]\n  listen: 80\n\n[client]\n")},
			"other/top":    {"/etc/x": new("listen = 80\n[ server ]\n  listen: 8080\n\n[client]\n")},
			"without/set":  {"/etc/x": new("[server]\nname = x\nlisten = 80\n\n[client]\nlisten = 80\n")},
			"without/new":  {"/etc/x": new("[server]\nname = x\n\n[client]\nlisten = 80\n\n[new]\na.b=x = y\n")},
			"twice/absent": {"/etc/x": new("[server]\n")},
			"there/absent": {"/etc/x": new("listen=0\n\n[server]\n; listen = 9\nname = x\n\n[client]\nlisten = 1\n")},
		},
	}.run(t)
}

// All parts of a section are removed; comments directly above the next section stay.
func TestIniSection(t *testing.T) {
	suite{
		name: "ini",
		starts: map[string]map[string]string{
			"parts": {"/etc/x": "top = 1\n[a]\nx = 1\n# mine\n\n; about b\n# b\n[b]\ny = 2\n[ a ]\nz = 3\n# end"},
			"none":  {"/etc/x": "a = 1\n[b]"},
		},
		wants: map[string]string{
			"section": `{ "no a", path = "/etc/x", section = "a", whole_section = true, ensure = "absent" }`,
			"name":    `{ "a", path = "/etc/x", whole_section = true, ensure = "absent" }`,
		},
		phrases: map[string][]string{"none/section": {}, "parts/name": {"removed the section"}, "parts/section": {"removed the section"}},
		after: map[string]map[string]*string{
			"parts/section": {"/etc/x": new("top = 1\n; about b\n# b\n[b]\ny = 2")},
			"parts/name":    {"/etc/x": new("top = 1\n; about b\n# b\n[b]\ny = 2")},
			"none/name":     {"/etc/x": new("a = 1\n[b]")},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.ini" { "a", path = "/x", value = "1", whole_section = true }`), "whole_section: requires ensure absent")
	require.Contains(t, mistake(t, `require "std.ini" { "a", path = "/x", key = "b", ensure = "absent", whole_section = true }`), "key: cannot be used with whole_section")
}

// TestIniWhere: where selects one of several sections with the same name.
func TestIniWhere(t *testing.T) {
	const path = "/etc/wireguard/wg0.conf"
	two := "[Interface]\nPrivateKey = x=\n\n[Peer]\n# ada\nPublicKey = a=\nAllowedIPs = 10.0.0.2/32\n\n[Peer]\npublickey=b=\nAllowedIPs = 10.0.0.3/32\n"
	const which = "found 2 sections [Peer] (select one with where, by a setting unique to it)"
	suite{
		name: "ini",
		starts: map[string]map[string]string{
			"two":  {path: two},
			"one":  {path: "[Peer]\nPublicKey = a=\n"},
			"none": {path: "[Interface]\nPrivateKey = x=\n"},
			"same": {path: "[Peer]\nPublicKey = b=\n[Peer]\nPublicKey = b=\n"},
		},
		wants: map[string]string{
			"second": `{ "AllowedIPs", path = "` + path + `", section = "Peer", where = { PublicKey = "b=" }, value = "10.0.0.9/32" }`,
			"unsure": `{ "AllowedIPs", path = "` + path + `", section = "Peer", value = "10.0.0.9/32" }`,
			"gone":   `{ "ada", path = "` + path + `", section = "Peer", where = { PublicKey = "a=" }, whole_section = true, ensure = "absent" }`,
			"key":    `{ "AllowedIPs", path = "` + path + `", section = "Peer", where = { PublicKey = "a=" }, ensure = "absent" }`,
		},
		fails: map[string]string{"two/unsure": which, "same/unsure": which, "same/second": `found 2 sections [Peer] with PublicKey = b=`},
		phrases: map[string][]string{
			"two/second": {"changed the setting"}, "one/second": {"added the setting"}, "one/unsure": {"added the setting"},
			"two/gone": {"removed the section"}, "none/gone": {}, "same/gone": {}, "two/key": {"removed the setting"}, "one/key": {}, "none/key": {},
		},
		after: map[string]map[string]*string{
			"two/second":  {path: new(strings.Replace(two, "10.0.0.3", "10.0.0.9", 1))},
			"two/gone":    {path: new("[Interface]\nPrivateKey = x=\n\n[Peer]\npublickey=b=\nAllowedIPs = 10.0.0.3/32\n")},
			"two/key":     {path: new(strings.Replace(two, "AllowedIPs = 10.0.0.2/32\n", "", 1))},
			"one/second":  {path: new("[Peer]\nPublicKey = a=\n\n[Peer]\nPublicKey = b=\nAllowedIPs = 10.0.0.9/32\n")},
			"none/second": {path: new("[Interface]\nPrivateKey = x=\n\n[Peer]\nPublicKey = b=\nAllowedIPs = 10.0.0.9/32\n")},
		},
	}.run(t)
	for properties, want := range map[string]string{
		`where = { PublicKey = "a" }`:                      "where: requires section",
		`section = "Peer", where = { a = "b" }`:            "where: cannot contain the key itself, a",
		`section = "Peer", where = { PublicKey = "" }`:     "where: expected keys with their values",
		`section = "Peer", where = { ["a=b"] = "c" }`:      "where: expected keys with their values",
		`section = "Peer", where = { PublicKey = "a\nb" }`: "where",
	} {
		require.Contains(t, mistake(t, `require "std.ini" { "a", path = "/x", value = "1", `+properties+` }`), want)
	}
}

// A replacement that the next run would replace again is refused; a stable text is not changed.
func TestReplace(t *testing.T) {
	const found = "found nothing"
	suite{
		name: "replace",
		starts: map[string]map[string]string{
			"old":     {"/etc/x": "a=1\nb = 22\n a=3"},
			"new":     {"/etc/x": "a=8\nb = 22\n"},
			"crlf":    {"/etc/x": "a=1\r\nb = 1\r\n"},
			"missing": {"/etc/": ""},
		},
		wants: map[string]string{
			"lines":  `{ "/etc/x", match = [[^a=\d+]], replacement = "a=8" }`,
			"groups": `{ "n", path = "/etc/x", match = [[(\w) ?= ?(\d\d?)$]], replacement = "${1}=${2}" }`,
			"gone":   `{ "n", path = "/etc/x", match = [[b = \d+\n]], replacement = "" }`,
			"dollar": `{ "n", path = "/etc/x", match = "b", replacement = "$1" }`,
			"grows":  `{ "n", path = "/etc/x", match = "a", replacement = "aa" }`,
			"swaps":  `{ "n", path = "/etc/x", match = [[(\w)( ?= ?)(\w)]], replacement = "${3}${2}${1}" }`,
		},
		fails: map[string]string{
			"missing/lines": found, "missing/groups": found, "missing/gone": found, "missing/dollar": found, "missing/grows": found, "missing/swaps": found,
			"old/grows": "would replace text again", "new/grows": "would replace text again", "crlf/grows": "would replace text again",
			"old/swaps": "would replace text again", "new/swaps": "would replace text again", "crlf/swaps": "would replace text again",
		},
		phrases: map[string][]string{"old/lines": {"replaced the text"}, "new/lines": {}},
		after: map[string]map[string]*string{
			"old/lines":   {"/etc/x": new("a=8\nb = 22\n a=3")},
			"crlf/lines":  {"/etc/x": new("a=8\r\nb = 1\r\n")},
			"old/groups":  {"/etc/x": new("a=1\nb=22\n a=3")},
			"old/gone":    {"/etc/x": new("a=1\n a=3")},
			"new/dollar":  {"/etc/x": new("a=8\n$1 = 22\n")},
			"crlf/groups": {"/etc/x": new("a=1\r\nb=1\r\n")},
		},
	}.run(t)
	for properties, want := range map[string]string{
		`match = "a*", replacement = "b"`:       `match: expected a pattern that does not match an empty string, got "a*"`,
		`match = "(a)", replacement = "${2}"`:   "replacement: match has 1 groups, got ${2}",
		`match = "(a", replacement = "b"`:       "missing closing )",
		`match = "a"`:                           "replacement is required",
		`match = "a", replacement = "b", x = 1`: `unknown property "x"`,
	} {
		require.Contains(t, mistake(t, `require "std.replace" { "/x", `+properties+` }`), want)
	}
}

// TestEditValidate: a command validates the new text before the file is written, in a plan too, and one of several
// edits of a file may have such a command.
func TestEditValidate(t *testing.T) {
	good := `validate = "grep -q new %s"`
	suite{
		name: "line", machine: func(string) host.Runner { return command.Exec{} },
		starts: map[string]map[string]string{"old": {"/etc/x": "old\n"}, "new": {"/etc/x": "new"}, "missing": {"/etc/": ""}},
		wants: map[string]string{
			"good":  `{ "/etc/x", line = "new", ` + good + ` }`,
			"words": `{ "/etc/x", line = "new", validate = { "test", "-s", "%s" } }`,
			"made":  `{ "/etc/x", line = "new", create = { mode = "0600" }, ` + good + ` }`,
			"bad":   `{ "/etc/x", line = "other", create = true, validate = "grep -q ^only %s" }`,
		},
		fails: map[string]string{
			"missing/good": "found nothing", "missing/words": "found nothing",
			"old/bad": "validate: grep -q ^only", "new/bad": "validate: grep -q ^only", "missing/bad": "validate: grep -q ^only",
		},
		after: map[string]map[string]*string{"old/good": {"/etc/x": new("old\nnew\n")}, "missing/made": {"/etc/x": new("new\n")}},
	}.run(t)
	for validate, want := range map[string]string{
		`"visudo -c"`:        `validate: expected %s in the command, for the file to check, got "visudo -c"`,
		`{ "visudo", "-c" }`: `validate: expected %s in the command`,
		`"'%s"`:              `validate: `,
		`{ "", "%s" }`:       `validate: expected a command`,
	} {
		for _, edit := range []string{`line { "/x", line = "a", `, `kv { "a", path = "/x", value = "1", `, `ini { "a", path = "/x", value = "1", `, `block { "a", path = "/x", content = "1", `, `replace { "/x", match = "a", replacement = "b", `} {
			require.Contains(t, mistake(t, `require "std.`+strings.Replace(edit, " ", `" `, 1)+`validate = `+validate+` }`), want)
		}
	}
}

// TestSettings runs the provider contract for the types of structured files. Tests of edits are in runtime/textedit.
func TestSettings(t *testing.T) {
	for _, tt := range []struct{ name, text, changed, added, removed, list string }{
		{
			"json_setting", "{\n  // c\n  \"web\": { \"port\": 80 }, // d\n  \"a.b\": [1]\n}\n", "{\n  // c\n  \"web\": { \"port\": 81 }, // d\n  \"a.b\": [1]\n}\n",
			"{\n  // c\n  \"web\": { \"port\": 80 }, // d\n  \"a.b\": [1, \"x\"]\n}\n", "{\n  // c\n  \"web\": {}, // d\n  \"a.b\": [1]\n}\n", `{ "list": [] }`,
		}, {
			"yaml_setting", "# c\nweb:\n    port: 80 # d\na.b:\n- 1\n", "# c\nweb:\n    port: 81 # d\na.b:\n- 1\n",
			"# c\nweb:\n    port: 80 # d\na.b:\n- 1\n- x\n", "# c\nweb: {} # d\na.b:\n- 1\n", "list: []\n",
		}, {
			"toml_setting", "# c\n\"a.b\" = {}\n[web]\n  port = 80 # d\n", "# c\n\"a.b\" = {}\n[web]\n  port = 81 # d\n",
			"# c\n\"a.b\" = { 1 = \"x\" }\n[web]\n  port = 80 # d\n", "# c\n\"a.b\" = {}\n[web]\n", "list = []\n",
		},
	} {
		suite{
			name: tt.name,
			starts: map[string]map[string]string{
				"there": {"/etc/x": tt.text}, "empty": {"/etc/x": ""}, "missing": {"/etc/": ""}, "done": {"/etc/x": tt.changed}, "broken": {"/etc/x": "{[\x01"}, "list": {"/etc/x": tt.list},
			},
			wants: map[string]string{
				"set":    `{ "web.port", path = "/etc/x", value = 81 }`,
				"text":   `{ "web.port", path = "/etc/x", value = "81" }`,
				"made":   `{ "the port", path = "/etc/x", key = { "web", "port" }, value = 81, create = { mode = "0600" } }`,
				"added":  `{ "x", path = "/etc/x", key = { "a.b", "1" }, value = "x" }`,
				"absent": `{ "web.port", path = "/etc/x", ensure = "absent" }`,
				"none":   `{ "list", path = "/etc/x", value = {} }`,
			},
			fails: map[string]string{
				"missing/none": "found nothing", "broken/none": "/etc/x: not valid", "list/added": "1 may be a name or a position",
				"missing/set": "found nothing", "missing/text": "found nothing", "missing/added": "found nothing",
				"broken/set": "/etc/x: not valid", "broken/text": "/etc/x: not valid", "broken/made": "/etc/x: not valid", "broken/added": "/etc/x: not valid", "broken/absent": "/etc/x: not valid",
				"empty/added": "1 may be a name or a position",
			},
			phrases: map[string][]string{
				"there/set": {"changed the setting"}, "empty/set": {"added the setting"}, "done/set": {}, "done/made": {}, "done/text": {"changed the setting"},
				"missing/made": {"created the file and added the setting"}, "there/absent": {"removed the setting"}, "empty/absent": {}, "missing/absent": {}, "list/none": {}, "empty/none": {"added the setting"},
			},
			after: map[string]map[string]*string{
				"there/set": {"/etc/x": new(tt.changed)}, "there/added": {"/etc/x": new(tt.added)}, "there/absent": {"/etc/x": new(tt.removed)},
			},
			modes: map[string]map[string]os.FileMode{"missing/made": {"/etc/x": 0o600}},
		}.run(t)
		for args, want := range map[string]string{
			`{ "a..b", path = "/x", value = 1 }`:          `name: expected names separated by dots, got "a..b"`,
			`{ "a", path = "/x" }`:                        "value is required unless ensure is absent",
			`{ "a", path = "/x", key = {}, value = 1 }`:   "key: expected a string such as ",
			`{ "a", path = "/x", key = "b.", value = 1 }`: `key: expected names separated by dots, got "b."`,
		} {
			require.Contains(t, mistake(t, `require "std.`+tt.name+`" `+args), want)
		}
	}
}
