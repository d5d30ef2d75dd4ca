package main

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/repl"
)

// The colours of Lua, as ANSI escape sequences.
const (
	plain  = "\x1b[0m"
	faint  = "\x1b[2m"
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	blue   = "\x1b[34m"
	purple = "\x1b[35m"
	cyan   = "\x1b[36m"
)

var kindColors = map[repl.Kind]string{
	repl.Comment: faint, repl.Keyword: purple, repl.Number: cyan, repl.String: green,
}

// constants are the words of Lua that are values.
var constants = map[string]bool{"nil": true, "true": true, "false": true}

// paintLua returns a text of Lua with colours.
func paintLua(text string) string { return paintTokens(text, nil) }

// paintTokens colours a text; the names in special are those of types.
func paintTokens(text string, special func(name string) bool) string {
	var b strings.Builder
	for _, t := range repl.Tokens(text) {
		word := text[t.Start:t.End]
		color := kindColors[t.Kind]
		switch {
		case constants[word]:
			color = cyan
		case t.Open:
			color = red
		case t.Kind == repl.Name && special != nil && special(word):
			color = blue
		}
		if color == "" {
			b.WriteString(word)
			continue
		}
		// A colour ends with its line: what follows may be a prompt.
		for i, line := range strings.Split(word, "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			if line != "" {
				b.WriteString(color + line + plain)
			}
		}
	}
	return b.String()
}

// rowBelow makes sure that there is a row below the cursor: it moves one down,
// which scrolls at the bottom of the screen, and up again. The library for lines
// relies on it.
const rowBelow = "\x1bD\x1bM"

// highlight returns what is typed with its colours, and with the prompts of the
// lines after the first. The library for lines leaves as many columns free there
// as the first prompt takes.
func (t *editor) highlight(line []rune) string {
	text := string(line)
	if t.question != "" {
		return text + rowBelow
	}
	first, more := t.p.dialog.Prompt()
	if t.p.dialog.Pending() {
		first = more
	}
	if t.color {
		text = t.paint(text)
	}
	if !strings.Contains(text, "\n") {
		return text + rowBelow
	}
	width := len([]rune(first))
	if n := len([]rune(more)); n < width {
		more = strings.Repeat(" ", width-n) + more
	} else {
		more = string([]rune(more)[n-width:])
	}
	if t.color {
		more = faint + more + plain
	}
	return strings.ReplaceAll(text, "\n", "\n\r"+more) + rowBelow
}

// paint colours what is typed.
func (t *editor) paint(text string) string {
	if trimmed := strings.TrimLeft(text, " "); strings.HasPrefix(trimmed, ".") || strings.HasPrefix(trimmed, `\`) || strings.HasPrefix(trimmed, "?") {
		word, rest, spaced := strings.Cut(text, " ")
		if spaced {
			rest = " " + rest
		}
		return bold + word + plain + rest
	}
	return paintTokens(text, func(name string) bool { return t.p.dialog.Type(name) != nil })
}
