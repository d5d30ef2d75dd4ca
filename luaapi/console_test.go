package luaapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// newConsole returns a console and its catalog.
func newConsole(t *testing.T) (*luaapi.Console, *catalog.Builder) {
	t.Helper()
	var b catalog.Builder
	in := luaapi.New(luaapi.Options{
		Registry: registry(t), Builder: &b, Version: "1.0",
		Facts: facts.Static(map[string]any{"os": map[string]any{"family": "debian"}}),
	})
	t.Cleanup(in.Close)
	return luaapi.NewConsole(in, t.TempDir()), &b
}

// values returns the result of an evaluation as text.
func values(s *luaapi.Console, res luaapi.Evaluation) string {
	var out []string
	for _, v := range res.Values {
		text, ok := s.Text(v)
		if !ok {
			text = v.String()
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// A session is a list of texts, each with its result or the message of its mistake.
func TestSessionEval(t *testing.T) {
	type step struct{ text, want string }
	for _, x := range []struct {
		name  string
		steps []step
	}{
		{"expressions and statements", []step{
			{"1 + 1", "2"},
			{"= 1 + 1", "2"},
			{" =1 + 1", "2"},
			{"1, 'a', nil", "1 a nil"},
			{"-- nothing", ""},
			{"local x = 2", ""},
			{"return x, x", "2 2"},
			{"(function() end)()", ""},
			{"(function() return nil end)()", "nil"},
			{"-- a comment\nx", "2"},
			{"x;", "2"},
		}},
		{"locals of the top level stay", []step{
			{"local a, b = 1", ""},
			{"a", "1"},
			{"b", "nil"},
			{"local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end", ""},
			{"fib(10)", "55"},
			{"function twice(n) return n * 2 end", ""},
			{"twice(a)", "2"},
			{"do local inner = 1 end", ""},
			{"inner", `repl:9:1:1: undefined global "inner"`},
			{"local a = a + 1", ""},
			{"a", "2"},
			{"for i = 1, 3 do a = a + i end", ""},
			{"a", "8"},
			{"local t = setmetatable({}, { __index = function(_, k) return k .. k end })", ""},
			{"t.ab", "abab"},
			{"a = nil", ""},
			{"a", "nil"},
		}},
		{"the last value", []step{
			{"_", "nil"},
			{"6 * 7", "42"},
			{"_ + 1", "43"},
			{"nil", "nil"},
			{"_", "43"},
			{"for _, v in ipairs { 1 } do local x = v end", ""},
			{"_", "43"},
		}},
		{"typos", []step{
			{"local config = { port = 80 }", ""},
			{"confg", `repl:2:1:1: undefined global "confg" (did you mean "config"?)`},
			{"confg.port", `repl:3:1:1: undefined global "confg" (did you mean "config"?)`},
			{"facst", `repl:4:1:1: undefined global "facst" (did you mean "facts"?)`},
			{"facts.os.famly", `repl:5:1:1: no fact "famly" in facts.os (did you mean "family"?)`},
			{"count = 0", ""},
			{"function bump() coutn = count + 1 end", ""},
			{"bump()", `repl:7:1:17: assignment to undefined global "coutn" (did you mean "count"? declare a new variable with local coutn)`},
			{"if true then total = 1 end", `repl:9:1:14: assignment to undefined global "total" (declare it with local total)`},
			{"total", `repl:10:1:1: undefined global "total"`},
			{"file = 3", `repl:11:1:1: "file" is a global of ccm and cannot be replaced (declare a variable with local file)`},
			{"local print = 3", ""},
			{"print", "3"},
			{"confg = confg + 1", `repl:14:1:9: undefined global "confg" (did you mean "config"?)`},
			{"confg", `repl:15:1:1: undefined global "confg" (did you mean "config"?)`},
		}},
		{"mistakes have their place", []step{
			{"1 +* 2", `repl:1:1:4: expected a value, got *`},
			{"x = = 3", `repl:2:1:5: expected a value, got =`},
			{`"abc`, `repl:3:1:1: expected a quote to end the string that begins here`},
			{"local t = {}\nlocal u = 1\nt.x.y = 2", `repl:4:3:1: t.x.y: 'x' is nil`},
			{"file { '/a', mdoe = '0644' }", `repl:5:1:14: file#/a: unknown property "mdoe" (did you mean "mode"?)`},
			{"error('no')", `repl:6:1:1: no`},
			{"error({ code = 1 })", `repl:7:1:1: { code = 1 }`},
			{"ccm.fail('stop')", `repl:8:1:1: stop`},
			{"('x'):bad()", `repl:9:1:2: "x":bad: 'bad' is nil, not a function`},
			{"1 1", `repl:10:1:3: expected an operator or the end, got the number 1`},
		}},
		{"declarations", []step{
			{"file { '/a', owner = 'root' }", "file#/a"},
			{"local b = file { '/b', '/c' }", ""},
			{"b", "file#/b, file#/c"},
			{"file { '/d', require = b }", "file#/d"},
			{"file { '/a', owner = 'root' }", "file#/a"},
			{"file { '/a', owner = 'me' }", "file#/a"},
			{"file { '/e' } file { '/e', owner = 'x' }", `repl:7:1:15: file#/e: is already declared at repl:7:1`},
			{"file { '/f' }\nerror('x')", `repl:8:2:1: x`},
			{"file.defaults { owner = 'www' }", ""},
			{"file { '/g' }", "file#/g"},
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, _ := newConsole(t)
			for _, st := range x.steps {
				res, err := s.Eval(t.Context(), st.text)
				got := values(s, res)
				if err != nil {
					var list diag.List
					list.Add(err)
					got, _, _ = strings.Cut(list[0].Error(), "\n")
				}
				require.Equal(t, st.want, got, st.text)
			}
		})
	}
}

// A text with a mistake declares nothing; a resource that is declared again replaces the old one, and moves to the
// end.
func TestSessionCatalog(t *testing.T) {
	s, b := newConsole(t)
	eval := func(text string) (luaapi.Evaluation, error) { return s.Eval(t.Context(), text) }
	ids := func() string {
		var out []string
		for _, r := range b.Resources() {
			out = append(out, r.ID.Name)
		}
		return strings.Join(out, " ")
	}
	_, err := eval("file { '/a' } file { '/b', alias = 'bee' }")
	require.NoError(t, err)
	_, err = eval("file { '/c' } file { '/d', modde = 1 }")
	require.Error(t, err)
	require.Equal(t, "/a /b", ids())

	res, err := eval("file { '/a', owner = 'x' }")
	require.NoError(t, err)
	require.Len(t, res.Replacements, 1)
	require.Equal(t, "repl:1:1", res.Replacements[0].Old.Pos.String())
	require.Equal(t, "/b /a", ids())

	_, err = eval("file { '/a', owner = 'y', alias = 'bee' }")
	require.ErrorContains(t, err, "file#bee is already the name or alias of file#/b")
	require.Equal(t, "/b /a", ids(), "what could not be replaced is still there")
	require.Equal(t, "repl:3:1", b.Resources()[1].Pos.String())

	_, err = eval("file { '/a', owner = 'x' }")
	require.NoError(t, err)
	require.Equal(t, "repl:3:1", b.Resources()[1].Pos.String(), "what is the same replaces nothing")
}

func TestSessionInterrupted(t *testing.T) {
	s, _ := newConsole(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Eval(ctx, "while true do end")
	require.ErrorContains(t, err, "repl:1:1: interrupted")
	require.ErrorIs(t, err, context.Canceled)
	res, err := s.Eval(t.Context(), "1 + 1")
	require.NoError(t, err)
	require.Equal(t, "2", values(s, res))
}

func TestUnfinished(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "1": false, "1 +": true, "x =": true, "f(": true, "{": true, "function f()": true, "for i = 1, 2 do": true,
		"if x then\n": true, "if x then\n\n\n": true, "[[": true, "[==[ ]]": true, "--[[": true, "-- c": false, `"abc`: false, `f("abc`: false,
		`"abc\`: true, `"abc\\`: false, "repeat": true, "end": false, ")": false, "local x": false, "local function f() return 1 end": false,
		"return": false, "x.": true, "=": false, "= 1 +": true, "file { '/x',": true, "f {\n  a = 1,\n": true, "1 1": false,
	} {
		require.Equal(t, want, luaapi.Unfinished(text), "%q", text)
	}
}

// A live value gives its fields and refuses others.
func TestLive(t *testing.T) {
	s, _ := newConsole(t)
	s.Define("things", func(_ context.Context, args []any) (any, error) {
		if len(args) > 0 {
			return nil, errors.New("no arguments please")
		}
		return things{{Name: "a", Size: 1, Tags: []string{"x"}}, {Name: "b", Size: 2}}, nil
	})
	for _, st := range []struct{ text, want string }{
		{"#things()", "2"},
		{"things()[1].name", "a"},
		{"things()[3]", "nil"},
		{"things()[1.5]", "nil"},
		{"things().b.size", "2"},
		{"things():big().a", `repl:6:1:1: a things does not have the field "a" (fields: big)`},
		{"#things():big()", "1"},
		{"things()[1].nmae", `repl:8:1:1: a small thing does not have the field "nmae" (did you mean "name"?)`},
		{"things()[1].Hidden", `repl:9:1:1: a small thing does not have the field "Hidden" (fields: name, size, tags)`},
		{"things()[1].size = 3", `repl:10:1:1: small thing is read-only`},
		{"things()[1].tags[1]", "x"},
		{"things().String", `repl:12:1:1: a things does not have the field "String" (fields: big)`},
		{"local n = '' for i, v in ipairs(things()) do n = n .. i .. v.name end return n", "1a2b"},
		{"local n = '' for k, v in pairs(things()[2]) do n = n .. k .. tostring(v) .. ' ' end return n", "nameb size2 "},
		{"tostring(things()[2])", "thing b"},
		{"things('x')", `repl:16:1:1: no arguments please`},
		{"getmetatable(things())", "false"},
		{"-things()", `repl:18:1:2: the result of things(): expected a number, got a value of ccm`},
	} {
		res, err := s.Eval(t.Context(), st.text)
		got := values(s, res)
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		}
		require.Equal(t, st.want, got, st.text)
	}
}

type things []*thing

func (things) LuaMethods() []string { return []string{"big"} }

func (l things) Big() things {
	var out things
	for _, x := range l {
		if x.Size > 1 {
			out = append(out, x)
		}
	}
	return out
}

func (things) String() string { return "things" }

type thing struct {
	Name   string   `json:"name"`
	Size   int      `json:"size"`
	Tags   []string `json:"tags"`
	Hidden string   `json:"-"`
}

func (*thing) LuaName() string  { return "small thing" }
func (x *thing) Key() string    { return x.Name }
func (x *thing) String() string { return "thing " + x.Name }

// Input at the prompt becomes a part of a script.
func TestAsScript(t *testing.T) {
	for _, x := range []struct {
		text  string
		fresh []string
		want  string
	}{
		{"x = 1", []string{"x"}, "local x = 1"},
		{"x, y = 1, 2", []string{"x", "y"}, "local x, y = 1, 2"},
		{"x, y = 1, 2", []string{"y"}, "local y\nx, y = 1, 2"},
		{"x = 1", nil, "x = 1"},
		{"function f() end", []string{"f"}, "local function f() end"},
		{"local x = 1", []string{"x"}, "local x = 1"},
		{"x = 1\ny = 2", []string{"x", "y"}, "local x, y\nx = 1\ny = 2"},
		{"t.x = 1", nil, "t.x = 1"},
	} {
		require.Equal(t, x.want, luaapi.AsScript(x.text, x.fresh), x.text)
	}
	require.Equal(t, []string{"plan", "print"}, luaapi.FreeNames("local p = plan() for _, x in p do print(x, _) end"))
}
