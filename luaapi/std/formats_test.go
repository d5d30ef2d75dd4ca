package std_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJSON(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`json.decode("null") == json.null`:                                      `true`,
		`tostring(json.null)`:                                                   `"null"`,
		`json.decode('{"a":null}', { nulls = false }).a`:                        `nil`,
		`json.decode('[1,null,2]', { nulls = false })`:                          `{ 1, 2 }`,
		`json.decode('[1,null]')`:                                               `{ 1, json.null }`,
		`json.encode(json.decode('{"a":[],"b":{},"c":[{}],"d":null}'))`:         `'{"a":[],"b":{},"c":[{}],"d":null}'`,
		`json.encode({})`:                                                       `"{}"`,
		`json.encode(nil)`:                                                      `"null"`,
		`json.encode("<a href='x'>\n\1")`:                                       `"\"<a href='x'>\\n\\u0001\""`,
		`json.encode({ b = 1, a = { 2, 3 } }, { indent = 2 })`:                  "'{\\n  \"a\": [\\n    2,\\n    3\\n  ],\\n  \"b\": 1\\n}'",
		`json.encode({ 1.5, 3, 1e20, -0.001, 2^53 })`:                           `"[1.5,3,100000000000000000000,-0.001,9007199254740992]"`,
		`json.decode("12345678901234567890")`:                                   `"12345678901234567890"`,
		`json.decode("[9007199254740993,-9007199254740993,9007199254740992]")`:  `{ "9007199254740993", "-9007199254740993", 9007199254740992 }`,
		`json.set('{"a":[]}', "a", {})`:                                         `'{"a":{}}', {}`,
		`json.set('{"a":{}}', "a", json.array {})`:                              `'{"a":[]}', {}`,
		`json.decode("1152921504606846976") == 2^60`:                            `true`,
		`yaml.encode({ 2^60, -2^60 })`:                                          `"- 1152921504606846976\n- -1152921504606846976\n"`,
		`toml.encode({ a = 2^60 })`:                                             `"a = 1152921504606846976\n"`,
		`json.encode({ 2^60 })`:                                                 `"[1152921504606846976]"`,
		`(yaml.set("a: 1152921504606846976\n", "a", 2^60))`:                     `"a: 1152921504606846976\n"`,
		`json.decode("1e400")`:                                                  `"1e400"`,
		`json.decode([["\ud83d\ude00"]])`:                                       `"😀"`,
		`json.decode(" [1] ")`:                                                  `{ 1 }`,
		`json.decode("\t{ \"a\" :\n[ true , false,-1.5e1 ] , \"b\":{ } }\r\n")`: "{\n  a = { true, false, -15 },\n  b = {}\n}",
		`json.decode('"a\255b" ') == "a\239\191\189b"`:                          `true`,
		`json.decode([["\\\"\u00e9\n\/"]]) == '\\"é\n/'`:                        `true`,
		`json.decode([[{"\u0061\"": "\\"}]])['a"'] == "\\"`:                     `true`,
		`json.encode(facts)`:                                                    `'{"os":{"family":"debian"}}'`,
		`json.decode('{"a":1,"a":2}').a`:                                        `2`,
		"local keys = ''\nfor k in pairs(json.decode('{\"z\":1,\"a\":2,\"m\":3}')) do keys = keys .. k end\nkeys": `"zam"`,
	})
	mistakes(t, l, map[string]string{
		`json.decode("")`:                                                `json.decode: line 1, column 1: not valid JSON: unexpected end of the text`,
		`json.decode("[1,\n 2,,]")`:                                      `json.decode: line 2, column 4: not valid JSON: invalid character ',' looking for beginning of value`,
		`json.decode("[1] 2")`:                                           `json.decode: line 1, column 5: not valid JSON: more text after the value`,
		`json.decode("{'a': 1}")`:                                        `json.decode: line 1, column 2: not valid JSON: invalid character '\'' looking for beginning of object key string`,
		`json.decode(("["):rep(100000))`:                                 `json.decode: line 1, column 1002: not valid JSON: values are nested too deeply`,
		`json.encode(print)`:                                             `json.encode: expected data, got a function`,
		`json.encode({ a = { 1, print } })`:                              `json.encode: a[2]: expected data, got a function`,
		`json.encode({ 1, nil, 3 })`:                                     `json.encode: the list has holes: item 2 is nil (use json.null for empty items of a list)`,
		`json.encode({ 1, [5] = 2 })`:                                    `json.encode: the list has holes: item 2 is nil (use json.null for empty items of a list)`,
		`json.encode({ 1, a = 2 })`:                                      `json.encode: expected a list or a table with names, got both: 1 items and "a"`,
		`json.encode({ [true] = 1 })`:                                    `json.encode: expected a string as key, got true`,
		`json.encode({ a = 0/0 })`:                                       `json.encode: expected a finite number, got NaN`,
		`json.encode("\255")`:                                            `json.encode: expected UTF-8, got other bytes (encode them with base64.encode)`,
		"local t = {}\nt.t = { t }\njson.encode(t)":                      `json.encode: t[1]: the table contains itself`,
		"local t = {}\nfor i = 1, 2000 do t = { t } end\njson.encode(t)": strings.Repeat("", 1) + `json.encode: ` + strings.Repeat("[1]", 1000) + `: tables are nested more than 1000 levels deep`,
		`json.array(facts)`:                                              `json.array: the table is read-only`,
	})
}

// A table of 100,000 values is decoded in a time that a person does not notice.
func TestJSONIsFast(t *testing.T) {
	l := newLab(t)
	begin := time.Now()
	require.Equal(t, `100000, "v100000"`, l.eval(t, `local parts = {}
for i = 1, 50000 do parts[i] = ('"k%d": "v%d"'):format(2 * i, 2 * i) end
local t = json.decode("{" .. table.concat(parts, ",") .. "}")
for i = 1, 50000 do parts[i] = 2 * i - 1 end
local list = json.decode(json.encode(parts))
tbl.size(t) + #list, t.k100000`))
	require.Less(t, time.Since(begin), 30*time.Second) // the machine may be busy
}

func TestYAML(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`yaml.decode("") == yaml.null`:                                       `true`,
		`yaml.decode("a: 0644").a`:                                           `"0644"`,
		`yaml.decode("a: 420").a`:                                            `420`,
		`yaml.decode("a: 1.5").a`:                                            `1.5`,
		`yaml.decode("a: .inf").a`:                                           `math.huge`,
		`yaml.decode("a: yes").a`:                                            `"yes"`,
		`yaml.decode("a: true").a`:                                           `true`,
		`yaml.decode("a: 12345678901234567890").a`:                           `"12345678901234567890"`,
		`yaml.decode("a: &x [1]\nb: *x").b`:                                  `{ 1 }`,
		`yaml.decode("a: ~\nb: 1", { nulls = false })`:                       "{\n  b = 1\n}",
		`yaml.decode("!!binary aGk=")`:                                       `"hi"`,
		`yaml.decode_all("1\n---\n2\n")`:                                     `{ 1, 2 }`,
		`yaml.decode_all("")`:                                                `{ json.null }`,
		`yaml.encode({})`:                                                    `"{}\n"`,
		`yaml.encode({ text = "a\nb\n", n = yaml.null })`:                    `'"n": null\ntext: |\n  a\n  b\n'`,
		`yaml.encode({ mode = "0644", answer = "no", date = "2026-01-02" })`: "'answer: \"no\"\\ndate: \"2026-01-02\"\\nmode: \"0644\"\\n'",
		`yaml.decode(yaml.encode("\255\0")) == "\255\0"`:                     `true`,
	})
	mistakes(t, l, map[string]string{
		`yaml.decode("a: 1\na: 2")`:  `yaml.decode: line 2, column 1: duplicate key "a"`,
		`yaml.decode("a: [1")`:       `yaml.decode: line 1, column 4: not valid YAML: "[" is not closed`,
		`yaml.decode("1\n---\n2")`:   `yaml.decode: line 3, column 1: expected one document, found a second document (decode several with yaml.decode_all)`,
		`yaml.encode({ a = print })`: `yaml.encode: a: expected data, got a function`,
	})
}

func TestTOML(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`toml.decode("")`: `{}`,
		`toml.decode("a = 1\n[[b]]\nc = 1.5\n[[b]]\nc = true\n").b[2].c`:                 `true`,
		`toml.decode("d = 2026-01-02T03:04:05Z\nl = 2026-01-02T03:04:05\nt = 03:04:05")`: "{\n  d = \"2026-01-02T03:04:05Z\",\n  l = \"2026-01-02T03:04:05\",\n  t = \"03:04:05\"\n}",
		`toml.decode("a = 9007199254740993").a`:                                          `"9007199254740993"`,
		`toml.decode('a = {\n  b = 1, # c\n  c = "\\x41\\e",\n}').a.c == "A\27"`:         `true`,
		`toml.decode("a = 9223372036854775807").a`:                                       `"9223372036854775807"`,
		`toml.encode({ b = { { c = 1 }, { c = 2 } }, a = "x\ny" })`:                      "'a = \"x\\\\ny\"\\n\\n[[b]]\\nc = 1\\n\\n[[b]]\\nc = 2\\n'",
		`toml.encode({})`: `""`,
		`toml.decode(toml.encode({ a = json.array {} })).a`: `{}`,
	})
	mistakes(t, l, map[string]string{
		`toml.decode("a = 1\nb = ")`:                 `toml.decode: line 2, column 4: not valid TOML: expected value, not end of input`,
		`toml.decode("a = 1\na = 2")`:                `toml.decode: line 2, column 1: not valid TOML: key a is already defined`,
		`toml.encode({ 1 })`:                         `toml.encode: expected a table with names, got a list`,
		`toml.encode({ a = { { b = json.null } } })`: `toml.encode: a[1].b: TOML does not support null`,
	})
}

// An encoded value is decoded to an equal value.
func TestRoundTrips(t *testing.T) {
	l := newLab(t)
	values := []string{
		`{ a = { 1, 2, { b = "c" } }, d = true, e = 1.25, f = "" }`,
		`{ a = "0644", b = "1.10", c = "no", d = "null", e = "~", f = "2026-01-02", g = "1e5", h = "0x10", i = ".inf" }`,
		`{ a = "# x", b = "- x", c = "a: b", d = "[", e = "{", f = "&a", g = "*a", h = "!a", i = "%a", j = "@a", k = " x ", l = "'", m = '"', n = "\\" }`,
		`{ a = "a\nb", b = "a\nb\n\n", c = "\n", d = "\n a", e = " a\nb", f = "a \nb", g = "a\tb\n", h = "\ta\nb", i = "a\r\nb" }`,
		`{ a = { { {} } }, b = { {}, { c = 1 } } }`,
		`{ ["a b"] = 1, [""] = 2, ["1"] = 3, ["true"] = 4, ["a.b"] = 5, ["ü"] = 6 }`,
		`{ a = 9007199254740991, b = -9007199254740991, c = 1e15, d = 0.1, e = 1e-7, f = 123456.789 }`,
	}
	for _, format := range []string{"json", "yaml", "toml"} {
		for _, v := range values {
			require.Equal(t, "true", l.eval(t, fmt.Sprintf("local v = %s\ntbl.equal(%s.decode(%[2]s.encode(v)), v)", v, format)), "%s %s", format, v)
		}
	}
}

// FuzzRoundTrip makes values from bytes, encodes and decodes them, and compares.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{"", "abc\x00\x01", "\x03\x03\x03\x03", "\x04\x02a\x01\x04\x02b\x00", strings.Repeat("\x04\x02k", 20), "\x02 \n\t#:-", "\x02\xff\xfe"} {
		f.Add([]byte(seed))
	}
	l := newLab(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<10 {
			t.Skip()
		}
		g := generator{raw: raw}
		value := "{ v = " + g.value(0) + " }"
		text := g.plainText
		for _, format := range []string{"json", "yaml", "toml"} {
			if format != "yaml" && !text {
				continue // invalid UTF-8 is a mistake there
			}
			out, err := l.run(t, fmt.Sprintf("local v = %s local text = %s.encode(v) local back = %[2]s.decode(text) if not tbl.equal(back, v) then print(text, inspect(back), inspect(v)) end", value, format))
			require.NoError(t, err, value)
			require.Empty(t, out, "%s %s", format, value)
		}
	})
}

// A generator makes a Lua value from bytes.
type generator struct {
	raw       []byte
	plainText bool
	began     bool
}

func (g *generator) next() byte {
	if len(g.raw) == 0 {
		return 0
	}
	b := g.raw[0]
	g.raw = g.raw[1:]
	return b
}

func (g *generator) text() string {
	n := min(int(g.next()%16), len(g.raw))
	s := g.raw[:n]
	g.raw = g.raw[n:]
	if !g.began {
		g.began, g.plainText = true, true
	}
	if strings.ToValidUTF8(string(s), "") != string(s) {
		g.plainText = false
	}
	var out strings.Builder
	for _, b := range s {
		fmt.Fprintf(&out, "\\%03d", b)
	}
	return `"` + out.String() + `"`
}

func (g *generator) value(depth int) string {
	if !g.began {
		g.began, g.plainText = true, true
	}
	switch kind := g.next() % 6; {
	case kind == 0:
		return "true"
	case kind == 1:
		return fmt.Sprint(int64(int8(g.next())) << (g.next() % 45))
	case kind == 2 || depth > 6:
		return g.text()
	case kind == 3:
		return fmt.Sprintf("%d.%d", g.next(), g.next())
	case kind == 4:
		out := "{ "
		for range g.next() % 5 {
			out += "[" + g.text() + "] = " + g.value(depth+1) + ", "
		}
		return out + "}"
	}
	out := "json.array { "
	for range g.next() % 5 {
		out += g.value(depth+1) + ", "
	}
	return out + "}"
}
