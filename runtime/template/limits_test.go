package template_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
		joined = "joined strings and lists exceed the limit of 268435456 bytes"
		values = "template exceeds the limit of 4194304 values"
	)
	for text, want := range map[string]string{
		`${ sum(Data.many, sum(Data.many, sum(Data.many, sum(Data.many, 1)))) }`: "template exceeds the limit of 1000000 steps",
		`${ jet("[[ block a() ]][[ yield a() ]][[ end ]]") }`:                    "templates and blocks are nested too deeply: does one call itself?",
		`${ jet("self.jet") }`:                                                  "templates and blocks are nested too deeply: does one call itself?",
		`${ jet('[[ repeat("x", 20000000000) ]]') }`:                            "output exceeds the limit of 67108864 bytes",
		`${ jet('[[ s := repeat("x", 10000) ]][[ replace(s, "x", s, -1) ]]') }`: "output exceeds the limit of 67108864 bytes",
		`${ jet('[[ range data.many ]][[ repeat("x", 100000) ]][[ end ]]') }`:   "output exceeds the limit of 67108864 bytes",
		"${" + strings.Repeat("(", 1<<16) + "}":                                 "unexpected end of the expression",
		"${" + strings.Repeat("!", 1<<17) + "}":                                 "the expression must be at most 65536 bytes, got 131072",
		"${ jet('[['+repeat('(', 70000)+']]') }":                                "the text between [[ and ]] must be at most 65536 bytes, got 70000",
		`${ jet("big.jet") }`:                                                   "the template must be at most 1048576 bytes, got 2097152",
		// A value that is repeatedly doubled.
		`${ reduce(Data.forty, #acc + #acc, "xxxxxxxx") }`: joined,
		`${ let a = "xxxxxxxx"; let b = a + a + a + a + a + a + a + a; let c = b + b + b + b + b + b + b + b; reduce(Data.forty, #acc + c + #acc, c) }`: joined,
		`${ reduce(Data.many, toBase64(#acc), "xxxxxxxx") }`:                joined,
		`${ len(reduce(Data.forty, concat(#acc, #acc), [1, 2])) }`:          "memory budget exceeded",
		`${ len(reduce(Data.forty, flatten([#acc, #acc]), [1, 2])) }`:       values,
		`${ len(reduce(Data.forty, upper(#acc) + lower(#acc), "x")) }`:      joined,
		`${ len(reduce(Data.forty, toJSON(toJSON(toJSON(#acc))), "\"x")) }`: "exceed the limit",
		`${ len(reduce(Data.forty, join([#acc, #acc], ","), "x")) }`:        "output exceeds the limit of 67108864 bytes",
		`${ map(Data.many, len(repeat("x", 1000000))) }`:                    joined,
		`${ repeat("x", 2000000) matches "x" }`:                             "matches: expected a text of at most 1048576 bytes, got one of 2000000",
		`${ repeat("9", 1000000) matches "(a?){500}b" }`:                    "matches: expected a text of at most",
		`${ repeat("9", 1000000) matches repeat("a?", 500) + "b" }`:         "matches: expected a text of at most",
		`${ 1 matches string("a") }`:                                        "matches: expected a text and a pattern, got the number 1 and",
		`${ "x" matches "(ab?c?d?e?){900}" }`:                               "matches: expected a pattern of at most 4096 instructions",
		`${ "x" matches repeat("x?", 5000) }`:                               "matches: expected a pattern of at most 4096 instructions",
		`${ repeat("x", 100000000000) }`:                                    "output exceeds the limit of 67108864 bytes",
		`${ replace(repeat("x", 100000), "x", repeat("y", 100000)) }`:       "output exceeds the limit of 67108864 bytes",
		`${ join(split(repeat("x", 100000), ""), repeat("y", 100000)) }`:    "output exceeds the limit of 67108864 bytes",
		// One call, with an argument that makes it long.
		`${ split(repeat("a", 5000000), "") }`:                                            "output exceeds the limit of 67108864 bytes",
		`${ jet('[[ split(repeat("a", 5000000), "a") ]]') }`:                              "output exceeds the limit of 67108864 bytes",
		`${ splitAfter(repeat("a,", 5000000), ",") }`:                                     "output exceeds the limit of 67108864 bytes",
		`${ fromJSON("[" + repeat("1,", 4200000) + "1]") }`:                               values,
		`${ fromJSON("[" + repeat("{\"a\":[]},", 1100000) + "1]") }`:                      values,
		`${ uniq(map(1..30000, [#])) }`:                                                   "template exceeds the limit of 1000000 steps",
		`${ sum(repeat("9", 70000)) }`:                                                    "expected a list, got a text of 70000 bytes",
		`${ count(repeat("9", 70000)) }`:                                                  "expected a list, got a text of 70000 bytes",
		`${ duration(repeat("\u00e9", 35000)) }`:                                          "expected a number or a time, got a text of 70000 bytes",
		`${ date("2026-11-22", repeat("2006", 17500)) }`:                                  "expected a number or a time, got a text of 70000 bytes",
		`${ int(repeat("9", 70000)) }`:                                                    "expected a number or a time, got a text of 70000 bytes",
		`${ jet('[[ to_json(repeat("<", 9000000)) ]]') }`:                                 "strings written as JSON or YAML exceed the limit of 8388608 bytes",
		`${ jet('[[ json(slice(repeat("<", 5000000), repeat("<", 5000000))) ]]') }`:       "strings written as JSON or YAML exceed the limit of 8388608 bytes",
		`${ jet('[[ to_yaml(repeat("<", 9000000)) ]]') }`:                                 "strings written as JSON or YAML exceed the limit of 8388608 bytes",
		`${ toJSON({"a": repeat("<", 9000000)}) }`:                                        "strings written as JSON or YAML exceed the limit of 8388608 bytes",
		`${ jet('[[ file(repeat("a", 5000)) ]]') }`:                                       "the path must be at most 4096 bytes, got 5000",
		`${ jet(repeat("a", 5000) + ".jet") }`:                                            "the path must be at most 4096 bytes, got 5004",
		`${ template(repeat("a", 5000) + ".templ") }`:                                     "the path must be at most 4096 bytes, got 5006",
		`${ file(repeat("a", 5000)) }`:                                                    "the path must be at most 4096 bytes, got 5000",
		`${ lookup(repeat("a", 5000)) }`:                                                  "the path must be at most 4096 bytes, got 5000",
		`${ lookup(["data", repeat("a", 5000)]) }`:                                        "the path must be at most 4096 bytes, got 5005",
		`${ Data[repeat("a", 5000)] }`:                                                    "the path must be at most 4096 bytes, got 5000",
		`${ reduce(Data.forty, [#acc, #acc], 1) }`:                                        values,
		`${ toJSON(reduce(Data.forty, [#acc, #acc], 1)) }`:                                values,
		`${ string(reduce(Data.forty, [#acc, #acc], 1)) }`:                                values,
		`${ jet('[[ s := "xxxxxxxx" ]][[ range data.forty ]][[ s = s + s ]][[ end ]]') }`: joined,
		`${ jet('[[ s := "xxxxxxxx" ]][[ range data.forty ]][[ if true ]][[ s = html(s) + s ]][[ end ]][[ end ]]') }`: joined,
		`${ jet('[[ s := slice(1, 2) ]][[ range data.forty ]][[ s = slice(s, s) ]][[ end ]][[ json(s) ]]') }`:         values,
		`${ jet('[[ s := slice(1, 2) ]][[ range data.forty ]][[ s = slice(s, s) ]][[ end ]][[ writeJson(s) ]]') }`:    values,
		`${ jet('[[ s := slice(1, 2) ]][[ range data.forty ]][[ s = slice(s, s) ]][[ end ]][[ s ]]') }`:               values,
	} {
		_, err := e.Expand(text)
		require.ErrorContains(t, err, want, "%.60s", text)
	}
	for text, want := range map[string]any{
		`${ sum(Data.many, 1) }`: int64(1000),
		`${ string("abc" matches "^a.c$") + string("abc" matches lower("^B")) + string(nil matches "a") + string(not ("b" matches string("a"))) }`: "truefalsefalsetrue",
		`${ len(uniq(1..200000)) + len(uniq(map(1..200000, string(# % 1000)))) }`:                                                                  int64(201000),
		`${ toJSON(uniq([1, 1.0, "1", true, nil, [1], nil, true, [1], {"a": 1}, {"a": 1}, 2])) }`:                                                  "[\n  1,\n  \"1\",\n  true,\n  null,\n  [\n    1\n  ],\n  {\n    \"a\": 1\n  },\n  2\n]",
		`${ join(split("a,b,c", ",")) + join(split("a,b,c", ",", 2), "+") + join(splitAfter("a,b", ","), " ") + string(len(split("abc", ""))) }`:   "abca+b,ca, b3",
		`${ sum(fromJSON("[1, 2]")) + count([true, false]) + int("3") + duration("1h").Hours() }`:                                                  8.0,
		`${ "a" + "b" + string(1) + join(["c", "d"], "-") + join(["e"]) + repeat("f", 2) + join(flatten([["g", ["h"]], "i"])) }`:                   "ab1c-deffghi",
		`${ replace("aXbX", "X", "-") + replace("aXbX", "X", "-", 1) + toJSON({"a": [1]}) }`:                                                       "a-b-a-bX{\n  \"a\": [\n    1\n  ]\n}",
		`${ jet('[[ s := "a" + "b" ]][[ s + 1 ]][[ 1 + 2 ]][[ json(slice(1, "x")) ]][[ writeJson("q") ]]') }`:                                      "ab13[1,\"x\"]\"q\"\n",
		`${ jet('[[ range split("a,b", ",") ]][[ . ]][[ end ]]') }`:                                                                                "ab",
		`${ jet('[[ replace(repeat("ab", 3), "a", "c", 2) ]][[ repeat("x", -1) ]]') }`:                                                             "cbcbab",
	} {
		got, err := e.Expand(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	_, err := e.WithCheck(func() error { return stop }).Expand(`${ sum(Data.many, sum(Data.many, 1)) }`)
	require.ErrorIs(t, err, stop)
	looks := 0
	_, err = e.WithCheck(func() error {
		if looks++; looks > 300 { // the list itself is tried a few times
			return stop
		}
		return nil
	}).Expand(`${ uniq(1..999999) }`)
	require.ErrorIs(t, err, stop, "in the middle of the list")
	// An error that quotes a long input is shortened.
	for _, call := range []string{"include x", "range x ]][[ end"} {
		_, err = e.Expand(`${ jet('[[ x := repeat("a", 100000) ]][[ ' + "` + call + `" + ' ]]') }`)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 20_000, call)
	}
}

// The same for Jinja.
func TestJinjaLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs into every limit: make test-all")
	}
	const (
		text   = "output exceeds the limit of 67108864 bytes"
		values = "template exceeds the limit of 4194304 values"
		deep   = "templates and blocks are nested too deeply: does one call itself?"
	)
	files := map[string]string{
		"/d/big": strings.Repeat("x", 1<<17), "/d/times": "{{ 'x' * 1000000000 }}", "/d/macro": "{% macro m() %}{{ 'x' * 1000000000 }}{% endmacro %}",
		"/d/again": "{% import 'again' as a %}{% macro m() %}{% import 'again' as a %}{{ a.m() }}{% endmacro %}",
		"/d/base":  "{% block b %}{% endblock %}{{ 'x' * 1000000000 }}", "/d/deep": strings.Repeat("{% if 1 %}", 50_000),
	}
	read := func(path string) ([]byte, error) { return []byte(files[path]), nil }
	for source, want := range map[string]string{
		"{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}":                  "macros are nested more than 200 deep: does m call itself?",
		"{% for i in range(1000000000) %}{% endfor %}":                        "range exceeds the limit of 100000 numbers",
		"{% for i in range(10**12) %}{% endfor %}":                            "range",
		"{{ ('a' * 2000000) | groupby('a') }}":                                "the number of items must be at most 1000000, got 2000000",
		"{{ ('a' * 2000000) | batch(1) | list | length }}":                    "the number of items must be at most 1000000, got 2000000",
		"{{ '-'.join('a' * 2000000) }}":                                       "the number of items must be at most 1000000, got 2000000",
		"{% for c in 'a' * 2000000 %}{% endfor %}":                            "the number of items must be at most 1000000, got 2000000",
		"{% for c in ['b'] recursive %}{{ loop('a' * 2000000) }}{% endfor %}": "the number of items must be at most 1000000, got 2000000",
		"{% for i in range(5, -1000000000, -1) %}{% endfor %}":                "range exceeds the limit of 100000 numbers",
		"{% include 'self' %}":                                                "more than 1000 nested includes: does a template include itself?",
		"{% for i in range(999) %}{% include 'big' %}{% endfor %}":            text,
		strings.Repeat("x", 2<<20):                                            "the template must be at most 1048576 bytes, got 2097152",
		"{{ 'x' * -1 }}":                                                      "negative Repeat count",
		"a\n{{ 'x' * 1000000000 }}":                                           "/d/self:2: " + text,
		"{{ 1 + (2, 'x' * 10**10)[0] }}{{ 'x' * 1999999999 }}":                text,
		"{{ ('x' * 1000000000) | default('y') }}":                             text,
		"{% include 'times' %}":                                               text,
		"{% include 'times' ignore missing %}":                                text,
		"{% from 'macro' import m %}{{ m() }}":                                text,
		"{% import 'macro' as l %}{{ l.m() }}":                                text,
		"{% extends 'base' %}{% block b %}x{% endblock %}":                    text,
		"{% extends 'times' %}":                                               text,
		"{% import 'again' as a %}{{ a.m() }}":                                deep,
		"{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}":             deep,
		"{% block a %}{{ self.a() }}{% endblock %}":                           deep,
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
		strings.Repeat("{% if 1 %}", 40_000) + strings.Repeat("{% endif %}", 40_000):      "blocks are nested more than 200 deep",
		"{% include 'deep' %}":                                                            "blocks are nested more than 200 deep",
	} {
		_, err := template.Jinja("/d/self", source, nil, read, nil)
		require.ErrorContains(t, err, want, "%.120s", source)
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
