package std_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// inspect has the format of inspect.lua, which is that of vim.inspect.
func TestInspect(t *testing.T) {
	l := newLab(t)
	for expression, want := range map[string]string{
		`1`:                              `1`,
		`1.5`:                            `1.5`,
		`-0.5e-10`:                       `-5e-11`,
		`1/0`:                            `math.huge`,
		`-1/0`:                           `-math.huge`,
		`nil`:                            `nil`,
		`"hello"`:                        `"hello"`,
		`'I have "quotes"'`:              `'I have "quotes"'`,
		`'I have "quotes" and \'both\''`: `"I have \"quotes\" and 'both'"`,
		`'a\\b'`:                         `"a\\b"`,
		`"\1\0012\127\a\b\t\n\v\f\r"`:    `"\1\0012\127\a\b\t\n\v\f\r"`,
		`print`:                          `<function 1>`,
		`{ print, print, inspect.KEY }`:  `{ <function 1>, <function 1>, <inspect.KEY> }`,
		`{}`:                             `{}`,
		`{ 1, 2, 3 }`:                    `{ 1, 2, 3 }`,
		`{ 'a', { 'b', 'c' } }`:          `{ "a", { "b", "c" } }`,
		`{ a = 1, b = 2 }`:               "{\n  a = 1,\n  b = 2\n}",
		`{ 'a', b = 1, c = { d = {} } }`: "{ \"a\",\n  b = 1,\n  c = {\n    d = {}\n  }\n}",
		`{ ["and"] = 1, ["a b"] = 2, _x1 = 3, ["1x"] = 4 }`: "{\n  [\"1x\"] = 4,\n  _x1 = 3,\n  [\"a b\"] = 2,\n  [\"and\"] = 1\n}",
		`{ [1] = 'a', [3] = 'c', [0.5] = 1 }`:               "{ \"a\",\n  [0.5] = 1,\n  [3] = \"c\"\n}",
		`{ [true] = 1, x = 2, [7] = 3 }`:                    "{\n  [7] = 3,\n  [true] = 1,\n  x = 2\n}",
		"local t = { 1 }\nt.me = t\nt":                      "<1>{ 1,\n  me = <table 1>\n}",
		"local t = { 1 }\n{ a = t, b = t }":                 "{\n  a = <1>{ 1 },\n  b = <table 1>\n}",
		"local a = {}\n{ a, a, { [a] = 1 } }":               "{ <1>{}, <table 1>, {\n    [<table 1>] = 1\n  } }",
		`setmetatable({ 1 }, { __index = print })`:          "{ 1,\n  <metatable> = {\n    __index = <function 1>\n  }\n}",
		`setmetatable({}, { __metatable = "hidden" })`:      "{}",
		`facts.os`:               "{\n  family = \"debian\"\n}",
		`json.decode("[[],{}]")`: "{ {}, {} }",
	} {
		require.Equal(t, want, l.eval(t, expression), expression)
	}
	evaluations(t, l, map[string]string{
		`inspect({ a = { b = { c = 1 } } }, { depth = 1 })`:                                                                              `"{\n  a = {...}\n}"`,
		`inspect({ 1 }, { depth = 0 })`:                                                                                                  `"{...}"`,
		`inspect({ a = { 1 } }, { newline = "@", indent = ">" })`:                                                                        `"{@>a = { 1 }@}"`,
		`inspect({ a = { b = 1 } }, { newline = "", indent = "" })`:                                                                      `"{a = {b = 1}}"`,
		`inspect({ 1, 2, 3 }, { process = function(v) if v ~= 2 then return v end end })`:                                                `"{ 1,\n  [3] = 3\n}"`,
		`inspect({ a = { secret = 1 } }, { process = function(v, path) if path[#path] == "secret" then return "***" end return v end })`: "'{\\n  a = {\\n    secret = \"***\"\\n  }\\n}'",
	})
	mistakes(t, l, map[string]string{
		`inspect({}, { dept = 1 })`: `inspect: unknown option "dept" (did you mean "depth"?)`,
		`inspect(env)`:              `env cannot be listed: read one variable, such as env.HOME`,
		"local t = {}\nfor i = 1, 2000 do t = { t } end\ninspect(t)": `inspect: tables are nested more than 1000 levels deep`,
	})
}
