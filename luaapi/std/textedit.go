package std

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/textedit"
)

// editFuncs returns the functions set and remove for the library of a format. Before is a text for
// their examples in which web.port is 80; after and gone are the results of set and remove, as
// inspect writes them.
func editFuncs(name string, format textedit.Format, before, after, gone string) []Func {
	edit := func(do func(text string, path textedit.Path) (string, any, error)) func(c *call) int {
		return func(c *call) int {
			type outcome struct {
				text string
				old  any
				err  error
			}
			text, path := c.str(1), c.editPath(2)
			o := untilEnd(c, func() (o outcome) {
				o.text, o.old, o.err = do(text, path)
				return o
			})
			c.must(o.err)
			old := lua.LValue(lua.LNil)
			if o.old != nil {
				old = c.lua(o.old)
			}
			c.giveStr(o.text)
			return 1 + c.give(old)
		}
	}
	return []Func{{
		Signature: `set(text: string, path: string|string[], value: any): (text: string, old: any)`,
		Doc: "Returns the text of a document of " + strings.ToUpper(name) + " with a value set at a path, and " +
			"the old value. Everything else is kept: comments, order, layout. A path is web.port, with positions " +
			"from 0 in lists, and a backslash before a dot in a name; or a list of names. Missing parents are " +
			"created. An invalid document, and a value that cannot be changed separately, are errors.",
		Example: fmt.Sprintf("%s.set(%q, \"web.port\", 81)", name, before), Result: fmt.Sprintf("%s, 80", after),
		Fn: func(c *call) int {
			value := c.plain(3)
			return edit(func(text string, path textedit.Path) (string, any, error) { return format.Set(text, path, value) })(c)
		},
	}, {
		Signature: `remove(text: string, path: string|string[]): (text: string, old: any)`,
		Doc:       "Returns the text of a document without the value at a path, and the old value. A path that does not exist leaves the text unchanged.",
		Example:   fmt.Sprintf("%s.remove(%q, \"web.port\")", name, before), Result: fmt.Sprintf("%s, 80", gone),
		Fn: edit(format.Remove),
	}}
}

// editPath returns argument n, a path in a document.
func (c *call) editPath(n int) textedit.Path {
	if _, ok := c.L.Get(n).(*lua.LTable); ok {
		return c.strings(n)
	}
	path, err := textedit.ParsePath(c.str(n))
	c.must(err)
	return path
}
