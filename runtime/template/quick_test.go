package template

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/facts"
)

func quickEnv() *Env {
	return New(Options{
		Facts: facts.Static(map[string]any{"os": map[string]any{"family": "debian", "release": "12.5", "list": []any{int64(1), "two", nil, 3.5}}}),
		Data: map[string]any{
			"port": int64(80), "name": "web", "none": nil, "on": true, "half": 0.5, "in": "x", "": "empty", "list": []any{"a", map[string]any{"b": "c"}}, "a.b": "dotted",
			"deep": map[string]any{"a": map[string]any{"b": true, "nil": "n"}, "path": "data.name", "7": "seven"}, "no": []any(nil), "tree": map[string]any(nil),
		},
		Environ: map[string]string{"HOME": "/root", "EMPTY": ""},
	}).WithVars(map[string]any{"host": "h1", "n": int64(3), "nothing": nil, "user": map[string]any{"name": "u", "age": int64(7), "x": nil}, "items": []any{"i"}, "yes": true, "len": "own"})
}

// sameAsCompiled holds that a quick value is that of the compiled expression. It reports whether there is a quick value.
func sameAsCompiled(t *testing.T, e *Env, code string) bool {
	got, ok := e.quick(code)
	if !ok {
		return false
	}
	prog, err := compile(code, *newConfig(e.variables()))
	require.NoError(t, err, "%q has the quick value %v", code, got)
	want, err := expr.Run(prog, e.variables())
	require.NoError(t, err, "%q has the quick value %v", code, got)
	wantPlain, err := plain(want)
	require.NoError(t, err, code)
	gotPlain, err := plain(got)
	require.NoError(t, err, code)
	require.Equal(t, fmt.Sprintf("%#v", wantPlain), fmt.Sprintf("%#v", gotPlain), code)
	return true
}

// quickParts are pieces of expressions; _ stands for an expression.
var quickParts = []string{
	`Data.port`, `data.name`, `Data.none`, `Data.nosuch`, `Data.deep.a.b`, `Data.deep.nosuch.x`, `Data?.nosuch`, `Data.deep?.x.y`, `Data["a.b"]`, `Data['port']`, `Data.list[0]`, `Data.list[1].b`, `Data.list[7]`, `Data.list[01]`, `Data.in`, `Data.deep.a.nil`,
	`Data`, `Facts.os.family`, `facts.os.release.major`, `Facts.os.list[2]`, `Facts.os.list[3]`, `Environ.HOME`, `env.EMPTY`, `env.NOSUCH`, `Data.deep[7]`, `Data.no`, `Data.tree`, `Data?.deep["a"]`, `Data.half`, `Data.on`,
	`"text"`, `'x'`, `''`, `"é"`, `"\n"`, `'it''s'`, `0`, `80`, `1.5`, `1e3`, `0x10`, `1_000`, `99999999999`, `true`, `false`, `nil`, `1..3`, `[1]`, `{"a": 1}`, `now()`, "`raw`", `b"x"`,
	`host`, `n`, `nothing`, `user`, `user.name`, `user.x`, `user.nosuch`, `user?.name`, `items`, `items[0]`, `yes`, `len`, `unknown`, `host.x`, `not`, `user . name`, `Data . port`, `$env`, `hosté`,
	`lookup("data.name")`, `lookup("data.nosuch")`, `lookup("data.nosuch", "d")`, `lookup("data.none", _)`, `lookup(_)`, `lookup(_, _)`, `lookup()`, `lookup("data.list.#")`, `lookup("data.a.b")`, `lookup (Data.deep.path)`, `lookup(_, _, _)`,
	`(_)`, `_ + _`, `_ ?? _`, `_??_`, `_ ?? _ ?? _`, `(_ ?? _) + _`, `_ + (_ ?? _)`, `_ + _ + _`, ` _ `, `_ - _`, `_ || _`, `_ == _`, `_ ? _ : _`, `!_`, `-_`, `+_`, `_ | len()`, `_[0]`, `_.x`, `_ // c`, `_ /* c */`, `_ in _`, `let x = _; x`, `_;_`,
}

// randomCode returns an expression made of quickParts.
func randomCode(r *rand.Rand, depth int) string {
	part := quickParts[r.IntN(len(quickParts))]
	code := ""
	for _, c := range part {
		switch {
		case c != '_' || part == "1_000":
			code += string(c)
		case depth == 0:
			code += quickParts[r.IntN(20)]
		default:
			code += randomCode(r, depth-1)
		}
	}
	return code
}

// TestQuick: an expression that is evaluated without the compiler has the same value as with it, and the frequent
// kinds of expressions are evaluated so. All others, and all mistakes, are left to the compiler.
func TestQuick(t *testing.T) {
	e, taken := quickEnv(), 0
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		if sameAsCompiled(t, e, randomCode(r, 3)) {
			taken++
		}
	}
	require.Greater(t, taken, 2000)
	for _, code := range []string{
		`Data.port`, ` Facts.os.family `, `Data.nosuch ?? "d"`, `Data.nosuch ?? Data.alsonot ?? 1`, `lookup("data.nosuch", Data.port)`, `lookup("facts.os.family")`, `"a" + Data.name + '-' + host`, `Data?.x?.y`, `user.name`, `(Data.nosuch ?? "x") + "y"`,
		`Data["a.b"]`, `Data.list[0]`,
	} {
		require.True(t, sameAsCompiled(t, e, code), code)
	}
	for _, code := range []string{`Data.nosuch`, `Data.port + 1`, `Data.a ?? "b" + "c"`, `now()`, `unknown`, `lookup("data.nosuch") ?? 1`, `Data.`, `"a`, `(Data.port`, ``} {
		require.False(t, sameAsCompiled(t, e, code), code)
	}
}

// TestQuickPrograms: expressions of frequent kinds need no compiler, and the programs of others are kept up to a limit.
func TestQuickPrograms(t *testing.T) {
	e := quickEnv()
	for i := range 2 * maxPrograms {
		val, err := e.Evaluate(fmt.Sprintf(`Data.p%d ?? "%d"`, i, i))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), val)
	}
	require.Nil(t, e.known.config)
	require.Nil(t, e.vars)
	for i := range maxPrograms + 1 {
		_, err := e.Evaluate(fmt.Sprint(`n * `, i))
		require.NoError(t, err)
	}
	require.Len(t, e.known.programs, 1)
}

// TestVariants: copies with variables of the same names and types share what the compiler knows.
func TestVariants(t *testing.T) {
	e := New(Options{})
	one, two := e.WithVars(map[string]any{"n": int64(1)}), e.WithVars(map[string]any{"n": int64(2)})
	require.Same(t, one.known, two.known)
	for _, x := range []*Env{one, two} {
		val, err := x.Evaluate(`n * 10`)
		require.NoError(t, err)
		require.Equal(t, x.o.Vars["n"].(int64)*10, int64(val.(int64)))
	}
	require.NotSame(t, one.known, e.WithVars(map[string]any{"n": "text"}).known)
	require.NotSame(t, one.known, e.known)
}

// FuzzQuick compares quick values with those of the compiler.
func FuzzQuick(f *testing.F) {
	for _, code := range quickParts {
		f.Add(code)
	}
	e := quickEnv()
	f.Fuzz(func(t *testing.T, code string) { sameAsCompiled(t, e, code) })
}
