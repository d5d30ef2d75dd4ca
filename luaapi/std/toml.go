package std

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

func tomlLibrary() *Library {
	return &Library{
		Name: "toml",
		Doc:  "Reads and writes TOML 1.0.",
		Funcs: []Func{{
			Signature: `decode(text: string): table`,
			Doc: "Reads a TOML document. Dates and times are text, as RFC 3339 writes them. An integer that a number of Lua cannot hold stays text. " +
				"Text that is not TOML is a mistake that says where.",
			Example: "toml.decode('[web]\\nport = 80\\nsince = 2026-01-02').web", Result: "{\n  port = 80,\n  since = \"2026-01-02\"\n}",
			Fn: tomlDecode,
		}, {
			Signature: `encode(value: table): string`,
			Doc:       "Writes a table with names as TOML, the keys in order. TOML has no null, so json.null is a mistake; so is what json.encode refuses, but that numbers may be infinite.",
			Example:   `toml.encode({ web = { port = 80 } })`, Result: `"[web]\nport = 80\n"`,
			Fn: tomlEncode,
		}},
	}
}

// maxTOML is how long a text can be that is read, and maxTOMLKeys how many signs of
// equality it can have. It is read in one go, and each key of a table is looked for
// among all the others of it.
const (
	maxTOML     = 8 << 20
	maxTOMLKeys = 20_000
)

func tomlDecode(c *call) int {
	text := c.str(1)
	if len(text) > maxTOML {
		c.fail("the text is longer than %d MiB", maxTOML>>20)
	}
	if strings.Count(text, "=") > maxTOMLKeys || strings.Count(text, "[") > maxTOMLKeys {
		c.fail("the text has more than %d keys, tables or lists", maxTOMLKeys)
	}
	var data map[string]any
	if err := untilEnd(c, text, func() error { return toml.Unmarshal([]byte(text), &data) }); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, col := at.Position()
			c.fail("line %d, column %d: not valid TOML: %s", line, col, tomlProblem(err))
		}
		c.fail("not valid TOML: %s", tomlProblem(err))
	}
	if data == nil {
		data = map[string]any{}
	}
	return c.give(c.lua(data))
}

// tomlProblem says what is wrong without the name of the library.
func tomlProblem(err error) string {
	const prefix = "toml: "
	text := err.Error()
	if len(text) > len(prefix) && text[:len(prefix)] == prefix {
		return text[len(prefix):]
	}
	return text
}

func tomlEncode(c *call) int {
	data := c.plain(1)
	doc, ok := data.(map[string]any)
	if !ok {
		c.fail("want a table with names, got a list")
	}
	if path, found := nullIn(doc); found {
		c.fail("%s: TOML has no null", path)
	}
	text, err := toml.Marshal(doc)
	c.must(err)
	return c.giveStr(string(text))
}
