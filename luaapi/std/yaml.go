package std

import (
	"fmt"
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/textedit"
)

func yamlLibrary() *Library {
	return &Library{
		Name: "yaml",
		Doc:  "Reads and writes YAML, with the rules of data and manifests.",
		Values: []Value{{
			Name: "null", Type: "userdata", Doc: "The same as json.null.",
			Example: `yaml.null == json.null`, Result: `true`,
			Get: func(s *instance, L *lua.LState) lua.LValue { return s.nullValue(L) },
		}},
		Funcs: append([]Func{{
			Signature: `decode(text: string, options?: { nulls?: boolean }): any`,
			Doc: "Decodes one YAML document. Tables keep the order of the text. Values that would lose digits as " +
				"numbers stay strings: the version 1.10, the mode 0644, a date. A null becomes json.null; nulls = " +
				"false omits it. Text that is not YAML, a duplicate key and a second document are errors with " +
				"their position.",
			Example: "yaml.decode('name: web\\nversion: 1.10\\nports: [80, 443]')", Result: "{\n  name = \"web\",\n  ports = { 80, 443 },\n  version = \"1.10\"\n}",
			Fn: yamlDecode,
		}, {
			Signature: `decode_all(text: string, options?: { nulls?: boolean }): any[]`,
			Doc:       "Decodes a text with several documents, separated by ---, and returns them as a list.",
			Example:   "#yaml.decode_all('a: 1\\n---\\nb: 2')", Result: "2",
			Fn: func(c *call) int {
				list := c.newArray(0)
				for _, d := range yamlDocuments(c) {
					list.Append(nodeValue(c, d.Root, c.option(2, "nulls") != lua.LFalse))
				}
				return c.give(list)
			},
		}, {
			Signature: `encode(value: any): string`,
			Doc:       "Encodes a value as YAML, with sorted keys. The values that json.encode refuses are errors here too, except infinite numbers; text that is not UTF-8 is encoded as !!binary.",
			Example:   `yaml.encode({ name = "web", version = "1.10", ports = { 80 } })`, Result: "'name: web\\nports:\\n  - 80\\nversion: \"1.10\"\\n'",
			Fn: func(c *call) int {
				text, err := data.EncodeValue(schema.ValueOf(c.plain(1)))
				c.must(err)
				return c.giveStr(text)
			},
		}, {
			Signature: `array(list: table): table`,
			Doc:       "The same as json.array.",
			Example:   `yaml.encode(yaml.array {})`, Result: `"[]\n"`,
			Fn: jsonArray,
		}}, editFuncs("yaml", textedit.YAML, "web:\n  port: 80 # c\n", `"web:\n  port: 81 # c\n"`, `"web: {} # c\n"`)...),
	}
}

// yamlDocuments reads argument 1.
func yamlDocuments(c *call) []*data.Document {
	text := c.str(1)
	c.checkRoom(len(text))
	docs, err := data.ParseUnder(c.in.Context().Err, "text", text)
	if err == nil {
		return docs
	}
	var list diag.List
	list.Add(err)
	failDiag(c, list[0])
	return nil
}

// failDiag throws a mistake in a text that the script gave.
func failDiag(c *call, e *diag.Error) {
	c.failWith(e.Hint, "%s%w", placeIn(e.Pos), e.Err)
}

func failNode(c *call, n *data.Node, format string, args ...any) {
	c.fail("%s%w", placeIn(n.Pos()), fmt.Errorf(format, args...))
}

// placeIn describes a place in a text without a file.
func placeIn(p diag.Pos) string {
	switch {
	case p.Line == 0:
		return ""
	case p.Col == 0:
		return fmt.Sprintf("line %d: ", p.Line)
	}
	return fmt.Sprintf("line %d, column %d: ", p.Line, p.Col)
}

// nodeValue converts a YAML value to tables that a script can change.
func nodeValue(c *call, n *data.Node, nulls bool) lua.LValue {
	c.look()
	c.checkItems(c.work)
	switch n.Kind {
	case schema.List:
		t := c.newArray(len(n.Items))
		for _, item := range n.Items {
			if v := nodeValue(c, item, nulls); v != lua.LNil {
				t.Append(v)
			}
		}
		return t
	case schema.Map:
		t := c.L.CreateTable(0, len(n.Entries))
		for _, e := range n.Entries {
			t.RawSetString(e.Key.Text, nodeValue(c, e.Val, nulls))
		}
		return t
	case schema.Nil:
		if nulls {
			return c.nullValue(c.L)
		}
		return lua.LNil
	case schema.Int:
		if i, ok := n.Go().(int64); ok {
			return integerValue(strconv.FormatInt(i, 10))
		}
	case schema.Float:
		switch n.Text {
		case ".inf":
			return lua.LNumber(math.Inf(1))
		case "-.inf":
			return lua.LNumber(math.Inf(-1))
		case ".nan":
			return lua.LNumber(math.NaN())
		}
	}
	return c.lua(n.Go())
}

func yamlDecode(c *call) int {
	docs := yamlDocuments(c)
	if len(docs) > 1 {
		failNode(c, docs[1].Root, "%w", diag.Expected("one document").Found("a second document (decode several with yaml.decode_all)"))
	}
	return c.give(nodeValue(c, docs[0].Root, c.option(2, "nulls") != lua.LFalse))
}
