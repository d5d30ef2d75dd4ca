package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
)

// How values are written.
const (
	OutputLua  = "lua"
	OutputJSON = "json"
	OutputYAML = "yaml"
)

// Outputs lists how values can be written.
var Outputs = []string{OutputLua, OutputJSON, OutputYAML}

// SetOutput says how values are written from now on.
func (d *Dialog) SetOutput(name string) error {
	if !slices.Contains(Outputs, name) {
		return diag.Errorf(diag.Pos{}, "output: want one of %s, got %q", strings.Join(Outputs, ", "), name).
			WithHint("%s", diag.DidYouMean(name, Outputs))
	}
	d.output = name
	return nil
}

// printValues prints the values of an expression.
func (d *Dialog) printValues(ctx context.Context, values []lua.LValue) error {
	texts := make([]string, len(values))
	lines := 1
	for i, v := range values {
		text, err := d.format(ctx, v)
		if err != nil {
			return err
		}
		texts[i] = strings.TrimRight(text, "\n")
		lines += strings.Count(texts[i], "\n")
	}
	if len(texts) == 0 {
		return nil
	}
	sep := "\n"
	if d.output == OutputLua && lines == 1 {
		sep = "\t"
	}
	d.print(strings.Join(texts, sep))
	return nil
}

// show returns a value as Lua writes it.
func (d *Dialog) show(v lua.LValue) string {
	text, err := d.inspect(context.Background(), v)
	if err != nil {
		return v.String()
	}
	return text
}

// format returns a value as it is to be written.
func (d *Dialog) format(ctx context.Context, v lua.LValue) (string, error) {
	if d.output == OutputLua {
		text, err := d.inspect(ctx, v)
		if d.opts.Paint != nil && err == nil && d.isData(v) {
			text = d.opts.Paint(text)
		}
		return text, err
	}
	if ud, ok := v.(*lua.LUserData); ok {
		if id, ok := d.session.Handle(ud); ok {
			return d.encode(id)
		}
		if d.session.IsLive(ud) {
			return d.encode(ud.Value)
		}
	}
	if d.session.IsFacts(v) {
		tree, err := d.facts.Tree()
		if err != nil {
			d.Report(err) // what could be gathered is written all the same
		}
		return d.encode(tree)
	}
	lib, _ := d.session.Global(d.output)
	encode, ok := d.session.Field(lib, "encode")
	if !ok {
		return "", fmt.Errorf("nothing here writes %s", d.output)
	}
	args := []lua.LValue{v}
	if d.output == OutputJSON {
		indented := &lua.LTable{Metatable: lua.LNil}
		indented.RawSetString("indent", lua.LNumber(2))
		args = append(args, indented)
	}
	return d.call(ctx, encode, args...)
}

// encode returns plain data as JSON or YAML.
func (d *Dialog) encode(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil || d.output == OutputJSON {
		return string(text), err
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return "", err
	}
	return data.Encode(plain)
}

// isData reports whether a value is written as Lua that could be read again.
func (d *Dialog) isData(v lua.LValue) bool {
	switch v := v.(type) {
	case *lua.LTable:
		return !d.session.IsFacts(v)
	case *lua.LUserData:
		return false
	}
	return true
}

// inspect returns a value as inspect writes it. What has a text of its own is
// written as that.
func (d *Dialog) inspect(ctx context.Context, v lua.LValue) (string, error) {
	if d.session.IsFacts(v) {
		return d.factsTree(), nil
	}
	if text, ok := d.session.Text(v); ok {
		return text, nil
	}
	fn, ok := d.session.Global("inspect")
	if !ok {
		return v.String(), nil
	}
	return d.call(ctx, fn, v)
}

// call calls a function that returns a text.
func (d *Dialog) call(ctx context.Context, fn lua.LValue, args ...lua.LValue) (string, error) {
	results, err := d.session.Call(ctx, fn, args...)
	if err != nil {
		return "", err
	}
	if len(results) == 0 {
		return "", nil
	}
	return results[0].String(), nil
}
