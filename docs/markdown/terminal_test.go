package markdown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/terminal"
)

const sample = "# The `title`\n\nSome *words* with [a link](plans.md#x), [outside](https://example.org), `code that is kept` and &amp; \\*.\n" +
	"\n## Deeper\n\n- one\n- two\n  goes on\n\n1. first\n\n   with more\n2. second\n\n### Still\n\n> said\n\n```lua\nfile { \"/etc/motd\" }\n\n\tx = 1\n```\n\n" +
	"| name | what it is |\n|---|---|\n| `a` | a text that is too long for its column |\n| b | |\n\n    $ ccm run\n"

// TestTerminal: a page on a terminal of 40 columns without styles.
func TestTerminal(t *testing.T) {
	out := Terminal{Columns: 40, Topic: func(string) string { return "plans" }}.Text(Parse(sample)).String()
	require.Equal(t, `The `+"`title`"+`
===========

Some *words* with a link (plans),
outside (https://example.org),
`+"`code that is kept`"+` and & *.

Deeper
------

- one
- two goes on

1. first

   with more

2. second

### Still

> said

    file { "/etc/motd" }

        x = 1

name  what it is
----  ----------------------------------
`+"`a`"+`   a text that is too long for its
      column
b

    $ ccm run
`, out)
}

// TestTerminalFile: above a block of code stands the file that it is, if it has one.
func TestTerminalFile(t *testing.T) {
	out := Terminal{Columns: 40}.Text(Parse("```lua site.lua\nx = 1\n```\n\n- ```lua part\n  y = 1\n  ```\n")).String()
	require.Equal(t, "site.lua:\n    x = 1\n\n-     y = 1\n", out)
}

// TestTerminalCommand: a link that is called like a file is the command that prints the page. A
// file that is no page, and another section, have no topic.
func TestTerminalCommand(t *testing.T) {
	topic := func(destination string) string {
		return map[string]string{"plans.md": "plans", "reference/lua.md": "reference/lua"}[destination]
	}
	out := Terminal{Columns: 80, Topic: topic, Command: "ccm docs"}.Text(Parse(
		"[plans.md](plans.md), [Plans](plans.md), [functions](reference/lua.md), [below](#x), [README.md](../README.md)")).String()
	require.Equal(t, "`ccm docs plans`, Plans, functions (reference/lua), below, README.md\n", out)
}

// TestTerminalNarrow: where columns have no room, a row is a paragraph.
func TestTerminalNarrow(t *testing.T) {
	out := Terminal{Columns: 16}.Text(Parse("| name | what it is |\n|---|---|\n| first | incomprehensibly long |\n")).String()
	require.Equal(t, "first\n    what it is:\n    incomprehensibly\n    long\n", out)
}

// TestTerminalStyles: styles take the place of marks.
func TestTerminalStyles(t *testing.T) {
	out := Terminal{Columns: 80, Styled: true}.Text(Parse("# A `b`\n\n**c** `d`\n")).String()
	require.Equal(t, "\x1b[1mA\x1b[0m\x1b[1m \x1b[0m\x1b[36mb\x1b[0m\n\n\x1b[1mc\x1b[0m \x1b[36md\x1b[0m\n", out)
}

func TestDocument(t *testing.T) {
	d := Parse(sample + "\n## Deeper\n\n## A `ccm.x` & _b_\n")
	require.Equal(t, []Heading{{1, "The title", "the-title"}, {2, "Deeper", "deeper"}, {3, "Still", "still"}, {2, "Deeper", "deeper-1"}, {2, "A ccm.x & b", "a-ccmx--_b_"}}, d.Headings())
	require.Equal(t, []Link{{"plans.md#x", 3}, {"https://example.org", 3}}, d.Links())
	require.Equal(t, []Block{{"lua", "", "file { \"/etc/motd\" }\n\n\tx = 1\n", 21}, {"", "", "$ ccm run\n", 31}}, d.Blocks())
	require.Equal(t, "Some words with a link, outside, code that is kept and & *.", d.Sections()[0].Body)
}

// FuzzTerminal: the output for any page has no control sequences, and ends.
func FuzzTerminal(f *testing.F) {
	f.Add(sample, 40)
	f.Add("| a |\n|-|\n\x1b[2J|x|\u202e", 1)
	f.Add("- > 1. # x\n\n      y", 0)
	f.Add("1234567890. x\n####### y\n<b>", -3)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		if len(text) > 1<<12 {
			t.Skip()
		}
		d := Parse(text)
		out := Terminal{Columns: columns % 200}.Text(d).String()
		require.Equal(t, terminal.Lines(out), out)
		d.Sections()
		d.Blocks()
		for _, l := range d.Links() {
			require.LessOrEqual(t, l.Line, 1+strings.Count(text, "\n"))
		}
	})
}
