package std

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

func dataLibrary() *Library {
	return &Library{
		Name: "data",
		Doc: "The data of the site, such as data.web.port; read-only. An unknown name is nil, or an error if it " +
			"is a misspelling of a known one (prot of port; a plural is another word). Initially it holds the " +
			"data from --data or from the caller.",
		Funcs: []Func{{
			Signature: `load(path: string): table`,
			Doc: "Reads a hierarchy document, found as by fs.read, and returns its data: the base, overridden by " +
				"the levels that match this machine and by the data passed to the script. After that, data " +
				"contains it. A second document replaces the top-level keys of the first.",
			Example: `data.load("site.yaml").web.port`, Result: `8080`,
			Fn: dataLoad,
		}, {
			Signature: `read(path: string, options?: { nulls?: boolean }): any`,
			Doc: "Reads a plain document, found as by fs.read, and returns its content. Files named *.json are " +
				"decoded with json.decode, *.toml with toml.decode, all others with yaml.decode. data itself is " +
				"not changed. A document with encrypted values, ENC[age,...], is read-only, and each value is " +
				"decrypted when it is read.",
			Example: `data.read("users.yaml")[1].name`, Result: `"ann"`,
			Fn: dataRead,
		}},
	}
}

func lookupLibrary() *Library {
	return &Library{
		Name: "lookup",
		Doc:  "Looks up facts, data and environment variables by path, as in manifests.",
		Funcs: []Func{{
			Signature: `lookup(path: string|table, default?: any): any`,
			Doc: "Returns the value at a path that begins with facts, data or env, such as facts.os.family. List " +
				"items count from 0, and all of GJSON's path syntax works. Pass names with dots as a list: " +
				"lookup({ \"data\", \"hosts\", \"web.example.org\" }). A missing value is an error, unless a " +
				"default is given, which may be nil.",
			Example: `lookup("data.web.port", 80)`, Result: `80`,
			Fn: lookup,
		}},
	}
}

// openData makes the table data: the function load, and the data.
func openData(s *instance, L *lua.LState) lua.LValue {
	contents := s.contents(L, dataLibrary())
	s.branches = L.CreateTable(0, 0)
	return s.in.Tables.Tree("data", contents, func(key string) (lua.LValue, error) {
		return s.branch(s.branches, s.tree, key, "load", "read")
	}, func() *lua.LTable { return s.allBranches(L, s.branches, s.tree) })
}

// branch returns a value at the top of tree. Branches caches the values of earlier calls, because a
// script seldom reads all of a tree. Others are further names for the hint in a message.
func (s *instance) branch(branches *lua.LTable, tree map[string]any, key string, others ...string) (lua.LValue, error) {
	if v := branches.RawGetString(key); v != lua.LNil {
		return v, nil
	}
	val, ok := tree[key]
	if !ok {
		return lua.LNil, luaapi.Missing("data", key, append(slices.Sorted(maps.Keys(tree)), others...))
	}
	v := s.in.Tables.Value("data."+key, val)
	branches.RawSetString(key, v)
	return v, nil
}

// allBranches returns a table of all values at the top of tree.
func (s *instance) allBranches(L *lua.LState, branches *lua.LTable, tree map[string]any) *lua.LTable {
	list := L.CreateTable(0, len(tree))
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		v, _ := s.branch(branches, tree, key) // known to exist
		list.RawSetString(key, v)
	}
	return list
}

func dataLoad(c *call) int {
	if c.Resolve == nil {
		c.fail("not available here")
	}
	name, text := documentArg(c)
	tree, err := c.Resolve(name, text)
	var list diag.List
	list.Add(err)
	if len(list) > 0 {
		hint := list[0].Hint
		if isPlain(text) {
			hint = "data.load requires a hierarchy document, with data, hierarchy and overrides at the top (read a plain document with data.read)"
		}
		c.failWith(hint, "%s: %w%s", list[0].Pos, list[0].Err, more(list))
	}
	merged := maps.Clone(c.tree)
	if merged == nil {
		merged = make(map[string]any)
	}
	maps.Copy(merged, tree)
	c.tree = merged
	c.branches = c.L.CreateTable(0, 0)
	branches := c.branches
	return c.give(c.in.Tables.Tree("data", c.L.CreateTable(0, 0), func(key string) (lua.LValue, error) {
		return c.branch(branches, tree, key)
	}, func() *lua.LTable { return c.allBranches(c.L, branches, tree) }))
}

// documentArg reads the document that the first argument names. A document next to the script is a
// part of the script, so it must be trusted like the script.
func documentArg(c *call) (name, text string) {
	name, text = readArg(c, 1, "data")
	if c.CheckTrust != nil && !path.IsAbs(c.str(1)) {
		c.must(c.CheckTrust(name))
	}
	return name, text
}

// isPlain reports whether a document has none of the keys of a hierarchy document.
func isPlain(text string) bool {
	doc, err := data.Parse("", text)
	if err != nil || doc.Root.Kind != schema.Map {
		return err == nil && doc.Root.Kind == schema.List
	}
	return !slices.ContainsFunc(data.Sections, func(name string) bool { return !doc.Root.Get(name).IsNil() })
}

// dataRead is data.read: the text of the file becomes the argument of a decoder.
func dataRead(c *call) int {
	name, text := documentArg(c)
	syntax, sealed := strings.ToLower(path.Ext(name)), c.Open != nil && strings.Contains(text, "ENC[age,")
	if sealed && syntax != ".toml" {
		doc, err := data.Parse(name, text)
		c.must(err)
		return c.give(c.in.Tables.Value(name, doc.Plain(c.Open)))
	}
	c.L.Replace(1, lua.LString(text))
	c.name += ": " + strings.ReplaceAll(name, "%", "%%")
	if sealed {
		c.L.Replace(1, c.lua(c.toml(text)))
		return c.give(c.in.Tables.Value(name, c.seal(c.plain(1), name, nil)))
	}
	switch syntax {
	case ".json":
		return jsonDecode(c)
	case ".toml":
		return tomlDecode(c)
	}
	return yamlDecode(c)
}

// more returns the mistakes after the first as text, one a line.
func more(list diag.List) string {
	if len(list) == 1 {
		return ""
	}
	text := ""
	for _, e := range list[1:] {
		text += "\n  " + e.Error()
	}
	return text
}

// dataPathArg returns a path argument, and its parts if it is given in parts.
func dataPathArg(c *call, n int) (string, []string) {
	list, ok := c.L.Get(n).(*lua.LTable)
	if !ok {
		return c.str(n), nil
	}
	parts := make([]string, list.Len())
	for i := range parts {
		switch part := list.RawGetInt(i + 1).(type) {
		case lua.LString, lua.LNumber:
			parts[i] = part.String()
		default:
			c.fail("%w", diag.Expected("strings in the list of argument %d", n).Got("%s at %d", part.Type(), i+1))
		}
	}
	if len(parts) == 0 {
		c.fail("%w", diag.Expected("a path").Got("an empty list"))
	}
	return strings.Join(parts, "."), parts
}

func lookup(c *call) int {
	path, parts := dataPathArg(c, 1)
	var fallback []any
	type noDefault struct{} // a default that is not plain data
	if c.L.GetTop() > 1 {
		fallback = []any{noDefault{}}
	}
	v, err := expressionEnv(c).Lookup(path, fallback...)
	if parts != nil {
		v, err = expressionEnv(c).LookupSteps(parts, fallback...)
	}
	if e, ok := errors.AsType[*diag.Error](err); ok {
		c.failWith(e.Hint, "%w", e.Err)
	}
	if err != nil {
		c.fail("%w", fmt.Errorf("%s: %w", path, err))
	}
	if _, absent := v.(noDefault); absent || v == nil && len(fallback) > 0 {
		return c.give(c.L.Get(2))
	}
	return c.give(c.in.Tables.Value(path, v))
}
