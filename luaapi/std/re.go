package std

import (
	"regexp"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

func reLibrary() *Library {
	return &Library{
		Name: "re",
		Doc: "Regular expressions in the syntax of RE2: a search takes time in proportion to the text, and ends with the time limit of the script. An " +
			"invalid pattern is an error. Patterns are easiest to read in long brackets: [[\\d+]]. A match is a " +
			"table: 0 is the whole match, 1, 2 and so on and names are the groups, and from and to are the " +
			"positions in the text.",
		Funcs: []Func{{
			Signature: `test(text: string, pattern: string): boolean`,
			Doc:       "Reports whether the pattern matches anywhere in text.",
			Example:   `re.test("web01", [[^\w+\d\d$]])`, Result: `true`,
			Fn: func(c *call) int {
				return c.give(lua.LBool(patternArg(c).isIn(c, c.str(1))))
			},
		}, {
			Signature: `match(text: string, pattern: string): table|nil`,
			Doc:       "Returns the first match, or nil.",
			Example:   `re.match("web01.example.org", [[(?P<name>\w+?)(\d+)\.]]).name`, Result: `"web"`,
			Fn: func(c *call) int {
				re := patternArg(c)
				at := re.find(c, c.str(1), 0)
				if at == nil {
					return c.give(lua.LNil)
				}
				return c.give(matchTable(c, re, at))
			},
		}, {
			Signature: `match_all(text: string, pattern: string, limit?: integer): table[]`,
			Doc:       "Returns all matches, limit at most, none of which overlap.",
			Example:   `tbl.map(re.match_all("a=1 b=2", [[(\w)=(\d)]]), function(m) return m[2] end)`, Result: `{ "1", "2" }`,
			Fn: func(c *call) int {
				re := patternArg(c)
				out := c.L.CreateTable(0, 0)
				all := patternMatches(c, re, 3)
				for _, at := range all {
					out.Append(matchTable(c, re, at))
				}
				return c.give(out)
			},
		}, {
			Signature: `find_all(text: string, pattern: string, limit?: integer): string[]`,
			Doc:       "Returns the texts of all matches, limit at most.",
			Example:   `re.find_all("10.0.0.1", [[\d+]])`, Result: `{ "10", "0", "0", "1" }`,
			Fn: func(c *call) int {
				all := patternMatches(c, patternArg(c), 3)
				found := make([]string, len(all))
				for i, at := range all {
					found[i] = c.str(1)[at[0]:at[1]]
				}
				return c.giveStrings(found)
			},
		}, {
			Signature: `grep(text: string, pattern: string, limit?: integer): integer[]`,
			Doc:       "Returns the numbers of the lines in which the pattern matches, limit at most. Each line is looked at alone, without its line feed.",
			Example:   `re.grep("one\ntwo\nthree\n", "^t")`, Result: `{ 2, 3 }`,
			Fn: reGrep,
		}, {
			Signature: `replace(text: string, pattern: string, replacement: string|fun(match: table): string, limit?: integer): string`,
			Doc:       "Replaces matches, limit at most, with a string in which $1 and ${name} are groups and $$ is a dollar sign, or with the result of a function of the match.",
			Example:   `re.replace("web01", [[(\D+)(\d+)]], "${2}-$1")`, Result: `"01-web"`,
			Fn: reReplace,
		}, {
			Signature: `split(text: string, pattern: string, limit?: integer): string[]`,
			Doc:       "Splits text at the matches of the pattern, into limit parts at most.",
			Example:   `re.split("a, b;c", [[[,;]\s*]])`, Result: `{ "a", "b", "c" }`,
			Fn: func(c *call) int {
				return c.giveStrings(patternArg(c).split(c, c.str(1), c.integer(3, -1)))
			},
		}, {
			Signature: `escape(text: string): string`,
			Doc:       "Returns a pattern that matches exactly the text.",
			Example:   `re.escape("a.b*")`, Result: `"a\\.b\\*"`,
			Fn: func(c *call) int { return c.giveStr(regexp.QuoteMeta(c.str(1))) },
		}},
	}
}

// mostArg returns the maximum number of matches to look for: argument n, or one more than the limit
// of a result.
func mostArg(c *call, n int) int {
	if limit := c.integer(n, -1); limit >= 0 {
		return min(limit, maxItems+1)
	}
	return maxItems + 1
}

// patternMatches returns the offsets of the matches in argument 1, and of their groups: as many
// as argument n says.
func patternMatches(c *call, re *pattern, n int) [][]int {
	all := re.findAll(c, c.str(1), mostArg(c, n))
	c.checkItems(len(all))
	return all
}

func reGrep(c *call) int {
	re, most := patternArg(c), mostArg(c, 3)
	out := c.L.CreateTable(0, 0)
	for number, line := range re.candidates(c.str(1)) {
		if out.Len() == most {
			break
		}
		c.look()
		if re.isIn(c, line) {
			out.Append(lua.LNumber(number))
			c.checkItems(out.Len())
		}
	}
	return c.give(out)
}

// matchTable returns a match as a table, from the offsets of its groups.
func matchTable(c *call, re *pattern, at []int) *lua.LTable {
	text := c.str(1)
	t := c.L.CreateTable(re.NumSubexp(), 3)
	names := re.SubexpNames()
	for i := 0; i < len(at); i += 2 {
		if at[i] < 0 {
			continue // the group took no part
		}
		v := lua.LString(text[at[i]:at[i+1]])
		t.RawSet(lua.LNumber(i/2), v)
		if name := names[i/2]; name != "" {
			t.RawSetString(name, v)
		}
	}
	t.RawSetString("from", lua.LNumber(at[0]+1))
	t.RawSetString("to", lua.LNumber(at[1]))
	return t
}

func reReplace(c *call) int {
	re, text := patternArg(c), c.str(1)
	var out []byte
	done := 0
	all := patternMatches(c, re, 4)
	for _, at := range all {
		c.look()
		out = append(out, text[done:at[0]]...)
		if fn := c.fn(3); fn != nil {
			v := c.invoke(fn, matchTable(c, re, at))
			if !lua.LVCanConvToString(v) {
				c.fail("%w", diag.Expected("a string to replace %q", text[at[0]:at[1]]).Got("%s", c.describe(v)))
			}
			out = append(out, lua.LVAsString(v)...)
		} else {
			out = re.ExpandString(out, c.str(3), text, at)
		}
		c.checkRoom(len(out))
		done = at[1]
	}
	return c.giveStr(string(append(out, text[done:]...)))
}
