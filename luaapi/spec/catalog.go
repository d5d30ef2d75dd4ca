package spec

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A catalogView is a catalog in a spec.
type catalogView struct {
	Catalog
	in   *luaapi.Interp
	file string
}

// catMethods are the methods of a catalog in specs.
var catMethods = []string{"commands", "converge", "read", "resource", "resources"}

// catalog is catalog(file, options).
func (r *runner) catalog(L *lua.LState, _ string) int {
	name, ok := L.Get(1).(lua.LString)
	if !ok {
		r.in.Throw(L, "", "catalog: %w", diag.Expected("the name of a script or manifest").Got("%s", r.in.Show(L.Get(1))))
	}
	file := r.locate(L, string(name))
	g := optionReader{r.in, L}.given(L.Get(2))
	var c Catalog
	var err error
	r.in.Outside(func() { c, err = r.Options.Catalog(r.in.Context(), file, g) })
	if err != nil {
		r.in.Throw(L, "", "%w", err)
	}
	ud := L.NewUserData()
	view := &catalogView{c, r.in, file}
	ud.Value = view
	mt := L.CreateTable(0, 2)
	mt.RawSetString("__index", L.NewFunction(view.method))
	mt.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LString("catalog of " + file))
		return 1
	}))
	ud.Metatable = mt
	L.Push(ud)
	return 1
}

// locate finds a file in the directory of the spec or in a directory above.
func (r *runner) locate(L *lua.LState, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	dir := filepath.Dir(r.file)
	abs, err := filepath.Abs(dir)
	if err != nil {
		r.in.Throw(L, "", "catalog: %w", err)
	}
	var tried []string
	for {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			return file
		} else if !errors.Is(err, fs.ErrNotExist) {
			r.in.Throw(L, "", "catalog: %w", err)
		}
		tried = append(tried, "\n\tno file "+file)
		if abs == filepath.Dir(abs) {
			break
		}
		dir, abs = filepath.Join(dir, ".."), filepath.Dir(abs)
	}
	r.in.Throw(L, "", "catalog: %s is not found:%s", name, strings.Join(tried[:min(len(tried), 4)], ""))
	return ""
}

// catalogOf returns the catalog that v is.
func catalogOf(in *luaapi.Interp, L *lua.LState, v lua.LValue) *catalogView {
	if ud, ok := v.(*lua.LUserData); ok {
		if c, ok := ud.Value.(*catalogView); ok {
			return c
		}
	}
	in.Throw(L, "use the result of catalog(file)", "%w", diag.Expected("a catalog").Got("%s", in.Show(v)))
	return nil
}

func (c *catalogView) method(L *lua.LState) int {
	name := L.Get(2).String()
	fn, ok := map[string]func(*catalogView, *lua.LState) int{
		"commands": (*catalogView).commandList, "converge": (*catalogView).converge, "read": (*catalogView).read, "resource": (*catalogView).resource, "resources": (*catalogView).resources,
	}[name]
	if !ok {
		c.in.Throw(L, diag.DidYouMean(name, catMethods), "catalog: %w", diag.Unknown("field", name, nil))
	}
	L.Push(L.NewFunction(func(L *lua.LState) int {
		c := catalogOf(c.in, L, L.Get(1))
		L.Remove(1)
		return fn(c, L)
	}))
	return 1
}

// idOf returns the resource that a string or a handle names.
func idOf(in *luaapi.Interp, L *lua.LState, v lua.LValue) resource.ID {
	id, err := resource.ParseID(L.ToStringMeta(v).String())
	if err != nil {
		in.Throw(L, "", "%w", err)
	}
	return id
}

// index returns the index of a resource in the catalog, by its name or alias, or -1.
func (c *catalogView) index(id resource.ID) int {
	for i, x := range c.Catalog.Catalog().Resources {
		if x.ID == id || x.Common.Alias != "" && id == (resource.ID{Type: x.ID.Type, Name: x.Common.Alias}) {
			return i
		}
	}
	return -1
}

// names returns the names of all resources.
func (c *catalogView) names() []string {
	var names []string
	for _, x := range c.Catalog.Catalog().Resources {
		names = append(names, x.ID.String())
	}
	return names
}

// missing says that a resource is not there.
func (c *catalogView) missing(id resource.ID) string {
	text := "no resource " + id.String() + " in " + c.file
	if near := diag.Nearest(id.String(), c.names()); near != "" {
		text += " (did you mean " + near + "?)"
	}
	return text
}

// properties returns the properties of a resource, without secrets.
func properties(x *resource.Resource) *schema.Table {
	mix := x.Type.Properties()
	return mix.Conceal(mix.Encode(x.Spec, x.Common))
}

func (c *catalogView) resource(L *lua.LState) int {
	i := c.index(idOf(c.in, L, L.Get(1)))
	if i < 0 {
		L.Push(lua.LNil)
		return 1
	}
	x := c.Catalog.Catalog().Resources[i]
	t := L.CreateTable(0, 5)
	t.RawSetString("id", lua.LString(x.ID.String()))
	t.RawSetString("type", lua.LString(x.ID.Type))
	t.RawSetString("name", lua.LString(x.ID.Name))
	t.RawSetString("position", lua.LString(x.Pos.String()))
	t.RawSetString("properties", fromValue(L, schema.MapValue(properties(x))))
	L.Push(t)
	return 1
}

func pushList(L *lua.LState, list []string) int {
	t := L.CreateTable(len(list), 0)
	for i, s := range list {
		t.RawSetInt(i+1, lua.LString(s))
	}
	L.Push(t)
	return 1
}

func (c *catalogView) resources(L *lua.LState) int   { return pushList(L, c.names()) }
func (c *catalogView) commandList(L *lua.LState) int { return pushList(L, c.Commands()) }

func (c *catalogView) read(L *lua.LState) int {
	name, ok := L.Get(1).(lua.LString)
	if !ok || !filepath.IsAbs(string(name)) {
		c.in.Throw(L, "", "read: %w", diag.Expected("an absolute path").Got("%s", c.in.Show(L.Get(1))))
	}
	text, err := c.ReadFile(string(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		L.Push(lua.LNil)
	case err != nil:
		c.in.Throw(L, "", "read: %w", err)
	default:
		L.Push(lua.LString(text))
	}
	return 1
}

// outcome converges a catalog. An error that is of no resource ends the test.
func (c *catalogView) outcome(L *lua.LState) Outcome {
	var out Outcome
	var err error
	c.in.Outside(func() { out, err = c.Converge(c.in.Context()) })
	if err != nil {
		c.in.Throw(L, "", "converge: %w", err)
	}
	return out
}

// trouble describes failures of converging a catalog, "" for none.
func (out Outcome) trouble() string {
	var lines []string
	for _, e := range out.Events {
		if e.Outcome == "failed" {
			lines = append(lines, e.ID+" "+e.Outcome+": "+e.Reason+" ("+e.Pos.String()+")")
		}
	}
	if len(lines) > 0 {
		return "Expected the catalog to converge.\n" + strings.Join(lines, "\n")
	}
	for _, e := range out.SecondRun {
		lines = append(lines, e.ID+" "+e.Outcome+": "+e.Reason+" ("+e.Pos.String()+")")
	}
	if len(lines) == 0 {
		return ""
	}
	return "Expected a second run to change nothing.\n" + strings.Join(lines, "\n")
}

// converge is cat:converge(). A failed resource, or one that a second run would change, ends the
// test.
func (c *catalogView) converge(L *lua.LState) int {
	out := c.outcome(L)
	if text := out.trouble(); text != "" {
		fail(c.in, L, "%s", text)
	}
	t := L.CreateTable(0, 3)
	outcomes := L.CreateTable(0, len(out.Events))
	for _, list := range []string{"changed", "stable"} {
		names := L.CreateTable(0, 0)
		for _, e := range out.Events {
			if e.Outcome == list {
				names.Append(lua.LString(e.ID))
			}
			outcomes.RawSetString(e.ID, lua.LString(e.Outcome))
		}
		t.RawSetString(list, names)
	}
	t.RawSetString("outcomes", outcomes)
	L.Push(t)
	return 1
}
