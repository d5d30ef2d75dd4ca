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

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit"
)

func jsonLibrary() *Library {
	return &Library{
		Name: "json",
		Doc:  "Reads and writes JSON. Keys are sorted, so the same table results in the same text.",
		Values: []Value{{
			Name: "null", Type: "userdata", Doc: "Represents null, because Lua drops keys whose value is nil. json.null and yaml.null are the same value.",
			Example: `json.encode({ a = json.null })`, Result: `'{"a":null}'`,
			Get: func(s *instance, L *lua.LState) lua.LValue { return s.nullValue(L) },
		}},
		Funcs: append([]Func{{
			Signature: `decode(text: string, options?: { nulls?: boolean }): any`,
			Doc: "Decodes one JSON value. Tables keep the order of the text. A null becomes json.null; nulls = " +
				"false omits it. An integer that does not fit a Lua number stays a string. Text that is not JSON " +
				"is an error with its position.",
			Example: `json.decode('{"name": "web", "ports": [80, 443]}').ports[2]`, Result: `443`,
			Fn: jsonDecode,
		}, {
			Signature: `encode(value: any, options?: { indent?: integer }): string`,
			Doc: "Encodes a value as JSON, on one line, or indented by that many spaces. An empty table is {}, " +
				"unless it was marked with json.array. A function, a list with holes, a table with names and " +
				"positions, a number that is not finite and text that is not UTF-8 are errors.",
			Example: `json.encode({ name = "web", ports = { 80, 443 }, tags = json.array {} })`, Result: `'{"name":"web","ports":[80,443],"tags":[]}'`,
			Fn: jsonEncode,
		}, {
			Signature: `array(list: table): table`,
			Doc:       "Marks a table as a list, so that json, yaml and toml encode it as a list even if it is empty. Returns the table. Decoded lists are already marked.",
			Example:   `json.encode(json.array {})`, Result: `"[]"`,
			Fn: jsonArray,
		}}, editFuncs("json", textedit.JSON, `{ "web": { "port": 80 } } // c`, `'{ "web": { "port": 81 } } // c'`, `'{ "web": {} } // c'`)...),
	}
}

func jsonArray(c *call) int {
	t := c.L.Get(1).(*lua.LTable)
	if c.in.Tables.Contents(t) != t {
		c.fail("the table is read-only")
	}
	t.Metatable = c.arrayMark(c.L)
	return c.give(t)
}

func jsonEncode(c *call) int {
	data := c.plain(1)
	c.must(checkJSON(data))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if n, ok := c.option(2, "indent").(lua.LNumber); ok && n > 0 {
		enc.SetIndent("", strings.Repeat(" ", min(int(n), 16)))
	}
	c.must(enc.Encode(data))
	return c.giveStr(strings.TrimSuffix(out.String(), "\n"))
}

// checkJSON returns an error for data that JSON cannot represent: other bytes than UTF-8, and
// numbers that are not finite.
func checkJSON(data any) error {
	switch v := data.(type) {
	case string:
		if !utf8.ValidString(v) {
			return diag.Expected("UTF-8").Got("other bytes (encode them with base64.encode)")
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return diag.Expected("a finite number").Got("%s", strconv.FormatFloat(v, 'g', -1, 64))
		}
	case []any:
		for _, e := range v {
			if err := checkJSON(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range v {
			if !utf8.ValidString(k) {
				return checkJSON(k)
			}
			if err := checkJSON(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func jsonDecode(c *call) int {
	text := c.str(1)
	c.checkRoom(len(text))
	if !json.Valid([]byte(text)) {
		failJSON(c, text)
	}
	r := jsonReader{call: c, text: text, nulls: c.option(2, "nulls") != lua.LFalse}
	v := r.value()
	return c.give(v)
}

// failJSON throws the mistake that text is not valid JSON, or is too large to be read.
func failJSON(c *call, text string) {
	if at := deepIn(text); at > 0 {
		failAtOffset(c, text, at, "not valid JSON: values are nested too deeply")
	}
	err := json.Unmarshal([]byte(text), new(any))
	at := len(text)
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(0, int(s.Offset)-1)
	}
	failAtOffset(c, text, at, "not valid JSON: %s", jsonProblem(err))
}

// failAtOffset throws the mistake that text is wrong at an offset.
func failAtOffset(c *call, text string, offset int, format string, args ...any) {
	before := text[:min(max(offset, 0), len(text))]
	line := strings.Count(before, "\n") + 1
	col := len(before) - strings.LastIndexByte(before, '\n')
	c.fail("line %d, column %d: "+format, append([]any{line, col}, args...)...)
}

// jsonProblem describes an error in a few words.
func jsonProblem(err error) string {
	switch text := err.Error(); {
	case errors.Is(err, io.EOF), text == "unexpected end of JSON input":
		return "unexpected end of the text"
	case strings.HasSuffix(text, "after top-level value"):
		return "more text after the value"
	default:
		return strings.TrimPrefix(text, "json: ")
	}
}

// A jsonReader builds tables from valid JSON, so it need not look for mistakes. The decoder of
// tokens, which does, is several times slower.
type jsonReader struct {
	*call
	text  string
	at    int // the index of the next byte
	nulls bool
	depth int
	// keys is the number of keys of the last object, as a guess for the next one: a table made for too
	// many keys takes more time.
	keys int
}

// next skips blanks and returns the next byte.
func (r *jsonReader) next() byte {
	for r.text[r.at] <= ' ' {
		r.at++
	}
	return r.text[r.at]
}

func (r *jsonReader) value() lua.LValue {
	r.look()
	r.checkItems(r.work)
	switch r.next() {
	case '{':
		return r.inside(r.object)
	case '[':
		return r.inside(r.list)
	case '"':
		return lua.LString(r.str())
	case 't':
		r.at += len("true")
		return lua.LTrue
	case 'f':
		r.at += len("false")
		return lua.LFalse
	case 'n':
		r.at += len("null")
		if r.nulls {
			return r.nullValue(r.L)
		}
		return lua.LNil
	}
	begin := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.0123456789eE", r.text[r.at]) >= 0 {
		r.at++
	}
	return jsonNumber(r.text[begin:r.at])
}

// inside reads an array or object, whose values read reads.
func (r *jsonReader) inside(read func() lua.LValue) lua.LValue {
	if r.depth++; r.depth > maxDepth {
		failJSON(r.call, r.text)
	}
	defer func() { r.depth-- }()
	r.at++
	return read()
}

// more reports whether another item comes before end, and steps to that item.
func (r *jsonReader) more(end byte) bool {
	c := r.next()
	if c == end || c == ',' {
		r.at++
	}
	return c != end
}

func (r *jsonReader) list() lua.LValue {
	t := r.newArray(0)
	for r.more(']') {
		if v := r.value(); v != lua.LNil {
			t.Append(v)
		}
	}
	return t
}

func (r *jsonReader) object() lua.LValue {
	t := r.L.CreateTable(0, max(r.keys, 1))
	keys := 0
	for r.more('}') {
		r.next()
		key := r.str()
		r.next()
		r.at++ // the colon
		t.RawSetString(key, r.value())
		keys++
	}
	r.keys = keys
	return t
}

// str reads a string. Bytes that are not UTF-8 become the replacement character.
func (r *jsonReader) str() string {
	begin, plain := r.at, true
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
			plain = false
		}
	}
	r.at++
	if text := r.text[begin+1 : r.at-1]; plain && utf8.ValidString(text) {
		return text
	}
	var text string
	_ = json.Unmarshal([]byte(r.text[begin:r.at]), &text) // valid JSON
	return text
}

// deepIn returns the index of a value that is nested too deep, 0 if there is none.
func deepIn(text string) int {
	dec := json.NewDecoder(strings.NewReader(text))
	for depth := 0; depth <= maxDepth; {
		tok, err := dec.Token()
		switch {
		case err != nil:
			return 0
		case tok == json.Delim('[') || tok == json.Delim('{'):
			depth++
		case tok == json.Delim(']') || tok == json.Delim('}'):
			depth--
		}
	}
	return int(dec.InputOffset())
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
