package repl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/repl"
)

// prepared returns a dialog with some earlier input.
func prepared(t *testing.T) *repl.Dialog {
	d, _ := newDialog(t)
	for _, line := range []string{
		`local config = { port = 80, host = "a", nested = { deep = true } }`,
		`function config.start(name, force) end`,
		`function configure(what, how) end`,
		`file { "/etc/motd", mode = "0644" }`,
		`local svc = service { "nginx" }`,
	} {
		require.NoError(t, d.Handle(t.Context(), line).Err)
	}
	return d
}

// TestComplete requires completions at the bar, and compares the text before the bar with each completion.
func TestComplete(t *testing.T) {
	d := prepared(t)
	for _, x := range []struct{ text, want string }{
		// Names.
		{`conf|`, "config configure"},
		{`local x = conf|ig`, "local x = config local x = configure"},
		{`print(con|`, "print(config print(configure"},
		{`serv|`, "service"},
		{`plan|`, "plan"},
		{`whi|`, "while"},
		{`local con|`, ""},
		{`-- con|`, ""},
		{`x = 1 -- con|`, ""},
		{`3con|`, ""},

		// Fields and methods.
		{`config.|`, "config.host config.nested config.port config.start"},
		{`config.nested.d|`, "config.nested.deep"},
		{`config.p|`, "config.port"},
		{`config:st|`, "config:start"},
		{`svc.na|`, "svc.name"},
		{`("x"):up|`, ""},
		{`string.up|`, "string.upper"},
		{`config.host:upp|`, "config.host:upper"},
		{`nope.x|`, ""},
		{`f().x|`, ""},
		{`str.spl|`, "str.split"},
		{`ccm.ver|`, "ccm.version"},

		// Facts.
		{`facts.|`, "facts.broken facts.domain facts.net facts.os facts.role"},
		{`facts.os.rel|`, "facts.os.release"},
		{`facts.os.release.f|`, "facts.os.release.full"},
		{`fact("os.f|`, `fact("os.family`},
		{`fact "o|`, `fact "os`},
		{`fact("os.release.|`, `fact("os.release.full fact("os.release.major`},

		// Properties.
		{`file { "/etc/x", mo|`, `file { "/etc/x", mode = `},
		{`file { "/etc/x", owner = "root", o|`, ""},
		{"file {\n  '/etc/x',\n  con|", "file {\n  '/etc/x',\n  content = "},
		{`file { conf|`, "file { config file { configure"},
		{`file { mo|`, "file { mode =  file { module"},
		{`file "/etc/x" { mo|`, `file "/etc/x" { mode = `},
		{`file "/etc/x" { |`, "+path,ensure,content,owner,mode,force,password,alias"},
		{`file("/etc/x", { mo|`, `file("/etc/x", { mode = `},
		{`file { "/a", "/b" } { mo|`, `file { "/a", "/b" } { mode = `},
		{`file.defaults { mo|`, `file.defaults { mode = `},
		{`service { "x", en|`, `service { "x", enable = `},
		{`service { "x", enable = t|`, `service { "x", enable = true`},
		{`file { "/x", ensure = |`, "+\"present\",\"absent\",\"directory\""},
		{`file { "/x", ensure = "a|`, `file { "/x", ensure = "absent`},
		{`file { "/x", provider = "|`, `file { "/x", provider = "posix`},
		{`file { "/x", health_checks = { { com|`, `file { "/x", health_checks = { { command = `},
		{`file { "/x", health_checks = { { command = "x", na|`, `file { "/x", health_checks = { { command = "x", name = `},

		// Modules that ship with ccm, without loading them.
		{`std.li|`, "std.line"},
		{`std.js|`, "std.json"},
		{`std.line { "/etc/x", mo|`, `std.line { "/etc/x", mode = `},
		{`std.line "/etc/x" { mo|`, `std.line "/etc/x" { mode = `},
		{`std.line.defaults { mo|`, `std.line.defaults { mode = `},
		{`f().file { "/etc/x", mo|`, `f().file { "/etc/x", module`},
		{`?std.line.mo|`, "?std.line.mode"},
		{`?std.li|`, "?std.line"},

		// References, paths and modules in strings.
		{`service { "x", require = "fi|`, `service { "x", require = "file#/etc/motd service { "x", require = "file#`},
		{`service { "x", subscribe = { "file#/etc/|`, `service { "x", subscribe = { "file#/etc/motd service { "x", subscribe = { "file#/etc/hosts`},
		{`x = "service#|`, `x = "service#nginx x = "service#`},
		{`file { "/e|`, `file { "/etc/motd file { "/etc/`},
		{`file { "/etc/h|`, `file { "/etc/hosts`},
		{`file "/etc/h|`, `file "/etc/hosts`},
		{`service { "|`, `service { "nginx`},
		{`print("/etc/m|`, `print("/etc/motd`},
		{`print("etc|`, ""},
		{`[[/etc/m|`, `[[/etc/motd`},
		{`require "ng|`, `require "nginx`},
		{`require "roles.|`, `require "roles.web`},
		{`require "std.js|`, `require "std.json`},
		{`state("file#/etc/m|`, `state("file#/etc/motd`},

		// Commands.
		{`.pl|`, ""},
		{`.sh|`, ".show"},
		{`\he|`, `\help`},
		{`.|`, "+catalog,doc,drop,facts,graph,help,load,page,quit,reload"},
		{`.show serv|`, ".show service#nginx .show service#"},
		{`.show file#/etc/h|`, ".show file#/etc/hosts"},
		{`.doc fi|`, ".doc file"},
		{`.doc file.mo|`, ".doc file.mode"},
		{`.facts os.r|`, ".facts os.release"},
		{`.load s|`, ".load site.lua"},
		{`.load roles/|`, ".load roles/web.lua"},
		{`.set |`, ".set output lua .set output json .set output yaml"},
		{`.time config.p|`, ".time config.port"},
		{`.help sa|`, ".help save"},
		{`?config.st|`, "?config.start"},
		{`?file.mo|`, "?file.mode"},
		{`?strin|`, "?string"},
		{`?.sh|`, "?.show"},
	} {
		before, after, _ := strings.Cut(x.text, "|")
		c := d.Complete(before+after, len(before))
		var got []string
		for _, i := range c.Items {
			got = append(got, before[:c.Start]+i.Text)
		}
		// A leading plus means that the list may have more items.
		if want, ok := strings.CutPrefix(x.want, "+"); ok {
			list := strings.Split(want, ",")
			require.GreaterOrEqual(t, len(got), len(list), x.text)
			for i := range list {
				require.Equal(t, list[i], strings.TrimSuffix(c.Items[i].Text, " = "), x.text)
			}
			continue
		}
		sep := " "
		if strings.Contains(x.want, "+") {
			sep = "+"
		}
		require.Equal(t, x.want, strings.Join(got, sep), x.text)
	}
}

// A line that continues others is completed like a line of its own.
func TestCompletePending(t *testing.T) {
	d := prepared(t)
	require.True(t, d.Handle(t.Context(), `file {`).More)
	require.True(t, d.Handle(t.Context(), `  "/etc/x",`).More)
	c := d.Complete("  mo", 4)
	require.Equal(t, 2, c.Start)
	require.Len(t, c.Items, 1)
	require.Equal(t, "mode = ", c.Items[0].Text)
	require.Equal(t, "string", c.Items[0].Doc)
	require.Contains(t, d.Hint("  mode = ", 9), "mode: string")
	d.Drop()
	require.Empty(t, d.Hint("  mode = ", 9))
}

func TestHint(t *testing.T) {
	d := prepared(t)
	for _, x := range []struct{ text, want string }{
		{`string.format(|`, "string.format(format, ...)  Formats its arguments as in C: %s %d %5.2f %q %%."},
		{`string.rep|`, "string.rep(s, n, sep?)  Returns s repeated n times, separated by sep."},
		{`config.host:upper|`, "string.upper(s)  Returns s in upper case."},
		{`configure(1, |`, "configure(what, how)"},
		{`config.start(|`, "config.start(name, force)"},
		{`file { "/x", ensure = |`, "ensure: present | absent | directory, default present"},
		{`file { "/x", mode|`, "mode: string"},
		{`std.line { "/x", mode|`, "mode: string"},
		{`facts.net|`, "facts.net: Addresses by interface."},
		{`.show |`, ".show TYPE#NAME: Show the present state of a resource."},
		{`.sho|`, ""},
		{`.time string.rep(|`, "string.rep(s, n, sep?)  Returns s repeated n times, separated by sep."},
		{`-- string.rep(|`, ""},
		{`x = 1|`, ""},
		{`|`, ""},
	} {
		before, after, _ := strings.Cut(x.text, "|")
		require.Equal(t, x.want, d.Hint(before+after, len(before)), x.text)
	}
}

// Completion gathers no expensive fact, except one whose name is typed.
func TestCompleteIsCheap(t *testing.T) {
	d := prepared(t)
	for _, text := range []string{"facts.", "fact(\"", "fa", ".facts n", "?facts.", "facts.n"} {
		d.Complete(text, len(text))
		d.Hint(text, len(text))
		require.False(t, d.Facts().Gathered("net"), text)
	}
	d.Complete("facts.net.", 10)
	require.True(t, d.Facts().Gathered("net"))
}
