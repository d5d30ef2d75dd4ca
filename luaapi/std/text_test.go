package std_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// evaluations compares the values of expressions, formatted with inspect.
func evaluations(t *testing.T, l *lab, list map[string]string) {
	t.Helper()
	for expression, want := range list {
		require.Equal(t, want, l.eval(t, expression), expression)
	}
}

// mistakes compares the messages of invalid expressions.
func mistakes(t *testing.T, l *lab, list map[string]string) {
	t.Helper()
	for expression, want := range list {
		require.Equal(t, want, l.mistake(t, expression), expression)
	}
}

func TestStr(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`str.split("", ",")`:                         `{ "" }`,
		`str.split("a", "")`:                         `{ "a" }`,
		`str.split("grün", "")`:                      `{ "g", "r", "ü", "n" }`,
		`str.split("a,b,c", ",", 2)`:                 `{ "a", "b,c" }`,
		`str.split("a,b,c", ",", 0)`:                 `{ "a", "b", "c" }`,
		`str.lines("")`:                              `{}`,
		`str.lines("a\r\nb\n\nc")`:                   `{ "a", "b", "", "c" }`,
		`str.fields("")`:                             `{}`,
		`str.join({})`:                               `""`,
		`str.join({ "a", "b" })`:                     `"ab"`,
		`str.cut("abc", "=")`:                        `"abc", nil`,
		`str.cut_last("a", ":")`:                     `"a", nil`,
		`str.shell_quote("a b")`:                     `"'a b'"`,
		`str.shell_quote {}`:                         `""`,
		`str.shell_split(str.shell_quote {"a'b"})`:   `{ "a'b" }`,
		`str.trim("xxaxx", "x")`:                     `"a"`,
		`str.trim_start("\u00a0 a ")`:                `"u00a0 a "`, // Lua 5.1 has no such escape
		`str.trim_end(" a \n")`:                      `" a"`,
		`str.strip_prefix("abc", "x")`:               `"abc"`,
		`str.replace("aaa", "a", "b", 2)`:            `"bba"`,
		`str.replace("aaa", "a", "b", 0)`:            `"aaa"`,
		`str.replace("ab", "", "-")`:                 `"-a-b-"`,
		`str.pad_start("grün", 6, "äö")`:             `"äögrün"`,
		`str.pad_start("long", 2)`:                   `"long"`,
		`str.pad_end("a", 3, "xy")`:                  `"axy"`,
		`str.indent("a\r\n\r\nb", "> ")`:             `"> a\r\n\r\n> b"`,
		`str.dedent("  a\n\tb\n")`:                   `"  a\n\tb\n"`,
		`str.dedent("one")`:                          `"one"`,
		`str.dedent("\n  a\n\n    b\n  ")`:           `"a\n\n  b\n"`,
		`str.capitalize("")`:                         `""`,
		`str.capitalize("\255x")`:                    "\"\xffx\"",
		`str.wrap("a bb ccc dddd", 4)`:               `"a bb\nccc\ndddd"`,
		`str.wrap("  a b\n\n  c", 80)`:               `"  a b\n\n  c"`,
		`str.nearest("x", { "host" })`:               `nil`,
		`str.count("aaa", "aa")`:                     `1`,
		`str.length("\255\254")`:                     `2`,
		`tbl.map({ " a ", "b\n" }, str.trim)`:        `{ "a", "b" }`,
		`str.starts("a", "")`:                        `true`,
		`str.ends("a", "ba")`:                        `false`,
		`str.join(tbl.map({ "a" }, str.length), "")`: `"1"`,
	})
	mistakes(t, l, map[string]string{
		`str.shell_split("a 'b")`:                           `str.shell_split: Unterminated single-quoted string`,
		`str.shell_quote { 1 }`:                             `str.shell_quote: expected a list of strings as argument 1, got the number 1 as item 1`,
		`str.pad_start("a", 5, "")`:                         `str.pad_start: expected a non-empty string as argument 3`,
		`str.pad_start("a", 1e9)`:                           `str.pad_start: the result must be at most 64 MiB`,
		`str.replace(("a"):rep(1e6), "a", ("b"):rep(99))`:   `str.replace: the result must be at most 64 MiB`,
		`str.split(("a"):rep(5e6), "")`:                     `str.split: the result must have at most 4194304 values`,
		`str.indent(("\n"):rep(1e6) .. "a", ("b"):rep(99))`: `str.indent: the result must be at most 64 MiB`,
	})
}

func TestPath(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`path.join()`:                      `""`,
		`path.join("a", "", "/b")`:         `"a/b"`,
		`path.ext(".bashrc")`:              `""`,
		`path.ext("a.d/file")`:             `""`,
		`path.ext("a.")`:                   `"."`,
		`path.ext("..")`:                   `""`,
		`path.stem(".bashrc")`:             `".bashrc"`,
		`path.stem("/")`:                   `"/"`,
		`path.dir("a")`:                    `"."`,
		`path.base("")`:                    `"."`,
		`path.split("a//b/")`:              `{ "a", "b" }`,
		`path.split("/")`:                  `{ "/" }`,
		`path.relative("/a", "/a")`:        `"."`,
		`path.within("/etc", "/etc")`:      `true`,
		`path.within("/etc", "/etcetera")`: `false`,
		`path.within("/etc", "motd")`:      `false`,
		`path.match("*", "a/b")`:           `false`,
	})
	mistakes(t, l, map[string]string{
		`path.relative("/a", "b")`: `path.relative: no relative path from "/a" to "b"`,
		`path.match("[", "a")`:     `path.match: expected a pattern such as "*.conf", got "["`,
	})
}

func TestRe(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`re.match("abc", "x")`:           `nil`,
		`re.match("abc", "b")`:           "{\n  [0] = \"b\",\n  from = 2,\n  to = 2\n}",
		`re.match("ac", "a(b)?(c)")[1]`:  `nil`,
		`re.match("ac", "a(b)?(c)")[2]`:  `"c"`,
		`#re.match_all("aXbXc", "X", 1)`: `1`,
		`re.find_all("abc", "x")`:        `{}`,
		`re.replace("a1b2", [[\d]], function(m) return "<" .. m[0] .. ">" end)`: `"a<1>b<2>"`,
		`re.replace("a1b2", [[\d]], "$$", 1)`:                                   `"a$b2"`,
		`re.replace("a", "x*", "-")`:                                            `"-a-"`,
		`re.split("abc", "")`:                                                   `{ "a", "b", "c" }`,
		`re.split("a,b,c", ",", 2)`:                                             `{ "a", "b,c" }`,
		`re.test("a\nb", "(?m)^b$")`:                                            `true`,
		`re.escape("[x]")`:                                                      `"\\[x\\]"`,
		`re.test(("a"):rep(100000), "(a*)*b")`:                                  `false`, // in linear time
	})
	mistakes(t, l, map[string]string{
		`re.test("a", "(")`:                    "re.test: missing closing ): `(`",
		`re.test("a", [[(a)\1]])`:              "re.test: invalid escape sequence: `\\1`",
		`re.test("a", ("a"):rep(1e5))`:         `re.test: the pattern must be at most 64 KiB`,
		`re.replace("a", "a", function() end)`: `re.replace: expected a string to replace "a", got nil`,
	})
}

func TestVersion(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`version.compare("1.0.0", "1", true)`:        `0`,
		`version.compare("1.0.0", "1")`:              `1`,
		`version.deb("1:0.9", "1.0")`:                `1`,
		`version.deb("1.0-1", "1.0-1+b1")`:           `-1`,
		`version.rpm("1.0~rc1", "1.0")`:              `-1`,
		`version.rpm("1.0^git1", "1.0")`:             `1`,
		`version.matches("2", "1")`:                  `false`,
		`version.matches("1.0", "= 1")`:              `true`,
		`version.matches("1.5", "!= 1.5")`:           `false`,
		`version.matches("1.0~rc1", "< 1.0", "deb")`: `true`,
		`version.matches("1:1-1", "> 2-1", "rpm")`:   `true`,
	})
	mistakes(t, l, map[string]string{
		`version.deb("a b", "1")`:          `version.deb: expected a version of a Debian package, got "a b"`,
		`version.matches("1", "")`:         `version.matches: expected a constraint such as ">= 1.2, < 2", got ""`,
		`version.matches("1", ">")`:        `version.matches: expected a constraint such as ">= 1.2, < 2", got ">"`,
		`version.matches("1", "=> 1")`:     `version.matches: expected one of =, !=, <, <=, >, >= before a version, got "=>"`,
		`version.matches("1", ">= 1 < 2")`: `version.matches: expected a constraint such as ">= 1.2, < 2", got ">= 1 < 2"`,
	})
}

func TestNet(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`net.address("10.0.0.1").reverse`:        `"1.0.0.10.in-addr.arpa"`,
		`net.address("::1").reverse`:             `"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa"`,
		`net.address("fe80::1%eth0").link_local`: `true`,
		`net.address("192.168.1.1").private`:     `true`,
		`net.network("10.1.2.3/8")`: "{\n  address = \"10.1.2.3\",\n  first = \"10.0.0.0\",\n  last = \"10.255.255.255\",\n  netmask = \"255.0.0.0\",\n" +
			"  network = \"10.0.0.0/8\",\n  prefix = 8,\n  size = 16777216,\n  version = 4\n}",
		`net.network("2001:db8::/126").last`:        `"2001:db8::3"`,
		`net.network("::/0").size > 2^127`:          `true`,
		`net.contains("10.0.0.0/8", "10.0.0.0/7")`:  `false`,
		`net.contains("10.0.0.0/8", "10.2.0.0/16")`: `true`,
		`net.contains("10.0.0.0/8", "::1")`:         `false`,
		`net.host("10.0.0.0/30", -1)`:               `"10.0.0.3"`,
		`net.host("2001:db8::/64", 255)`:            `"2001:db8::ff"`,
		`net.subnet("2001:db8::/32", 32, 1)`:        `"2001:db8:0:1::/64"`,
		`net.is_network("10.0.0.1")`:                `false`,
		`net.is_address("::1")`:                     `true`,
		`net.join_host_port("a", "http")`:           `"a:http"`,
	})
	mistakes(t, l, map[string]string{
		`net.address("10.0.0")`:           `net.address: expected an IP address as argument 1, got "10.0.0"`,
		`net.network("10.0.0.0")`:         `net.network: expected a network such as 10.0.0.0/8 as argument 1, got "10.0.0.0"`,
		`net.host("10.0.0.0/30", 4)`:      `net.host: 10.0.0.0/30: the address is outside the network of 4 addresses`,
		`net.host("10.0.0.0/30", -5)`:     `net.host: 10.0.0.0/30: the address is outside the network of 4 addresses`,
		`net.subnet("10.0.0.0/24", 9, 0)`: `net.subnet: 10.0.0.0/24 cannot be divided by 9 more bits`,
		`net.subnet("10.0.0.0/24", 1, 2)`: `net.subnet: 10.0.0.0/24: subnet number 2 with a prefix of 25 is out of range`,
		`net.split_host_port("a")`:        `net.split_host_port: expected host:port, got "a"`,
	})
}

func TestTime(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`time.format(1767323045.5)`:                                      `"2026-01-02T03:04:05Z"`,
		`time.format(1767323045, "%F %T %y %j %a %A %b %B %I %p %s %%")`: `"2026-01-02 03:04:05 26 002 Fri Friday Jan January 03 AM 1767323045 %"`,
		`time.parse("2026-01-02")`:                                       `1767312000`,
		`time.parse("2026-01-02T03:04:05+01:00")`:                        `1767319445`,
		`time.parse(time.format(1767323045))`:                            `1767323045`,
		`time.duration("250ms")`:                                         `0.25`,
		`time.format(-1)`:                                                `"1969-12-31T23:59:59Z"`,
	})
	mistakes(t, l, map[string]string{
		`time.format(0, "%Q")`:   `time.format: expected one of Y m d H M S y j a A b B p I F T s % after %, got "Q"`,
		`time.format(0, "%")`:    `time.format: expected a letter after the % at the end of "%"`,
		`time.format(1e15)`:      `time.format: expected a time between the years 1 and 9999 as argument 1, got the number 1000000000000000`,
		`time.parse("tomorrow")`: `time.parse: expected a date such as 2026-01-02 or a time such as 2026-01-02T15:04:05Z, got "tomorrow"`,
		`time.duration("5")`:     `time.duration: expected a duration such as "30s" or "5m", got "5"`,
	})
}

func TestBase64(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`base64.encode("")`:                                          `""`,
		`base64.encode("\255\254", { url = true })`:                  `"__4="`,
		`base64.encode("\255\254", { url = true, padding = false })`: `"__4"`,
		`base64.decode("YW\nI=")`:                                    `"ab"`,
		`base64.decode("YWI")`:                                       `"ab"`,
	})
	mistakes(t, l, map[string]string{`base64.decode("!")`: `base64.decode: not valid base64`})
}

// Comparing versions of a million parts would take seconds, and is refused.
func TestLongVersions(t *testing.T) {
	mistakes(t, newLab(t), map[string]string{
		`version.rpm(("1."):rep(1000), "1")`:                       "version.rpm: expected a version or constraint of at most 1024 bytes, got 2000",
		`version.rpm("1", ("1."):rep(1000))`:                       "version.rpm: expected a version or constraint of at most 1024 bytes, got 2000",
		`version.deb(("1."):rep(1000), "1")`:                       "version.deb: expected a version or constraint of at most 1024 bytes, got 2000",
		`version.matches(("1."):rep(1000), "< 1", "rpm")`:          "version.matches: expected a version or constraint of at most 1024 bytes, got 2000",
		`version.matches("1", ("< 2,"):rep(1000) .. "< 2", "deb")`: "version.matches: expected a version or constraint of at most 1024 bytes, got 4003",
	})
}
