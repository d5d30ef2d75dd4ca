package std

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit"
)

func tomlLibrary() *Library {
	return &Library{
		Name: "toml",
		Doc:  "Reads and writes TOML 1.0. Of TOML 1.1 it reads line ends and a comma at the end of inline tables, and the escapes \\x41 and \\e.",
		Funcs: append([]Func{{
			Signature: `decode(text: string): table`,
			Doc: "Decodes a TOML document. Dates and times are strings in the form of RFC 3339. An integer that " +
				"does not fit a Lua number stays a string. Text that is not TOML is an error with its position.",
			Example: "toml.decode('[web]\\nport = 80\\nsince = 2026-01-02').web", Result: "{\n  port = 80,\n  since = \"2026-01-02\"\n}",
			Fn: tomlDecode,
		}, {
			Signature: `encode(value: table): string`,
			Doc:       "Encodes a table with names as TOML, with sorted keys. TOML does not support null, so json.null is an error; so are the values that json.encode refuses, except infinite numbers.",
			Example:   `toml.encode({ web = { port = 80 } })`, Result: `"[web]\nport = 80\n"`,
			Fn: tomlEncode,
		}}, editFuncs("toml", textedit.TOML, "[web]\nport = 80 # c\n", `"[web]\nport = 81 # c\n"`, `"[web]\n"`)...),
	}
}

// maxTOML is the maximum length of a text, and maxTOMLKeys the maximum number of its keys, parts of
// dotted keys, tables and lists, because the TOML library searches each among all the others. With
// both limits, reading takes only seconds.
const (
	maxTOML     = 8 << 20
	maxTOMLKeys = 20_000
)

// tomlKeys counts at least the keys of a text, the parts of dotted ones, tables and lists.
func tomlKeys(text string) (n int) {
	dots := 0 // since a key could begin
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			i += quoted(text[i:]) - 1
		case '#':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return n
			}
			i += end - 1
		case '.':
			dots++
		case '=', ']':
			n += dots
			dots = 0
			if text[i] == '=' {
				n++
			}
		case '[', '{':
			n++
			dots = 0
		case '\n', ',', '}':
			dots = 0
		}
	}
	return n
}

// quoted returns the length of the string, with its quotes, at the beginning of a text. Invalid
// strings end with their line.
func quoted(text string) int {
	quotes := text[:1]
	if strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, "'''") {
		quotes = text[:3]
	}
	i := len(quotes)
	for i < len(text) && !strings.HasPrefix(text[i:], quotes) {
		switch {
		case text[i] == '\\' && quotes[0] == '"':
			i++
		case text[i] == '\n' && len(quotes) == 1:
			return i
		}
		i++
	}
	i += len(quotes)
	for range len(quotes) - 1 { // """" ends with a quote that belongs to the text
		if i < len(text) && text[i] == quotes[0] {
			i++
		}
	}
	return min(i, len(text))
}

func tomlDecode(c *call) int { return c.give(c.lua(c.toml(c.str(1)))) }

// toml reads a document.
func (c *call) toml(text string) map[string]any {
	if len(text) > maxTOML {
		c.fail("the text %w", diag.MustBe("at most %d MiB", maxTOML>>20))
	}
	if tomlKeys(text) > maxTOMLKeys {
		c.fail("the text must have at most %d keys, parts of keys, tables and lists", maxTOMLKeys)
	}
	var data map[string]any
	if err := untilEnd(c, func() error { return toml.Unmarshal([]byte(text), &data) }); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, col := at.Position()
			c.fail("line %d, column %d: not valid TOML: %s", line, col, tomlProblem(err))
		}
		c.fail("not valid TOML: %s", tomlProblem(err))
	}
	if data == nil {
		data = map[string]any{}
	}
	return data
}

// tomlProblem returns the message of an error without the name of the TOML library.
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
		c.fail("%w", diag.Expected("a table with names").Got("a list"))
	}
	if path, found := nullIn(doc); found {
		c.fail("%s: TOML does not support null", path)
	}
	text, err := toml.Marshal(doc)
	c.must(err)
	return c.giveStr(string(text))
}
