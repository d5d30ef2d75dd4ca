package luaapi

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi/pattern"
	"github.com/luaccm/ccm/runtime/diag"
)

// maxString is the longest string, in bytes, that one call of string.rep, gsub, format or
// table.concat makes.
const maxString = 64 << 20

// A match of a pattern may take this many steps, and some more for each byte of the text.
const (
	patternSteps        = 10_000_000
	patternStepsPerByte = 100
)

// checkExpansion is the number of %0 to %9 in one replacement after which the time limit is
// checked.
const checkExpansion = 1 << 14

// maxPatterns is the number of compiled patterns that are kept.
const maxPatterns = 256

// A stringLib holds the functions of string.
type stringLib struct {
	ev       *evaluator
	patterns map[string]*compiledPattern
}

// functions lists the functions of string that replace gopher-lua's: those that one call can keep
// busy for ever, or that differ from Lua's.
func (lib *stringLib) functions() []builtin {
	list := []builtin{
		{"byte", lib.byte},
		{"char", char},
		{"find", func(L *lua.LState) int { return lib.find(L, true) }},
		{"format", lib.format},
		{"gfind", lib.gmatch},
		{"gmatch", lib.gmatch},
		{"gsub", lib.gsub},
		{"lower", func(L *lua.LState) int { return letters(L, 'A', 'Z') }},
		{"match", func(L *lua.LState) int { return lib.find(L, false) }},
		{"rep", lib.rep},
		{"upper", func(L *lua.LState) int { return letters(L, 'a', 'z') }},
	}
	for i := range list {
		list[i].fn = lib.ev.Derived(list[i].fn)
	}
	return list
}

func char(L *lua.LState) int {
	out := make([]byte, L.GetTop())
	for i := range out {
		code := checkInt(L, i+1)
		if code < 0 || code > math.MaxUint8 {
			L.ArgError(i+1, "the code is not within 0 to 255")
		}
		out[i] = byte(code)
	}
	L.Push(lua.LString(out))
	return 1
}

// letters returns argument 1 with the letters of a range in the other case. Other bytes stay as
// they are: gopher-lua's function destroys those that are no UTF-8.
func letters(L *lua.LState, from, to byte) int {
	out := []byte(L.CheckString(1))
	for i, c := range out {
		if c >= from && c <= to {
			out[i] = c ^ ' '
		}
	}
	L.Push(lua.LString(out))
	return 1
}

func (lib *stringLib) byte(L *lua.LState) int {
	s, first := L.CheckString(1), optInt(L, 2, 1)
	from, to := offset(first, len(s)), offset(optInt(L, 3, first), len(s))
	from, to = max(from, 1), min(to, len(s))
	if from > to {
		return 0
	}
	reserve(L, to-from+1)
	for i := from; i <= to; i++ {
		L.Push(lua.LNumber(s[i-1]))
	}
	return to - from + 1
}

// offset returns a position in a text of that length. A negative one counts from its end.
func offset(i, length int) int {
	if i < 0 {
		return i + length + 1
	}
	return i
}

func (lib *stringLib) rep(L *lua.LState) int {
	s, n, sep := L.CheckString(1), checkNumber(L, 2), L.OptString(3, "")
	if !(n >= 1) { // not a number either
		L.Push(lua.LString(""))
		return 1
	}
	if float64(n)*float64(len(s)+len(sep)) > maxString {
		lib.ev.limits.tooLong(L, "string.rep")
	}
	count := int(math.Min(float64(n), maxString))
	lib.ev.limits.take(L, count*(len(s)+len(sep)))
	if len(s)+len(sep) == 0 {
		count = 1
	}
	if sep == "" {
		L.Push(lua.LString(strings.Repeat(s, count)))
		return 1
	}
	L.Push(lua.LString(strings.Repeat(s+sep, count-1) + s))
	return 1
}

// A compiledPattern is a pattern compiled with both meanings of a leading ^.
type compiledPattern struct{ anchored, literal *pattern.Pattern }

// pattern returns argument 2, compiled.
func (lib *stringLib) pattern(L *lua.LState, anchor bool) *pattern.Pattern {
	text := L.CheckString(2)
	c := lib.patterns[text]
	if c == nil {
		if len(lib.patterns) >= maxPatterns {
			clear(lib.patterns)
		}
		c = new(compiledPattern)
		lib.patterns[text] = c
	}
	which := &c.literal
	if anchor {
		which = &c.anchored
	}
	if *which == nil {
		p, err := pattern.Compile(text, anchor)
		if err != nil {
			lib.ev.report.throwError(L, err)
		}
		*which = p
	}
	return *which
}

// budget returns the limit of steps for matching s.
func (lib *stringLib) budget(s string) *pattern.Budget {
	return &pattern.Budget{Steps: patternSteps + patternStepsPerByte*len(s), Check: lib.ev.report.ctx.Err}
}

// search finds the next match, or throws.
func (lib *stringLib) search(L *lua.LState, p *pattern.Pattern, s string, init int, b *pattern.Budget, buf []pattern.Span) (pattern.Match, bool) {
	m, ok, err := p.Find(s, init, b, buf)
	if err != nil {
		lib.ev.report.throwError(L, err)
	}
	return m, ok
}

// initial returns optional argument n as an offset into a text of that length.
func initial(L *lua.LState, n, length int) int {
	return min(max(offset(optInt(L, n, 1), length)-1, 0), length)
}

// find is string.find with places, and string.match without.
func (lib *stringLib) find(L *lua.LState, places bool) int {
	s, text := L.CheckString(1), L.CheckString(2)
	init := initial(L, 3, len(s))
	if places && (lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(text, "^$*+?.([%-")) {
		at := strings.Index(s[init:], text)
		if at < 0 {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LNumber(init + at + 1))
		L.Push(lua.LNumber(init + at + len(text)))
		return 2
	}
	m, ok := lib.search(L, lib.pattern(L, true), s, init, lib.budget(s), nil)
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	if !places {
		return pushCaptures(L, s, m, true)
	}
	L.Push(lua.LNumber(m.Start + 1))
	L.Push(lua.LNumber(m.End))
	return 2 + pushCaptures(L, s, m, false)
}

// pushCaptures pushes the captures of a match or, if it has none and whole is set, the whole
// match.
func pushCaptures(L *lua.LState, s string, m pattern.Match, whole bool) int {
	if len(m.Captures) == 0 && whole {
		L.Push(lua.LString(s[m.Start:m.End]))
		return 1
	}
	for _, c := range m.Captures {
		L.Push(capture(s, c))
	}
	return len(m.Captures)
}

func capture(s string, c pattern.Span) lua.LValue {
	if c.IsPosition() {
		return lua.LNumber(c.Start + 1)
	}
	return lua.LString(s[c.Start:c.End])
}

func (lib *stringLib) gmatch(L *lua.LState) int {
	s := L.CheckString(1)
	p := lib.pattern(L, false)
	b := lib.budget(s)
	at := 0
	var buf []pattern.Span
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if at > len(s) {
			return 0
		}
		m, ok := lib.search(L, p, s, at, b, buf)
		if !ok {
			at = len(s) + 1
			return 0
		}
		buf = m.Captures
		at = m.End
		if m.Start == m.End {
			at++
		}
		return pushCaptures(L, s, m, true)
	}))
	return 1
}

func (lib *stringLib) gsub(L *lua.LState) int {
	s := L.CheckString(1)
	p := lib.pattern(L, true)
	L.CheckTypes(3, lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction)
	limit := optInt(L, 4, math.MaxInt)
	b := lib.budget(s)
	var out strings.Builder
	var buf []pattern.Span
	at, count := 0, 0
	for count < limit && at <= len(s) {
		m, ok := lib.search(L, p, s, at, b, buf)
		if !ok {
			break
		}
		buf = m.Captures
		count++
		out.WriteString(s[at:m.Start])
		lib.replace(L, &out, s, m)
		if out.Len() > maxString {
			lib.ev.limits.tooLong(L, "string.gsub")
		}
		at = m.End
		if m.Start == m.End {
			if at < len(s) {
				out.WriteByte(s[at])
			}
			at++
		}
		if p.Anchored() {
			break
		}
	}
	if at < len(s) {
		out.WriteString(s[at:])
	}
	lib.ev.limits.takeString(L, "string.gsub", out.Len())
	L.Push(lua.LString(out.String()))
	L.Push(lua.LNumber(count))
	return 2
}

// replace writes the text that replaces a match in gsub.
func (lib *stringLib) replace(L *lua.LState, out *strings.Builder, s string, m pattern.Match) {
	var v lua.LValue
	switch r := L.Get(3).(type) {
	case *lua.LTable:
		first := lua.LValue(lua.LString(s[m.Start:m.End]))
		if len(m.Captures) > 0 {
			first = capture(s, m.Captures[0])
		}
		v = L.GetTable(r, first)
	case *lua.LFunction:
		L.Push(r)
		n := pushCaptures(L, s, m, true)
		L.Call(n, 1)
		v = L.Get(-1)
		L.Pop(1)
	default:
		lib.expand(L, out, s, m, lib.ev.textOf(L, r))
		return
	}
	if !lua.LVAsBool(v) {
		out.WriteString(s[m.Start:m.End])
		return
	}
	if !lua.LVCanConvToString(v) {
		lib.ev.report.throw(L, "", "string.gsub: %w", diag.Expected("a string to replace %q", s[m.Start:m.End]).Got("%s", kindOf(v)))
	}
	out.WriteString(lib.ev.textOf(L, v))
}

// expand writes a replacement with %0 to %9 filled in.
func (lib *stringLib) expand(L *lua.LState, out *strings.Builder, s string, m pattern.Match, repl string) {
	for n := 1; ; n++ {
		text, rest, found := strings.Cut(repl, "%")
		out.WriteString(text)
		if !found || rest == "" {
			out.WriteString(repl[len(text):])
			return
		}
		if c := rest[0]; c < '0' || c > '9' {
			out.WriteByte(c)
		} else if piece := lib.captured(L, s, m, int(c-'0')); out.Len()+len(piece) <= maxString {
			out.WriteString(piece)
		} else {
			lib.ev.limits.tooLong(L, "string.gsub")
		}
		repl = rest[1:]
		if n%checkExpansion == 0 {
			if err := lib.ev.report.ctx.Err(); err != nil {
				lib.ev.report.throwError(L, err)
			}
		}
	}
}

// captured returns capture n of a match; 0 is the whole match, and so is 1 if there are no
// captures.
func (lib *stringLib) captured(L *lua.LState, s string, m pattern.Match, n int) string {
	switch {
	case n == 0 || n == 1 && len(m.Captures) == 0:
		return s[m.Start:m.End]
	case n > len(m.Captures):
		lib.ev.report.throw(L, "", "string.gsub: the replacement has %%%d, the pattern %d captures", n, len(m.Captures))
	}
	return capture(s, m.Captures[n-1]).String()
}
