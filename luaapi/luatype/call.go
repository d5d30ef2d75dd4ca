package luatype

import (
	"context"
	"errors"
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A State is the result of a type's status function.
type State struct {
	// Data is plain: strings, numbers, booleans, lists and tables.
	Data map[string]any

	schema      *schema.Schema
	text        *resource.TextChange // of an edit: the file before and after
	view        *host.View           // of a plan or a removal: the view for status
	newFile     *newFile             // of an edit: the file to be made, nil if it exists
	from        string               // of an edit: the path that the text is read from
	phrase      string               // of an edit: the action in words, instead of the phrase of the type
	shownValues map[string]any       // of an edit: wanted properties for reports, instead of the given ones
}

var (
	_ resource.StateEnsure = State{}
	_ resource.Describer   = State{}
)

// CurrentEnsure implements resource.StateEnsure.
func (s State) CurrentEnsure() string {
	ensure, _ := s.Data["ensure"].(string)
	return ensure
}

// Describe implements resource.Describer. It has the values of declared properties only; other
// results of status, such as the text of a file, are for decide and perform.
func (s State) Describe(name, provider string) any {
	out := map[string]any{"name": name, "provider": provider}
	for k, v := range s.Data {
		f := s.schema.Field(k)
		if f == nil || f.IsName || k == "ensure" || v == nil {
			continue
		}
		if f.Secret {
			v = secret
		}
		out[k] = v
	}
	return out
}

// export returns the properties of a state for an import. It leaves out secrets and values that mean
// the same as no value: empty lists and texts. It has the name that status found, which may differ
// from the name of the resource.
func export(have any) *schema.Table {
	s, _ := have.(State) // a simulated machine has states of its own
	if s.CurrentEnsure() == "absent" || len(s.Data) == 0 {
		return nil
	}
	t := new(schema.Table)
	for i := range s.schema.Fields {
		f := &s.schema.Fields[i]
		v := schema.ValueOf(s.Data[f.Name])
		empty := v.Kind == schema.String && v.S == "" || v.Kind == schema.List && len(v.Items()) == 0
		if f.Secret || v.Kind == schema.Nil || v.Kind == schema.Map || empty {
			continue
		}
		t.Set(f.Name, v)
	}
	return t
}

// An access tells what the table host reaches while a function of a type runs.
type access struct {
	view     *host.View
	host     *host.Host // nil in status
	function string     // the function, for messages: status of the type line
}

// invoke calls a function of the type. A value thrown by error(text, 0) becomes an error without a
// place.
func (d *definition) invoke(ctx context.Context, a access, fn *lua.LFunction, results int, args ...lua.LValue) ([]lua.LValue, error) {
	lib := d.lib
	outer := lib.access
	lib.access = &a
	defer func() { lib.access = outer }()
	out, err := lib.in.Invoke(ctx, fn, results, args...)
	// A reader of the message that something is missing on the machine does not need the place of the
	// type.
	if unplaced := luaapi.UnplacedError(""); errors.As(err, &unplaced) {
		return nil, unplaced
	}
	// Nor does the reader need a place in a shipped module, or the function of host that was called.
	if e, ok := errors.AsType[*diag.Error](err); ok && luaapi.InLibrary(e.Pos) {
		if m, ok := errors.AsType[*machineError](e.Err); ok {
			return nil, &diag.Error{Err: m.err, Hint: e.Hint}
		}
	}
	return out, err
}

// values returns the state that makes tables for functions of the type.
func (d *definition) values() *lua.LState { return d.lib.in.Values() }

// blame returns the mistake that a function of the type returned a wrong value.
func (d *definition) blame(fn *lua.LFunction, what, format string, args ...any) error {
	return &diag.Error{
		Pos: d.lib.in.FunctionPlace(fn), Err: fmt.Errorf("%s of the type %s: %w", what, d.name, fmt.Errorf(format, args...)),
	}
}

// callStatus calls status, which looks at the machine.
func (d *definition) callStatus(ctx context.Context, v *host.View, want *resource.Properties) (any, error) {
	L := d.values()
	out, err := d.invoke(ctx, access{view: v, function: "status"}, d.status, 1, d.luaWant(L, want), d.lib.lookHost(L))
	if err != nil {
		return nil, err
	}
	s, err := d.stateOf(d.status, "status", out[0])
	if err == nil {
		d.latest.want, d.latest.have = want, s
	}
	if v.IsPlan() || resource.IsAbsent(want.WantedEnsure()) {
		s.view = v // what is removed has to be known in a run too
	}
	return s, err
}

// stateOf converts the result of a function to a State.
func (d *definition) stateOf(fn *lua.LFunction, what string, v lua.LValue) (State, error) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return State{}, d.blame(fn, what, "%w", diag.Expected("a table with the state found").Got("%s", describe(v)))
	}
	data, err := d.lib.plain(t, 0)
	if err != nil {
		return State{}, d.blame(fn, what, "%w", err)
	}
	fields, ok := data.(map[string]any)
	if !ok {
		return State{}, d.blame(fn, what, "%w", diag.Expected("a table with names").Got("a list"))
	}
	if _, given := fields["ensure"].(string); !given && d.schema.Field("ensure") != nil && d.edit == nil {
		return State{}, d.blame(fn, what, "%w", diag.Expected("a string ensure in the state found"))
	}
	return State{Data: fields, schema: d.schema}, nil
}

// callPerform calls perform or refresh, which change the machine. They get the state that the
// decision was made from.
func (d *definition) callPerform(ctx context.Context, h *host.Host, want *resource.Properties, a resource.Action) error {
	have := d.latest.have
	if d.latest.want != want {
		s, err := d.callStatus(ctx, &h.View, want)
		if err != nil {
			return err
		}
		have = s.(State)
	}
	L := d.values()
	fn, what := d.perform, "perform"
	args := []lua.LValue{lua.LString(a.Verb), d.luaWant(L, want), luaOf(L, have.Data), d.lib.actHost(L)}
	if a.Verb == refresh && d.refresh != nil {
		fn, what, args = d.refresh, "refresh", args[1:]
	}
	out, err := d.invoke(ctx, access{view: &h.View, host: h, function: what}, fn, 1, args...)
	if err == nil && out[0] == lua.LFalse {
		return resource.ErrUnchanged
	}
	return err
}

// validateAny reports line breaks in texts that must be one line, and mistakes that the script
// finds.
func (d *definition) validateAny(want *resource.Properties) error {
	if err := d.checkTexts(want); err != nil || d.validate == nil {
		return err
	}
	return d.callValidate(want)
}

// callValidate reports the mistakes that the script finds in properties: the script returns a
// message, or the property to blame and a message.
func (d *definition) callValidate(want *resource.Properties) error {
	out, err := d.invoke(d.lib.in.Outer(), access{function: "validate"}, d.validate, 2, d.luaWant(d.values(), want))
	if err != nil {
		return err
	}
	first, ok := out[0].(lua.LString)
	switch {
	case out[0] == lua.LNil || out[0] == lua.LTrue:
		return nil
	case !ok:
		return d.blame(d.validate, "validate", "%w", diag.Expected("nothing, a message, or a property and a message").Got("%s", describe(out[0])))
	case out[1] == lua.LNil:
		return errors.New(string(first))
	case d.schema.Field(string(first)) == nil:
		return d.blame(d.validate, "validate", "%w", diag.Unknown("property", string(first), nil))
	}
	return resource.PropertyErrorf(string(first), "%s", lua.LVAsString(out[1]))
}

// locate returns a function that makes the paths relative to the script absolute, nil if no
// property is a path.
func (d *definition) locate() func(*resource.Properties, string) *resource.Properties {
	var names []string
	for i := range d.schema.Fields {
		if name := d.schema.Fields[i].Name; d.fields[name].relative {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	return func(want *resource.Properties, dir string) *resource.Properties {
		for _, name := range names {
			path := want.Text(name)
			if path == "" || path[0] == '/' {
				continue
			}
			if located, err := want.With(name, schema.StringValue(joined(dir, path))); err == nil {
				want = located
			}
		}
		return want
	}
}
