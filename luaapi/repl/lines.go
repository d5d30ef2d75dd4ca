package repl

import (
	"strings"

	"github.com/luaccm/ccm/luaapi"
)

// split returns the first of several commands or chunks in a text, and the rest. A text that is
// valid Lua as a whole stays one chunk.
func split(text string) (first, rest string) {
	line, below, several := strings.Cut(text, "\n")
	if !several {
		return text, ""
	}
	if isCommand(line) || isQuestion(line) || strings.TrimSpace(line) == "" {
		return line, below
	}
	if luaapi.Unfinished(text) || luaapi.Parses(text) || !separable(text) {
		return text, ""
	}
	return cut(text)
}

// separable reports whether a text is a sequence of things of which each can be
// answered.
func separable(text string) bool {
	for text != "" {
		first, rest := cut(text)
		if !isCommand(first) && !isQuestion(first) && strings.TrimSpace(first) != "" && !luaapi.Parses(first) && !luaapi.Unfinished(first) {
			return false
		}
		text = rest
	}
	return true
}

// cut returns the fewest first lines of a text that are complete, and the other lines.
func cut(text string) (first, rest string) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if first == "" && (isCommand(line) || isQuestion(line)) {
			return line, strings.Join(lines[1:], "")
		}
		if first += line; !luaapi.Unfinished(first) {
			return first, strings.Join(lines[i+1:], "")
		}
	}
	return first, ""
}
