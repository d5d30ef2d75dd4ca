package stdlib_test

import (
	"testing"

	"github.com/stretchr/testify/require"
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
			"missing/line": "want a file to edit at /etc/x, found nothing", "missing/match": "found nothing", "missing/after": "found nothing",
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
			"no end/line":   {"/etc/x": new("one\nPort 2\nPort 22\n")},
			"no end/absent": {"/etc/x": new("one\nPort 2")},
			"there/no port": {"/etc/x": new("one\n")},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:1: line#/x: line is required`, mistake(t, `require "std.line" { "/x" }`))
	require.Equal(t, `site.lua:1:35: line#/x: line: want one line`, mistake(t, `require "std.line" { "/x", line = "a\nb" }`))
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
			"broken/block": "one of the two markers of the block b is missing", "broken/no end": "missing", "broken/after": "missing",
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
	require.Equal(t, `site.lua:1:20: kv#a b: name: want a key without blanks, got "a b"`, mistake(t, `require "std.kv" { "a b", path = "/x", value = "1" }`))
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
