package term

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/terminal"
)

// The styles of Lua.
var kindStyles = map[syntax.Kind]terminal.Style{
	syntax.Comment: terminal.Faint, syntax.Keyword: terminal.Purple, syntax.Number: terminal.Cyan, syntax.String: terminal.Green,
}

// constants are the words of Lua that are values.
var constants = map[string]bool{"nil": true, "true": true, "false": true}

// Paint returns a text of Lua with colors.
func Paint(text string) terminal.Text { return paintTokens(text, nil) }

// paintTokens colors a text. Special reports whether a name is a type.
func paintTokens(text string, special func(name string) bool) terminal.Text {
	var b terminal.Buffer
	for _, t := range syntax.Lexemes(text) {
		word := text[t.Start:t.End]
		style := kindStyles[t.Kind]
		switch {
		case constants[word]:
			style = terminal.Cyan
		case t.Open:
			style = terminal.Red
		case t.Kind == syntax.Name && special != nil && special(word):
			style = terminal.Blue
		}
		// A style ends with its line, because a prompt may follow.
		for i, line := range strings.Split(word, "\n") {
			if i > 0 {
				b.Print(terminal.LinesText("\n"))
			}
			b.Print(style.Paint(terminal.LinesText(line)))
		}
	}
	return b.Text()
}

// rowBelow makes sure that there is a row below the cursor: it moves the cursor down, which scrolls
// at the bottom of the screen, and up again. The library readline needs that row.
const rowBelow = "\x1bD\x1bM"

// highlight returns the typed text in colors, and with the prompts of further lines. For these the
// library readline leaves as many columns free as the first prompt takes.
func (t *editor) highlight(line []rune) string {
	text := terminal.Lines(string(line))
	if t.question != "" {
		return text + rowBelow
	}
	first, more := t.prompts()
	if t.term.dialog.Pending() {
		first = more
	}
	if t.color {
		text = t.paint(string(line)).String()
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
	more = terminal.Faint.On(t.color).Paint(terminal.LineText(more)).String()
	return strings.ReplaceAll(text, "\n", "\n\r"+more) + rowBelow
}

// paint colors a typed text.
func (t *editor) paint(text string) terminal.Text {
	if trimmed := strings.TrimLeft(text, " "); strings.HasPrefix(trimmed, ".") || strings.HasPrefix(trimmed, `\`) || strings.HasPrefix(trimmed, "?") {
		word, rest, spaced := strings.Cut(text, " ")
		if spaced {
			rest = " " + rest
		}
		return terminal.Concat(terminal.Bold.Paint(terminal.LinesText(word)), terminal.LinesText(rest))
	}
	return paintTokens(text, func(name string) bool { return t.term.dialog.Type(name) != nil })
}
