package template

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
)

var files = fstest.MapFS{
	"site/motd.txt":    {Data: []byte("hello ${ Data.name }\n")},
	"site/app.templ":   {Data: []byte("name=${ Data.name }\nport=${ Data.port }\n")},
	"site/bad.templ":   {Data: []byte("one\ntwo ${ Data.nmae }\n")},
	"site/loop.templ":  {Data: []byte("${ template('loop.templ') }")},
	"site/app.jet":     {Data: []byte("{* all *}\n[[ range k, v := Data.users ]][[ k ]]=[[ v ]] [[ end ]][[ lookup(\"facts.os.family\") ]]")},
	"site/bad.jet":     {Data: []byte("a\nb [[ lookup(\"data.nope\") ]]\n")},
	"site/missing.jet": {Data: []byte("a\nb\n[[ Data.nope ]]\n")},
	"site/syntax.jet":  {Data: []byte("a\n[[ range ]]\n")},
	"site/include.jet": {Data: []byte("x [[ include \"part.jet\" ]] y")},
	"site/part.jet":    {Data: []byte("part of [[ Data.name ]]")},
	"site/badincl.jet": {Data: []byte("x\n[[ include \"bad.jet\" ]]")},
}

func newEnv() *Env {
	return New(Options{
		Facts: facts.Static(map[string]any{
			"os":      map[string]any{"family": "debian", "version": "12", "version_major": int64(12)},
			"role":    nil,
			"network": map[string]any{"interfaces": []any{map[string]any{"name": "lo"}, map[string]any{"name": "eth0"}}},
			"memory":  map[string]any{"total": int64(1 << 40), "load": 0.5},
		}),
		Data: map[string]any{
			"name": "web", "port": int64(8080), "on": true, "ratio": 1.5, "nothing": nil,
			"packages": []any{"zsh", "tar"}, "users": map[string]any{"zoe": int64(1), "al": int64(2), "mia": int64(3)},
			"text": "${ Data.name }", "a.b": "dotted",
		},
		Environ: map[string]string{"HOME": "/root"},
		Dir:     "/site",
		ReadFile: func(path string) ([]byte, error) {
			return fs.ReadFile(files, path[1:])
		},
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
}

func TestExpand(t *testing.T) {
	for _, tt := range []struct {
		text string
		want any
	}{
		{"plain", "plain"},
		{"${ Data.name }", "web"},
		{"{{ Data.name }}", "web"},
		{"${{ Data.name }}", "$web"},
		{"a ${ Data.name } b {{ Data.port }}", "a web b 8080"},
		{"${ Data.port }", int64(8080)},
		{"${ Data.on }", true},
		{"${Data.ratio}", 1.5},
		{"x${Data.ratio}", "x1.5"},
		{"${ Data.packages }", []any{"zsh", "tar"}},
		{"  ${ Data.packages }\n", []any{"zsh", "tar"}},
		{" ${ Data.name }\n", " web\n"},
		{"${ Data.nothing }", nil},
		{"${ data.users.al }", int64(2)},
		{"${ Data['a.b'] }", "dotted"},
		{`${ lookup('data.a\\.b') }`, "dotted"},
		{"${ Facts.os.family }", "debian"},
		{"${ Facts.os.version.major } ${ Facts.os.version.major ?? 1 } ${ lookup('facts.os.version.major', 1) }", "12 12 12"},
		{"${ Facts.os.version.patch ?? 1 } ${ lookup('facts.os.version.patch', 1) }", "1 1"},
		{"${ facts.os['family'] }", "debian"},
		{"${ Facts.network.interfaces[1].name }", "eth0"},
		{"${ lookup('facts.network.interfaces.0.name') }", "lo"},
		{"${ lookup('facts.network.interfaces.#') }", int64(2)},
		{"${ lookup('facts.network.interfaces.#.name') }", []any{"lo", "eth0"}},
		{"${ lookup('facts.memory.total') }", int64(1 << 40)},
		{"${ lookup('facts.memory.load') }", 0.5},
		{"${ lookup('data.packages.#') }", int64(2)},
		{"${ lookup('data.nope', 'd') }", "d"},
		{"${ lookup('data.nope.deep', 5) }", int64(5)},
		{"${ lookup('data.nope', nil) }", nil},
		{"${ lookup('env.HOME') }", "/root"},
		{"${ lookup('environ.MY_VAR', 'default') }", "default"},
		{"${ Environ.HOME }", "/root"},
		{"${ env.HOME }", "/root"},
		{"${ Data.nope ?? 'd' }", "d"},
		{"${ Data.nope.deeper ?? 'd' }", "d"},
		{"${ Data?.nope?.deeper }", nil},
		{"${ Data?.nope?.deeper ?? 'x' }", "x"},
		{"${ 'name' in Data ? Data.name : Data.nope }", "web"},
		{"${ 'nope' in Data ? Data.nope : 'other' }", "other"},
		{"${ len(Data.packages) + 1 }", int64(3)},
		{"${ join(map(Data.packages, upper(#)), ',') }", "ZSH,TAR"},
		{"${ filter(Facts.network.interfaces, .name != 'lo')[0].name }", "eth0"},
		{"${ keys(Data.users) }", []any{"al", "mia", "zoe"}},
		{"${ values(Data.users) }", []any{int64(2), int64(3), int64(1)}},
		{"${ toPairs(Data.users)[0] }", []any{"al", int64(2)}},
		{"${ {'a': {'b': 1}} }", map[string]any{"a": map[string]any{"b": int64(1)}}},
		{"{{ {'a': {'b': 1}}.a.b }}", int64(1)},
		{"${ '}' + \"}}\" + `}` }", "}}}}"},
		{"${ '${ HOME }' }", "${ HOME }"},
		{"${ Data.text }", "${ Data.name }"}, // nothing is resolved twice
		{"-${ Data.text }-", "-${ Data.name }-"},
		{"${ file('motd.txt') }", "hello ${ Data.name }\n"},
		{"${ readFile('/site/motd.txt') }", "hello ${ Data.name }\n"},
		{"${ template('x ${ Data.name }') }", "x web"},
		{"${ template('app.templ') }", "name=web\nport=8080\n"},
		{"${ template('app.jet') }", "al=2 mia=3 zoe=1 debian"},
		{"${ jet('[[ Data.name ]]!') }", "web!"},
		{"${ jet('<< Data.name >>!', '<<', '>>') }", "web!"},
		{"${ jet('[[ -Data.port ]] [[ - 3 ]] [[ 1 + -2 - Data.port ]]') }", "-8080 -3 -8081"},
		{"${ jet('[[ range i, n := ints(1, 4) ]][[ i ]]=[[ n ]] [[ end ]]') }", "0=1 1=2 2=3 "},
		{"${ jet('[[ range ints(1, 4) ]][[ . ]][[ end ]]') }", "123"},
		{"${ jet('include.jet') }", "x part of web y"},
		{"${ now() }", "2026-01-02T03:04:05Z"},
		{"${ now().Format('2006') }", "2026"},
	} {
		got, err := newEnv().Expand(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, got, tt.text)
	}
}

func TestExpandErrors(t *testing.T) {
	for _, tt := range []struct {
		text           string
		offset, length int
		want           string
	}{
		{"${ Data.nmae }", 3, 9, `no data "nmae" (did you mean "name"?)`},
		{"a ${ Data.users.all } b", 5, 14, `no data "users.all" (did you mean "al"?)`},
		{"a ${ Facts.os.familly } b", 5, 16, `no fact "os.familly" (did you mean "family"?)`},
		{"${ lookup('facts.os.nope') }", 3, 23, `no fact "os.nope" (add a default with lookup(path, default) or ??)`},
		{"${ Facts.os.version.patch }", 3, 22, `no fact "os.version.patch": os.version is a text`},
		{"${ lookup('facts.os.version.patch') }", 3, 32, `no fact "os.version.patch": os.version is a text`},
		{"${ lookup('fcts.os') }", 3, 17, `expected a path that begins with facts, data or env, got "fcts.os" (did you mean "facts"?)`},
		{"${ lookup(5) }", 3, 6, `lookup: expected a path, got the number 5`},
		{"${ Environ.HOM }", 3, 11, `no environment variable "HOM" (did you mean "HOME"?)`},
		{"é ${ zzqq }", 6, 4, "unknown name \"zzqq\" (for a literal one use ${ '${zzqq}' })"},
		{"echo ${HOME}", 7, 4, "unknown name \"HOME\" (for a literal one use ${ '${HOME}' })"},
		{"{{ Data.a-zzqq }}", 10, 4, `unknown name "zzqq" (for a name with a dash use Data["a-zzqq"])`},
		{"{{ zzqq | upper() }}", 3, 4, `unknown name "zzqq"`},
		{"a${1}", 1, 4, "${1} is evaluated to the number 1 here (for a literal one use ${ '${1}' })"},
		{"${ lokup('x') }", 3, 5, `unknown name "lokup" (did you mean "lookup"?)`},
		{"${ 1 + }", 5, 1, "unexpected end of the expression"},
		{"${ (1)) }", 6, 1, `unexpected ")"`},
		{"${ 1 = 2 }", 5, 1, `unexpected "="`},
		{"${ Data. }", 7, 1, "unexpected end of the expression"},
		{"x ${ Data.name", 2, 2, "missing } after ${ (for a literal one use ${ '${' })"},
		{"x {{ Data.name }", 2, 2, "missing }} after {{ (for a literal one use ${ '{{' })"},
		{"${}", 0, 3, "expected an expression in ${}, found none (for a literal one use ${ '${}' })"},
		{"x ${ Data.packages }", 2, 18, "expected a string or number for the text, got a list (use join or toJSON)"},
		{"x ${ Data.nothing }", 2, 17, "expected a value for the text, got nothing (add a default with ??)"},
		{"${ Data.name + 1 }", 13, 1, "string + int"},
		{"${ file('nope.txt') }", 3, 4, "nope.txt"},
		{"${ template('loop.templ') }", 3, 8, "nesting of templates exceeds the limit of 20 levels"},
		{"${ jet('a', 'b') }", 3, 3, "jet: expected a template and optionally both delimiters, got 2 values"},
	} {
		_, err := newEnv().Expand(tt.text)
		te, ok := errors.AsType[*Error](err)
		require.True(t, ok, "%s: %v", tt.text, err)
		require.Contains(t, te.Error(), tt.want, tt.text)
		require.Equal(t, []int{tt.offset, tt.length}, []int{te.Offset, te.Length}, "%s: %v", tt.text, err)
	}
}

func TestErrorsInTemplatesNameTheTemplate(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"${ template('bad.templ') }", `/site/bad.templ:2:8: no data "nmae" (did you mean "name"?)`},
		{"${ jet('bad.jet') }", `/site/bad.jet:2: no data "nope"`},
		{"${ jet('missing.jet') }", `/site/missing.jet:3: undefined value Data.nope: add a default with lookup(path, default), or test it with isset`},
		{"${ jet('syntax.jet') }", `/site/syntax.jet:2: parsing range: unexpected token`},
		{"${ jet('badincl.jet') }", `/site/bad.jet:2: no data "nope"`},
		{"${ jet(`a\n[[ Data.nope ]]`) }", `line 2 of the template: undefined value Data.nope`},
		{"${ jet(`a\n[[ Facts.os.version.major ]]`) }", `line 2 of the template: field of a string or list`},
		{"${ jet(`a\n[[ .os.family ]]`) }", `line 2 of the template: names do not begin with a dot here (remove the dot: [[ os.family ]])`},
		{"${ jet('nope.jet') }", `jet: no file /site/nope.jet`},
	} {
		_, err := newEnv().Expand(tt.text)
		require.Error(t, err, tt.text)
		require.Contains(t, err.Error(), tt.want, tt.text)
	}
}

func TestCondition(t *testing.T) {
	for text, want := range map[string]bool{
		"true": true, "false": false,
		`lookup("facts.os.family") == "debian"`: true,
		"${ Facts.os.family == 'rhel' }":        false,
		"{{ Data.on }}":                         true,
		"Data.port > 80 && Data.on":             true,
	} {
		got, err := newEnv().Condition(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	_, err := newEnv().Condition("Data.name")
	require.EqualError(t, err, `expected true or false, got "web"`)
}

func TestExpandEach(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		given      bool
	}{
		{"default", "default", true},
		{"os:${ Facts.os.family }", "os:debian", true},
		{"role:${ lookup('facts.roles', '') }", "role:", false},
		{"role:${ Facts.role ?? nil }", "role:", false},
		{"${ lookup('facts.nope', '') }:${ Facts.os.family }", ":debian", true},
	} {
		got, given, err := newEnv().ExpandEach(tt.text)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
		require.Equal(t, tt.given, given, tt.text)
	}
	for text, want := range map[string]string{
		"x:${ nope }":                      `unknown name "nope"`,
		"role:{{ lookup('facts.roles') }}": `no fact "roles"`,
		"role:${ Facts.roles }":            `no fact "roles"`,
	} {
		_, _, err := newEnv().ExpandEach(text)
		require.ErrorContains(t, err, want, text)
	}
}

// A value of the wrong type is named in our words.
func TestWrongTypeInExpression(t *testing.T) {
	for text, want := range map[string]string{
		"${ !lookup('facts.none', nil) }":      "expected true or false, got nothing",
		"${ lookup('facts.none', 3) ? 1 : 2 }": "expected true or false, got a number",
		"${ !lookup('facts.none', 'x') }":      "expected true or false, got a string",
		"${ !lookup('facts.none', [1, 2]) }":   "expected true or false, got a list",
	} {
		_, err := newEnv().Expand(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestSealedSeesFactsOnly(t *testing.T) {
	e := newEnv().ForData()
	val, err := e.Expand("${ Facts.os.family }")
	require.NoError(t, err)
	require.Equal(t, "debian", val)
	_, err = e.Expand("${ file('motd.txt') }")
	require.ErrorContains(t, err, `unknown name "file" (files cannot be read in data)`)
	_, err = e.Expand("${ Data.name }")
	require.ErrorContains(t, err, `no data "name"`)
}

func TestRenderManifestKnowsItsLines(t *testing.T) {
	r, err := newEnv().RenderManifest("/site/r.jet", "{* x *}\n- file:\n[[ range Data.packages ]]\n  - [[ . ]]: [[ Data.text ]]\n  [[- if Data.on ]]\n    on\n[[ end ]]\n[[ end ]]last\n")
	require.NoError(t, err)
	require.Equal(t, "\n- file:\n\n  - zsh: $\uFDD2{\uFDD2 Data.name }\n    on\n\n\n  - tar: $\uFDD2{\uFDD2 Data.name }\n    on\n\nlast\n", r.Text)
	require.Equal(t, "${ x }", Clean("$\uFDD2{\uFDD2 x }"))
	var lines []int
	for _, l := range r.Lines {
		require.Equal(t, "/site/r.jet", l.File)
		lines = append(lines, l.Line)
	}
	require.Equal(t, []int{1, 2, 3, 4, 6, 7, 3, 4, 6, 7, 8, 9}, lines)
}

func TestOnlyTheFactsThatAreAskedForAreGathered(t *testing.T) {
	for text, want := range map[string][]string{
		"${ Facts.os.family }":              {"os"},
		"${ lookup('facts.os.family') }":    {"os"},
		"${ lookup('facts.os.@keys') }":     {"os"},
		"${ lookup('facts.nope', 'x') }":    nil,
		"${ Facts.nope ?? Facts.slow.x }":   {"slow"},
		"${ Data.a }":                       nil,
		"${ jet('[[ Data.a ]]') }":          nil,
		"${ jet('[[ Facts.os.family ]]') }": {"os", "slow"},
		"${ len(Facts) }":                   {"os", "slow"},
	} {
		var gathered []string
		gatherer := func(name string, val any) facts.Gatherer {
			return facts.Gatherer{Name: name, Gather: func(context.Context, *host.View) (any, error) {
				gathered = append(gathered, name)
				return val, nil
			}}
		}
		f := facts.New(t.Context(), nil, []facts.Gatherer{
			gatherer("os", map[string]any{"family": "debian"}), gatherer("slow", map[string]any{"x": "y"}),
		}, nil)
		e := New(Options{Facts: f, Data: map[string]any{"a": "b"}, ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist }})
		_, err := e.Expand(text)
		require.NoError(t, err, text)
		require.Equal(t, want, gathered, text)
	}
}

func TestLookup(t *testing.T) {
	e := newEnv()
	val, err := e.Lookup("data.users.al")
	require.NoError(t, err)
	require.Equal(t, int64(2), val)
	val, err = e.Lookup("data.nope", "d")
	require.NoError(t, err)
	require.Equal(t, "d", val)
	_, err = e.Lookup("data.usrs")
	require.EqualError(t, err, `no data "usrs" (did you mean "users"?)`)
}
