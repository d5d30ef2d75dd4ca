package std

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

func jsonLibrary() *Library {
	return &Library{
		Name: "json",
		Doc:  "Reads and writes JSON. Keys are written in order, so the same table gives the same text.",
		Values: []Value{{
			Name: "null", Type: "userdata", Doc: "Stands for null: Lua itself drops a key whose value is nil. It is the same in json and yaml.",
			Example: `json.encode({ a = json.null })`, Result: `'{"a":null}'`,
			Get: func(s *std, L *lua.LState) lua.LValue { return s.nullValue(L) },
		}},
		Funcs: []Func{{
			Signature: `decode(text: string, options?: { nulls?: boolean }): any`,
			Doc: "Reads one JSON value. Tables keep the order of the text. A null is json.null; with nulls = false it is left out. " +
				"An integer that a number of Lua cannot hold stays text. Text that is not JSON is a mistake that says where.",
			Example: `json.decode('{"name": "web", "ports": [80, 443]}').ports[2]`, Result: `443`,
			Fn: jsonDecode,
		}, {
			Signature: `encode(value: any, options?: { indent?: integer }): string`,
			Doc: "Writes a value as JSON, on one line, or with that many spaces of indentation. An empty table is {}, unless json.array says otherwise. " +
				"A function, a list with holes, a table with names and positions, a number that is not finite and text that is not UTF-8 are mistakes.",
			Example: `json.encode({ name = "web", ports = { 80, 443 }, tags = json.array {} })`, Result: `'{"name":"web","ports":[80,443],"tags":[]}'`,
			Fn: jsonEncode,
		}, {
			Signature: `array(list: table): table`,
			Doc:       "Marks a table as a list, so that json, yaml and toml write it as one even if it is empty. It returns the table. Lists that were read are marked already.",
			Example:   `json.encode(json.array {})`, Result: `"[]"`,
			Fn: jsonArray,
		}},
	}
}

func jsonArray(c *call) int {
	t := c.L.Get(1).(*lua.LTable)
	if c.in.Contents(t) != t {
		c.fail("the table is read-only")
	}
	t.Metatable = c.arrayMark(c.L)
	return c.give(t)
}

func jsonEncode(c *call) int {
	data := c.plain(1)
	c.must(finite(data))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if n, ok := c.option(2, "indent").(lua.LNumber); ok && n > 0 {
		enc.SetIndent("", strings.Repeat(" ", min(int(n), 16)))
	}
	c.must(enc.Encode(data))
	return c.giveStr(strings.TrimSuffix(out.String(), "\n"))
}

// finite reports what JSON cannot say of data.
func finite(data any) error {
	switch v := data.(type) {
	case string:
		if !utf8.ValidString(v) {
			return errors.New("want UTF-8, got other bytes: write them with base64.encode")
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return errors.New("want a finite number, got " + strconv.FormatFloat(v, 'g', -1, 64))
		}
	case []any:
		for _, e := range v {
			if err := finite(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range v {
			if !utf8.ValidString(k) {
				return finite(k)
			}
			if err := finite(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func jsonDecode(c *call) int {
	text := c.str(1)
	c.room(len(text))
	r := jsonReader{call: c, dec: json.NewDecoder(strings.NewReader(text)), nulls: c.option(2, "nulls") != lua.LFalse}
	r.dec.UseNumber()
	v, err := r.value()
	if err == nil {
		_, more := r.dec.Token()
		if more == nil || !errors.Is(more, io.EOF) {
			err = errors.New("more text after the value")
		}
	}
	if err != nil {
		at := int(r.dec.InputOffset())
		// The decoder of tokens says little of where and what.
		if s, ok := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(text), new(any))); ok && err != errDeep {
			at, err = max(0, int(s.Offset)-1), s
		}
		c.failAt(text, at, "not valid JSON: %s", jsonProblem(err))
	}
	return c.give(v)
}

// failAt throws the mistake that text is wrong at an offset.
func (c *call) failAt(text string, offset int, format string, args ...any) {
	before := text[:min(max(offset, 0), len(text))]
	line := strings.Count(before, "\n") + 1
	col := len(before) - strings.LastIndexByte(before, '\n')
	c.fail("line %d, column %d: "+format, append([]any{line, col}, args...)...)
}

var errDeep = errors.New("values are nested too deep")

// jsonProblem says what is wrong in a few words.
func jsonProblem(err error) string {
	switch text := err.Error(); {
	case errors.Is(err, io.EOF), text == "unexpected end of JSON input":
		return "the text ends too early"
	case strings.HasSuffix(text, "after top-level value"):
		return "more text after the value"
	default:
		return strings.TrimPrefix(text, "json: ")
	}
}

// A jsonReader builds tables from the tokens of a text.
type jsonReader struct {
	*call
	dec   *json.Decoder
	nulls bool
	depth int
}

func (r *jsonReader) value() (lua.LValue, error) {
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case bool:
		return lua.LBool(tok), nil
	case string:
		return lua.LString(tok), nil
	case json.Number:
		return jsonNumber(string(tok)), nil
	case json.Delim:
		if r.depth++; r.depth > maxDepth {
			return nil, errDeep
		}
		defer func() { r.depth-- }()
		if tok == '[' {
			return r.list()
		}
		return r.object()
	}
	if r.nulls {
		return r.nullValue(r.L), nil
	}
	return lua.LNil, nil
}

func (r *jsonReader) list() (lua.LValue, error) {
	t := r.newArray(0)
	for r.dec.More() {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		if v != lua.LNil {
			t.Append(v)
		}
	}
	_, err := r.dec.Token()
	return t, err
}

func (r *jsonReader) object() (lua.LValue, error) {
	t := r.L.CreateTable(0, 0)
	for r.dec.More() {
		key, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		t.RawSetString(key.(string), v)
	}
	_, err := r.dec.Token()
	return t, err
}

// jsonNumber returns a number, or the text of an integer that a number of Lua
// does not hold exactly.
func jsonNumber(text string) lua.LValue {
	if !strings.ContainsAny(text, ".eE") {
		return integerValue(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return lua.LString(text) // larger than any number
	}
	return lua.LNumber(f)
}
