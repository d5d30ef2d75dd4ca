package std

import (
	"strings"
	"unicode"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// strForms return text in another form.
var strForms = []Func{{
	Signature: `replace(text: string, old: string, new: string, limit?: integer): string`,
	Doc:       "Replaces old with new, limit times at most. Neither is a pattern.",
	Example:   `str.replace("a.b.c", ".", "/")`, Result: `"a/b/c"`,
	Fn: func(c *call) int {
		text, old, put, limit := c.str(1), c.str(2), c.str(3), c.integer(4, -1)
		n := strings.Count(text, old)
		if limit >= 0 {
			n = min(n, limit)
		}
		c.checkRoom(len(text) + n*(len(put)-len(old)))
		return c.giveStr(strings.Replace(text, old, put, limit))
	},
}, {
	Signature: `pad_start(text: string, width: integer, fill?: string): string`,
	Doc:       "Puts fill, or spaces, before text until it has width characters.",
	Example:   `str.pad_start("7", 3, "0")`, Result: `"007"`,
	Fn: func(c *call) int { return c.giveStr(padding(c) + c.str(1)) },
}, {
	Signature: `pad_end(text: string, width: integer, fill?: string): string`,
	Doc:       "Puts fill, or spaces, after text until it has width characters.",
	Example:   `str.pad_end("ab", 4) .. "|"`, Result: `"ab  |"`,
	Fn: func(c *call) int { return c.giveStr(c.str(1) + padding(c)) },
}, {
	Signature: `indent(text: string, prefix: string): string`,
	Doc:       "Puts prefix before each line of text that is not empty.",
	Example:   `str.indent("a\n\nb\n", "  ")`, Result: `"  a\n\n  b\n"`,
	Fn: func(c *call) int {
		text, prefix := c.str(1), c.str(2)
		c.checkRoom(len(text) + (strings.Count(text, "\n")+1)*len(prefix))
		var out strings.Builder
		for line := range strings.Lines(text) {
			if strings.TrimRight(line, "\r\n") != "" {
				out.WriteString(prefix)
			}
			out.WriteString(line)
		}
		return c.giveStr(out.String())
	},
}, {
	Signature: `dedent(text: string): string`,
	Doc: "Removes the indentation common to all lines, so that a long text can be indented like the code around " +
		"it. An empty first line is dropped, and so is white space after the last line break.",
	Example: "str.dedent [[\n\n    a\n      b\n  ]]", Result: `"a\n  b\n"`,
	Fn: func(c *call) int { return c.giveStr(dedent(c.str(1))) },
}, {
	Signature: `capitalize(text: string): string`,
	Doc:       "Returns text with its first letter in upper case.",
	Example:   `str.capitalize("élan")`, Result: `"Élan"`,
	Fn: func(c *call) int {
		r, size := utf8.DecodeRuneInString(c.str(1))
		if size < 2 && r == utf8.RuneError {
			return c.giveStr(c.str(1))
		}
		return c.giveStr(string(unicode.ToUpper(r)) + c.str(1)[size:])
	},
}, {
	Signature: `wrap(text: string, width: integer): string`,
	Doc:       "Wraps each line of text between words at width characters. A longer word is on a line by itself.",
	Example:   `str.wrap("one two three", 8)`, Result: `"one two\nthree"`,
	Fn: func(c *call) int {
		lines := strings.Split(c.str(1), "\n")
		for i, line := range lines {
			lines[i] = wrap(line, c.integer(2, 0))
		}
		return c.giveStr(strings.Join(lines, "\n"))
	},
}, {
	Signature: `nearest(word: string, candidates: string[]): string|nil`,
	Doc:       "Returns the candidate closest to word, or nil if none is close.",
	Example:   `str.nearest("prot", { "host", "port" })`, Result: `"port"`,
	Fn: func(c *call) int {
		candidates := c.strings(2)
		for _, word := range append(candidates, c.str(1)) {
			if len(word) > maxWord {
				c.fail("%w", diag.Expected("words of at most %d bytes", maxWord).Got("one of %d", len(word)))
			}
		}
		c.checkItems(len(candidates) * (1 + len(c.str(1))/8))
		near := diag.Nearest(c.str(1), candidates)
		if near == "" {
			return c.give(lua.LNil)
		}
		return c.giveStr(near)
	},
}}

// maxWord is the maximum length of words that are compared letter by letter.
const maxWord = 1000

// padding returns the padding to the width in argument 2.
func padding(c *call) string {
	fill := c.strOr(3, " ")
	if fill == "" {
		c.fail("%w", diag.Expected("a non-empty string as argument 3"))
	}
	n := c.integer(2, 0) - utf8.RuneCountInString(c.str(1))
	if n <= 0 {
		return ""
	}
	c.checkRoom(n + len(c.str(1)))
	runes := []rune(fill)
	out := make([]rune, n)
	for i := range out {
		out[i] = runes[i%len(runes)]
	}
	return string(out)
}

func dedent(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if more && strings.TrimSpace(first) == "" {
		text = rest
	}
	lines := strings.Split(text, "\n")
	margin, found := "", false
	for _, line := range lines {
		body := strings.TrimLeft(line, " \t")
		if strings.TrimSpace(body) == "" {
			continue
		}
		space := line[:len(line)-len(body)]
		if !found {
			margin, found = space, true
			continue
		}
		margin = commonPrefix(margin, space)
	}
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			lines[i] = ""
			continue
		}
		lines[i] = line[len(margin):]
	}
	return strings.Join(lines, "\n")
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func wrap(line string, width int) string {
	var out strings.Builder
	col := 0
	for i, word := range strings.Fields(line) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
			space := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
			out.WriteString(space)
			col = len(space)
		case col+1+n > width:
			out.WriteByte('\n')
			col = 0
		default:
			out.WriteByte(' ')
			col++
		}
		out.WriteString(word)
		col += n
	}
	return out.String()
}
