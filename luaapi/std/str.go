package std

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kballard/go-shellquote"
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

func strLibrary() *Library {
	return &Library{
		Name: "str",
		Doc:  "Works on text. Searches are for plain text; for patterns use string.find and re.",
		Funcs: slices.Concat(
			strParts, strEdges, strForms,
		),
	}
}

// strParts split and join texts.
var strParts = []Func{{
	Signature: `split(text: string, separator: string, limit?: integer): string[]`,
	Doc:       "Splits text at each separator, into limit parts at most. An empty separator splits after each character.",
	Example:   `str.split("a,b,,c", ",")`, Result: `{ "a", "b", "", "c" }`,
	Fn: func(c *call) int {
		limit := c.integer(3, -1)
		if limit < 1 {
			limit = -1
		}
		c.checkItems(strings.Count(c.str(1), c.str(2)))
		return c.giveStrings(strings.SplitN(c.str(1), c.str(2), limit))
	},
}, {
	Signature: `lines(text: string): string[]`,
	Doc:       "Returns the lines of text without line breaks. A trailing line break does not start another line.",
	Example:   `str.lines("one\ntwo\n")`, Result: `{ "one", "two" }`,
	Fn: func(c *call) int {
		var list []string
		for line := range strings.Lines(c.str(1)) {
			line = strings.TrimSuffix(line, "\n")
			list = append(list, strings.TrimSuffix(line, "\r"))
			c.checkItems(len(list))
		}
		return c.giveStrings(list)
	},
}, {
	Signature: `fields(text: string): string[]`,
	Doc:       "Returns the words of text, separated by white space.",
	Example:   `str.fields("  one\ttwo ")`, Result: `{ "one", "two" }`,
	Fn: func(c *call) int { return c.giveStrings(strings.Fields(c.str(1))) },
}, {
	Signature: `join(list: any[], separator?: string): string`,
	Doc:       "Joins strings and numbers with the separator between them. Anything else in the list is an error.",
	Example:   `str.join({ "a", 1, "b" }, "-")`, Result: `"a-1-b"`,
	Fn: func(c *call) int {
		t, n := c.list(1)
		var out strings.Builder
		for i := range n {
			v := t.RawGetInt(i + 1)
			if !lua.LVCanConvToString(v) {
				c.fail("%w", diag.Expected("a list of strings and numbers as argument 1").Got("%s as item %d", c.describe(v), i+1))
			}
			if i > 0 {
				out.WriteString(c.str(2))
			}
			out.WriteString(lua.LVAsString(v))
			c.checkRoom(out.Len())
		}
		return c.giveStr(out.String())
	},
}, {
	Signature: `cut(text: string, separator: string): (before: string, after: string|nil)`,
	Doc:       "Returns the text before and after the first separator, or text and nil without a separator.",
	Example:   `str.cut("key=a=b", "=")`, Result: `"key", "a=b"`,
	Fn: func(c *call) int {
		before, rest, ok := strings.Cut(c.str(1), c.str(2))
		if !ok {
			return c.give(lua.LString(before), lua.LNil)
		}
		return c.give(lua.LString(before), lua.LString(rest))
	},
}, {
	Signature: `cut_last(text: string, separator: string): (before: string, after: string|nil)`,
	Doc:       "Returns the text before and after the last separator, or text and nil without a separator.",
	Example:   `str.cut_last("host:with:80", ":")`, Result: `"host:with", "80"`,
	Fn: func(c *call) int {
		text, sep := c.str(1), c.str(2)
		i := strings.LastIndex(text, sep)
		if i < 0 {
			return c.give(lua.LString(text), lua.LNil)
		}
		return c.give(lua.LString(text[:i]), lua.LString(text[i+len(sep):]))
	},
}, {
	Signature: `shell_split(text: string): string[]`,
	Doc:       "Splits text into words like a shell: quotes and backslashes work, nothing is expanded. An unclosed quote is an error.",
	Example:   `str.shell_split([[cp "my file" /tmp]])`, Result: `{ "cp", "my file", "/tmp" }`,
	Fn: func(c *call) int {
		words, err := shellquote.Split(c.str(1))
		c.must(err)
		return c.giveStrings(words)
	},
}, {
	Signature: `shell_quote(words: string|string[]): string`,
	Doc:       "Quotes one word, or a list of words, for a shell.",
	Example:   `str.shell_quote { "cp", "my file", "/tmp" }`, Result: `"cp 'my file' /tmp"`,
	Fn: func(c *call) int {
		if c.table(1) == nil {
			return c.giveStr(shellquote.Join(c.str(1)))
		}
		return c.giveStr(shellquote.Join(c.strings(1)...))
	},
}}

// strEdges look at the ends of texts and for parts of texts.
var strEdges = []Func{{
	Signature: `trim(text: string, characters?: string): string`,
	Doc:       "Removes white space, or the given characters, from both ends of text.",
	Example:   `str.trim("  a b\n")`, Result: `"a b"`,
	Fn: func(c *call) int { return c.giveStr(trim(c, strings.Trim, strings.TrimSpace)) },
}, {
	Signature: `trim_start(text: string, characters?: string): string`,
	Doc:       "Removes white space, or the given characters, from the beginning of text.",
	Example:   `str.trim_start("007", "0")`, Result: `"7"`,
	Fn: func(c *call) int {
		return c.giveStr(trim(c, strings.TrimLeft, func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }))
	},
}, {
	Signature: `trim_end(text: string, characters?: string): string`,
	Doc:       "Removes white space, or the given characters, from the end of text.",
	Example:   `str.trim_end("/srv/www//", "/")`, Result: `"/srv/www"`,
	Fn: func(c *call) int {
		return c.giveStr(trim(c, strings.TrimRight, func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }))
	},
}, {
	Signature: `starts(text: string, prefix: string): boolean`,
	Doc:       "Reports whether text begins with prefix.",
	Example:   `str.starts("/etc/motd", "/etc/")`, Result: `true`,
	Fn: func(c *call) int { return c.give(lua.LBool(strings.HasPrefix(c.str(1), c.str(2)))) },
}, {
	Signature: `ends(text: string, suffix: string): boolean`,
	Doc:       "Reports whether text ends with suffix.",
	Example:   `str.ends("site.lua", ".lua")`, Result: `true`,
	Fn: func(c *call) int { return c.give(lua.LBool(strings.HasSuffix(c.str(1), c.str(2)))) },
}, {
	Signature: `contains(text: string, part: string): boolean`,
	Doc:       "Reports whether text contains part.",
	Example:   `str.contains("a.b", ".")`, Result: `true`,
	Fn: func(c *call) int { return c.give(lua.LBool(strings.Contains(c.str(1), c.str(2)))) },
}, {
	Signature: `strip_prefix(text: string, prefix: string): string`,
	Doc:       "Returns text without prefix, if present.",
	Example:   `str.strip_prefix("v1.2", "v")`, Result: `"1.2"`,
	Fn: func(c *call) int { return c.giveStr(strings.TrimPrefix(c.str(1), c.str(2))) },
}, {
	Signature: `strip_suffix(text: string, suffix: string): string`,
	Doc:       "Returns text without suffix, if present.",
	Example:   `str.strip_suffix("web.service", ".service")`, Result: `"web"`,
	Fn: func(c *call) int { return c.giveStr(strings.TrimSuffix(c.str(1), c.str(2))) },
}, {
	Signature: `count(text: string, part: string): integer`,
	Doc:       "Returns the number of non-overlapping occurrences of part.",
	Example:   `str.count("a.b.c", ".")`, Result: `2`,
	Fn: func(c *call) int { return c.give(lua.LNumber(strings.Count(c.str(1), c.str(2)))) },
}, {
	Signature: `find_nth(text: string, part: string, n: integer, first?: integer): integer|nil`,
	Doc:       "Returns the position of the nth of the non-overlapping occurrences of part, from position first on.",
	Example:   `str.find_nth("a.b.c", ".", 2)`, Result: `4`,
	Fn: func(c *call) int {
		text, part := c.str(1), c.str(2)
		at := min(max(c.integer(4, 1)-1, 0), len(text))
		for n := c.integer(3, 1); part != "" && n > 0; n-- {
			next := strings.Index(text[at:], part)
			if next < 0 {
				break
			}
			if at += next + len(part); n == 1 {
				return c.give(lua.LNumber(at - len(part) + 1))
			}
		}
		return c.give(lua.LNil)
	},
}, {
	Signature: `length(text: string): integer`,
	Doc:       "Returns the number of characters. #text is the number of bytes.",
	Example:   `str.length("grün")`, Result: `4`,
	Fn: func(c *call) int { return c.give(lua.LNumber(utf8.RuneCountInString(c.str(1)))) },
}, {
	Signature: `is_blank(text: string): boolean`,
	Doc:       "Reports whether text is empty or only white space.",
	Example:   `str.is_blank(" \n")`, Result: `true`,
	Fn: func(c *call) int { return c.give(lua.LBool(strings.TrimSpace(c.str(1)) == "")) },
}}

func trim(c *call, set func(s, cutset string) string, space func(string) string) string {
	if c.given(2) {
		return set(c.str(1), c.str(2))
	}
	return space(c.str(1))
}
