package template_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/heap"
	"github.com/luaccm/ccm/runtime/template"
)

// Templates and expressions that would never end, or would end ccm, end with an
// error.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs into every limit: make test-all")
	}
	stop := errors.New("stop")
	files := map[string]string{"/d/self.jet": `[[ include "self.jet" ]]`, "/d/big.jet": strings.Repeat("x", 2<<20)}
	e := template.New(template.Options{
		Dir: "/d", Data: map[string]any{"many": make([]any, 1000), "forty": make([]any, 40)},
		ReadFile: func(path string) ([]byte, error) { return []byte(files[path]), nil },
	})
	const (
		full = "memory" // "" is whichever limit comes first
	)
	for text, want := range map[string]string{
		`${ sum(Data.many, sum(Data.many, sum(Data.many, sum(Data.many, 1)))) }`: "template exceeds the limit of 1000000 steps",
		`${ jet("[[ block a() ]][[ yield a() ]][[ end ]]") }`:                    "too many nested templates and blocks: does one call itself?",
		`${ jet("self.jet") }`:                                                  "too many nested templates and blocks: does one call itself?",
		`${ jet('[[ repeat("x", 20000000000) ]]') }`:                            "output exceeds the limit of 67108864 bytes",
		`${ jet('[[ s := repeat("x", 10000) ]][[ replace(s, "x", s, -1) ]]') }`: "output exceeds the limit of 67108864 bytes",
		`${ jet('[[ range data.many ]][[ repeat("x", 100000) ]][[ end ]]') }`:   "",
		"${" + strings.Repeat("(", 1<<16) + "}":                                 "unexpected end of the expression",
		"${" + strings.Repeat("!", 1<<17) + "}":                                 "the expression must be at most 65536 bytes, got 131072",
		"${ jet('[['+repeat('(', 70000)+']]') }":                                "the text between [[ and ]] must be at most 65536 bytes, got 70000",
		`${ jet("big.jet") }`:                                                   "the template must be at most 1048576 bytes, got 2097152",
		// A value that is repeatedly doubled.
		`${ reduce(Data.forty, #acc + #acc, "xxxxxxxx") }`: full,
		`${ let a = "xxxxxxxx"; let b = a + a + a + a + a + a + a + a; let c = b + b + b + b + b + b + b + b; reduce(Data.forty, #acc + c + #acc, c) }`: full,
		`${ reduce(Data.many, toBase64(#acc), "xxxxxxxx") }`:                full,
		`${ len(reduce(Data.forty, concat(#acc, #acc), [1, 2])) }`:          "",
		`${ len(reduce(Data.forty, flatten([#acc, #acc]), [1, 2])) }`:       "",
		`${ len(reduce(Data.forty, upper(#acc) + lower(#acc), "x")) }`:      full,
		`${ len(reduce(Data.forty, toJSON(toJSON(toJSON(#acc))), "\"x")) }`: "",
		`${ len(reduce(Data.forty, join([#acc, #acc], ","), "x")) }`:        "",
		`${ repeat("x", 100000000000) }`:                                    "output exceeds the limit of 67108864 bytes",
		`${ replace(repeat("x", 100000), "x", repeat("y", 100000)) }`:       "output exceeds the limit of 67108864 bytes",
		`${ join(split(repeat("x", 100000), ""), repeat("y", 100000)) }`:    "output exceeds the limit of 67108864 bytes",
		// One call, with an argument that makes it long.
		`${ reduce(Data.forty, [#acc, #acc], 1) }`:                                                                    "",
		`${ toJSON(reduce(Data.forty, [#acc, #acc], 1)) }`:                                                            "",
		`${ string(reduce(Data.forty, [#acc, #acc], 1)) }`:                                                            "",
		`${ jet('[[ s := "xxxxxxxx" ]][[ range data.forty ]][[ s = s + s ]][[ end ]]') }`:                             full,
		`${ jet('[[ s := "xxxxxxxx" ]][[ range data.forty ]][[ if true ]][[ s = html(s) + s ]][[ end ]][[ end ]]') }`: full,
		`${ jet('[[ s := slice(1, 2) ]][[ range data.forty ]][[ s = slice(s, s) ]][[ end ]][[ json(s) ]]') }`:         "",
		`${ jet('[[ s := slice(1, 2) ]][[ range data.forty ]][[ s = slice(s, s) ]][[ end ]][[ writeJson(s) ]]') }`:    "",
		`${ jet('[[ s := slice(1, 2) ]][[ range data.forty ]][[ s = slice(s, s) ]][[ end ]][[ s ]]') }`:               "",
	} {
		full := new(atomic.Bool)
		bound := heap.Watch(64<<20, func() { full.Store(true) })
		_, err := e.WithCheck(func() error {
			if full.Load() {
				return errors.New("memory")
			}
			return nil
		}).Expand(text)
		bound.Stop()
		require.ErrorContains(t, err, want, "%.60s", text)
	}
	for text, want := range map[string]any{
		`${ sum(Data.many, 1) }`: int64(1000),
		`${ string("abc" matches "^a.c$") + string("abc" matches lower("^B")) + string(not ("b" matches string("a"))) }`:                         "truefalsetrue",
		`${ toJSON(uniq([1, 1.0, "1", true, nil, [1], nil, true, [1], {"a": 1}, {"a": 1}, 2])) }`:                                                "[\n  1,\n  \"1\",\n  true,\n  null,\n  [\n    1\n  ],\n  {\n    \"a\": 1\n  },\n  2\n]",
		`${ len(uniq(1..300000)) + len(uniq(map(1..1000, {[# % 10, {"a": # % 2}]}))) }`:                                                          int64(300_010),
		`${ join(split("a,b,c", ",")) + join(split("a,b,c", ",", 2), "+") + join(splitAfter("a,b", ","), " ") + string(len(split("abc", ""))) }`: "abca+b,ca, b3",
		`${ sum(fromJSON("[1, 2]")) + count([true, false]) + int("3") + duration("1h").Hours() }`:                                                8.0,
		`${ "a" + "b" + string(1) + join(["c", "d"], "-") + join(["e"]) + repeat("f", 2) + join(flatten([["g", ["h"]], "i"])) }`:                 "ab1c-deffghi",
		`${ replace("aXbX", "X", "-") + replace("aXbX", "X", "-", 1) + toJSON({"a": [1]}) }`:                                                     "a-b-a-bX{\n  \"a\": [\n    1\n  ]\n}",
		`${ jet('[[ s := "a" + "b" ]][[ s + 1 ]][[ 1 + 2 ]][[ json(slice(1, "x")) ]][[ writeJson("q") ]]') }`:                                    "ab13[1,\"x\"]\"q\"\n",
		`${ jet('[[ range split("a,b", ",") ]][[ . ]][[ end ]]') }`:                                                                              "ab",
		`${ jet('[[ replace(repeat("ab", 3), "a", "c", 2) ]][[ repeat("x", -1) ]]') }`:                                                           "cbcbab",
	} {
		got, err := e.Expand(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	_, err := e.WithCheck(func() error { return stop }).Expand(`${ sum(Data.many, sum(Data.many, 1)) }`)
	require.ErrorIs(t, err, stop)
	// An error that quotes a long input is shortened.
	_, err = e.Expand(`${ jet('[[ x := repeat("a", 100000) ]][[ range x ]][[ end ]]') }`)
	require.Error(t, err)
	require.Less(t, len(err.Error()), 20_000)
}

// The same for Jinja.
func TestJinjaLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs into every limit: make test-all")
	}
	const (
		text   = "output exceeds the limit of 67108864 bytes"
		values = "template exceeds the limit of 4194304 values"
		deep   = "too many nested templates and blocks: does one call itself?"
	)
	files := map[string]string{
		"/d/big": strings.Repeat("x", 1<<17), "/d/times": "{{ 'x' * 1000000000 }}", "/d/macro": "{% macro m() %}{{ 'x' * 1000000000 }}{% endmacro %}",
		"/d/again": "{% import 'again' as a %}{% macro m() %}{% import 'again' as a %}{{ a.m() }}{% endmacro %}",
		"/d/base":  "{% block b %}{% endblock %}{{ 'x' * 1000000000 }}", "/d/deep": strings.Repeat("{% if 1 %}", 10_000),
	}
	read := func(path string) ([]byte, error) { return []byte(files[path]), nil }
	for source, want := range map[string]string{
		"{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}":       deep,
		"{% for i in range(1000000000) %}{% endfor %}":             "range exceeds the limit of 100000 numbers",
		"{% for i in range(10**12) %}{% endfor %}":                 "range",
		"{% for i in range(5, -1000000000, -1) %}{% endfor %}":     "range exceeds the limit of 100000 numbers",
		"{% include 'self' %}":                                     "exceeds the limit of 1000 nested includes: does a template include itself?",
		"{% for i in range(999) %}{% include 'big' %}{% endfor %}": text,
		strings.Repeat("x", 2<<20):                                 "the template must be at most 1048576 bytes, got 2097152",
		"{{ 'x' * -1 }}":                                           "negative Repeat count",
		"a\n{{ 'x' * 1000000000 }}":                                "/d/self:2: " + text,
		"{{ 1 + (2, 'x' * 10**10)[0] }}{{ 'x' * 1999999999 }}":     text,
		"{{ ('x' * 1000000000) | default('y') }}":                  text,
		"{% include 'times' %}":                                    text,
		"{% include 'times' ignore missing %}":                     text,
		"{% from 'macro' import m %}{{ m() }}":                     text,
		"{% import 'macro' as l %}{{ l.m() }}":                     text,
		"{% extends 'base' %}{% block b %}x{% endblock %}":         text,
		"{% extends 'times' %}":                                    text,
		"{% import 'again' as a %}{{ a.m() }}":                     deep,
		"{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}":  deep,
		"{% block a %}{{ self.a() }}{% endblock %}":                deep,
		"{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}":                text,
		"{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}":                text,
		"{% set n = namespace(s=[1, 2]) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}":                    values,
		"{% set n = namespace(s=[1, 2]) %}{% for i in range(99) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}":          values,
		"{% set n = namespace(s=[1, 2]) %}{% for i in range(99) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s | tojson }}": values,
		"{% set n = namespace(s=[1, 2]) %}{% for i in range(99) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s == n.s }}":   values,
		"{% set n = namespace(s=[1, 2]) %}{% for i in range(99) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s.copy() }}":   values,
		"{% set n = namespace() %}{% set n.n = n %}{{ n }}":                                                                 values,
		"{{ 'x' | center(1000000000) }}":                                                  "center: must be at most 10000, got 1000000000",
		"{{ 'x'.ljust(1000000000) }}":                                                     "ljust: must be at most 10000, got 1000000000",
		"{{ 'x'.zfill(1000000000) }}":                                                     "zfill: must be at most 10000, got 1000000000",
		"{{ '{:>1000000000}'.format(1) }}":                                                "format: expected widths of at most 10000",
		"{{ '{:>{w}}'.format(1, w=1000000000) }}":                                         "format: expected widths of at most 10000",
		"{{ 'x\ny' | indent(1000000000) }}":                                               "indent: must be at most 10000, got 1000000000",
		"{{ [1] | batch(1000000000, 'x') | list }}":                                       "batch: must be at most 10000, got 1000000000",
		"{{ [1] | slice(1000000000) | list }}":                                            "slice: must be at most 10000, got 1000000000",
		"{{ [1] | tojson(indent=1000000000) }}":                                           "tojson: must be at most 10000, got 1000000000",
		"{{ lipsum(n=1000000000) }}":                                                      "lipsum: must be at most 10000, got 1000000000",
		"{% set s = 'x' * 100000 %}{{ s | replace('x', s) }}":                             text,
		"{% set s = 'x' * 100000 %}{{ s.replace('x', s, -1) }}":                           text,
		"{% set s = 'x' * 100000 %}{{ range(100000) | join(s) }}":                         text,
		"{{ " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000) + " }}": "the text between {{ and }} must be at most 65536 bytes, got 400003",
		"{{ " + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + " }}":           values,
		strings.Repeat("{% if 1 %}", 40_000) + strings.Repeat("{% endif %}", 40_000):      "",
		"{% include 'deep' %}":                                                            "",
	} {
		_, err := template.Jinja("/d/self", source, nil, read, nil)
		if want != "" { // else it has only to end
			require.ErrorContains(t, err, want, "%.120s", source)
		}
	}
	for source, want := range map[string]string{
		"{% macro m(x) %}<{{ x }}>{% endmacro %}{% for i in range(3) %}{{ m(i) }}{% endfor %}":               "<0><1><2>",
		"{{ 'ab' * 3 }}{{ 2 * 3 }}{{ 'a' ~ 1 ~ [2] }}{{ [1] + [2] }}{{ 1.5 * 2 }}":                           "ababab6a1[2][1, 2]3.0",
		"{{ nope | default('d') }}{{ (nope ~ 'x') | default('e') }}{{ '' or 'f' }}":                          "def",
		"{{ 'a-b'.replace('-', '+', 1) }}{{ ','.join(['x', 'y']) }}{{ '{:>5}'.format(1) }}":                  "a+bx,y    1",
		"{% set l = [1] %}{% do l.append(2) %}{{ l }}{{ l | length }}{{ {'a': 1}.items() | list | length }}": "[1, 2]21",
		"{{ 'x' is string }}{{ 3 is divisibleby 3 }}{{ [1, 2] | map('string') | join('+') }}":                "TrueTrue1+2",
	} {
		got, err := template.Jinja("/d/t", source, nil, read, nil)
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}

// What takes its time ends with the error of check, also if the library is in the middle
// of something.
func TestJinjaUnder(t *testing.T) {
	stop := errors.New("stop")
	for _, text := range []string{
		"{% for i in range(100000) %}{{ range(100000) | unique | list | length }}{% endfor %}",
		"{{ 'a'" + strings.Repeat(".upper()", 40) + " }}",
	} {
		_, err := template.Jinja("/d/t", text, nil, nil, func() error { return stop })
		require.ErrorIs(t, err, stop)
	}
}
