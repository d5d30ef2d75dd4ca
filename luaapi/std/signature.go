package std

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A signature has the parameters and results of a function, parsed from its text.
type signature struct {
	Name    string
	Params  []param
	Returns []param // a name may be ""
}

// A param is one argument, one result, or one field of a table.
type param struct {
	Name     string
	Optional bool
	Rest     bool // stands for any number of arguments
	Type     *luaType
}

// A luaType is a type in the notation of LuaLS.
type luaType struct {
	Text    string
	kinds   kinds
	integer bool     // a number must be whole
	list    bool     // a table must be a list
	values  []string // the strings that are allowed; nil for any
	fields  []param  // of a table of options; nil for any
}

// kinds is a set of the kinds of values that Lua has.
type kinds uint16

const anything kinds = 0xffff

func kind(t lua.LValueType) kinds { return 1 << t }

// mustParse parses a signature of this package. A test parses all of them.
func mustParse(text string) *signature {
	sig, err := parseSignature(text)
	if err != nil {
		panic(err)
	}
	return sig
}

// parseSignature reads name(params): returns.
func parseSignature(text string) (*signature, error) {
	p := &sigParser{text: text}
	sig := &signature{Name: p.word()}
	p.want("(")
	sig.Params = p.params(")")
	if p.skip(":") {
		sig.Returns = p.returns()
	}
	if p.at < len(text) {
		p.fail("the end")
	}
	if p.err != nil {
		return nil, fmt.Errorf("signature %q: %w", text, p.err)
	}
	return sig, nil
}

type sigParser struct {
	text string
	at   int
	err  error
}

func (p *sigParser) fail(want string) {
	if p.err == nil {
		p.err = diag.Expected("%s at %q", want, p.text[min(p.at, len(p.text)):])
	}
	p.at = len(p.text)
}

func (p *sigParser) space() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// skip skips a token if it is next.
func (p *sigParser) skip(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *sigParser) want(token string) {
	if !p.skip(token) {
		p.fail(token)
	}
}

func (p *sigParser) word() string {
	p.space()
	begin := p.at
	for p.at < len(p.text) && (isLetter(p.text[p.at]) || p.text[p.at] >= '0' && p.text[p.at] <= '9') {
		p.at++
	}
	if p.at == begin {
		p.fail("a name")
	}
	return p.text[begin:p.at]
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// params reads name?: type, ... up to the closing token.
func (p *sigParser) params(end string) (list []param) {
	for !p.skip(end) {
		if p.err != nil {
			return nil
		}
		if len(list) > 0 {
			p.want(",")
		}
		var x param
		if x.Rest = p.skip("..."); x.Rest {
			x.Name = "..."
		} else {
			x.Name = p.word()
		}
		x.Optional = p.skip("?")
		p.want(":")
		x.Type = p.union()
		list = append(list, x)
	}
	return list
}

// returns reads type, type or (name: type, name: type).
func (p *sigParser) returns() (list []param) {
	if p.skip("(") {
		return p.params(")")
	}
	for {
		list = append(list, param{Type: p.union()})
		if !p.skip(",") {
			return list
		}
	}
}

// union reads type|type.
func (p *sigParser) union() *luaType {
	p.space()
	begin := p.at
	t := p.single()
	for p.skip("|") {
		u := p.single()
		t.kinds |= u.kinds
		t.integer, t.list = t.integer || u.integer, t.list || u.list
		t.values, t.fields = append(t.values, u.values...), append(t.fields, u.fields...)
	}
	t.Text = strings.TrimSpace(p.text[begin:p.at])
	return t
}

func (p *sigParser) single() *luaType {
	t := p.plain()
	for p.skip("[]") {
		t = &luaType{kinds: kind(lua.LTTable), list: true}
	}
	return t
}

func (p *sigParser) plain() *luaType {
	switch {
	case p.skip(`"`):
		begin := p.at
		end := strings.IndexByte(p.text[begin:], '"')
		if end < 0 {
			p.fail(`"`)
			return &luaType{}
		}
		p.at += end + 1
		return &luaType{kinds: kind(lua.LTString), values: []string{p.text[begin : begin+end]}}
	case p.skip("{"):
		return &luaType{kinds: kind(lua.LTTable), fields: p.params("}")}
	case p.skip("("):
		t := p.union()
		p.want(")")
		return t
	case p.skip("fun("):
		p.params(")")
		if p.skip(":") {
			p.single()
		}
		return &luaType{kinds: kind(lua.LTFunction)}
	}
	name := p.word()
	if p.skip("<") {
		p.union()
		for p.skip(",") {
			p.union()
		}
		p.want(">")
	}
	switch name {
	case "any":
		return &luaType{kinds: anything}
	case "nil":
		return &luaType{kinds: kind(lua.LTNil)}
	case "string":
		return &luaType{kinds: kind(lua.LTString)}
	case "number":
		return &luaType{kinds: kind(lua.LTNumber)}
	case "integer":
		return &luaType{kinds: kind(lua.LTNumber), integer: true}
	case "boolean":
		return &luaType{kinds: kind(lua.LTBool)}
	case "table":
		return &luaType{kinds: kind(lua.LTTable)}
	case "userdata":
		return &luaType{kinds: kind(lua.LTUserData)}
	}
	p.fail("a type")
	return &luaType{}
}

// String describes t for "want ...".
func (t *luaType) String() string {
	if len(t.values) > 0 && t.kinds == kind(lua.LTString) {
		quoted := make([]string, len(t.values))
		for i, v := range t.values {
			quoted[i] = fmt.Sprintf("%q", v)
		}
		return "one of " + strings.Join(quoted, ", ")
	}
	var names []string
	for _, k := range []struct {
		kind lua.LValueType
		name string
	}{
		{lua.LTString, "a string"}, {lua.LTNumber, "a number"}, {lua.LTBool, "true or false"},
		{lua.LTTable, "a table"}, {lua.LTFunction, "a function"}, {lua.LTUserData, "a value of ccm"}, {lua.LTNil, "nil"},
	} {
		if t.kinds&kind(k.kind) == 0 {
			continue
		}
		switch {
		case k.kind == lua.LTNumber && t.integer:
			k.name = "an integer"
		case k.kind == lua.LTTable && t.list:
			k.name = "a list"
		}
		names = append(names, k.name)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// mismatch returns the wanted type, or "" if v is of type t. It does not look inside of tables.
func (t *luaType) mismatch(v lua.LValue) string {
	if t.kinds&kind(v.Type()) == 0 {
		return t.String()
	}
	switch v := v.(type) {
	case lua.LNumber:
		if t.integer && float64(v) != float64(int64(v)) {
			return t.String()
		}
	case lua.LString:
		if len(t.values) > 0 && !slices.Contains(t.values, string(v)) {
			return t.String()
		}
	}
	return ""
}
