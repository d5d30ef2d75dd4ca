package std

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// check checks the arguments of a call against the signature.
func (s *signature) check(c *call) {
	for i := range s.Params {
		p := &s.Params[i]
		if p.Rest {
			for n := i + 1; n <= c.L.GetTop(); n++ {
				p.check(c, n)
			}
			return
		}
		p.check(c, i+1)
	}
}

// check checks argument n of a call against the parameter.
func (p *param) check(c *call, n int) {
	v := c.L.Get(n)
	if p.Optional && v == lua.LNil {
		return
	}
	if want := p.Type.mismatch(v); want != "" {
		hint := ""
		if s, ok := v.(lua.LString); ok && len(p.Type.values) > 0 {
			hint = diag.DidYouMean(string(s), p.Type.values)
		}
		c.failWith(hint, "%w", diag.Expected("%s as argument %d", want, n).Got("%s", c.describe(v)))
	}
	if t, ok := v.(*lua.LTable); ok && p.Type.fields != nil {
		p.Type.checkFields(c, c.in.Tables.Contents(t))
	}
}

// checkFields checks a table against its allowed fields.
func (want *luaType) checkFields(c *call, t *lua.LTable) {
	names := make([]string, len(want.fields))
	for i, f := range want.fields {
		names[i] = f.Name
	}
next:
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if _, ok := k.(lua.LNumber); ok && want.list {
			continue // a list with options
		}
		for _, f := range want.fields {
			if k != lua.LValue(lua.LString(f.Name)) {
				continue
			}
			if missing := f.Type.mismatch(v); missing != "" {
				hint := ""
				if s, ok := v.(lua.LString); ok {
					hint = diag.DidYouMean(string(s), f.Type.values)
				}
				c.failWith(hint, "%w", diag.Expected("%s as %s", missing, f.Name).Got("%s", c.describe(v)))
			}
			continue next
		}
		c.failWith(diag.DidYouMean(k.String(), names), "unknown option %q", k.String())
	}
	for _, f := range want.fields {
		if !f.Optional && t.RawGetString(f.Name) == lua.LNil {
			c.fail("%w", diag.Expected("%s as %s", f.Type, f.Name).Got("nothing"))
		}
	}
}
