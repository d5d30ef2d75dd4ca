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
	"github.com/luaccm/ccm/runtime/terminal"
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

// What a person is shown of a long value.
const (
	briefEntries = 100 // of each table
	briefLines   = 200
)

// printValues prints the values of an expression.
func (d *Dialog) printValues(ctx context.Context, values []lua.LValue) error {
	brief := d.opts.Brief()
	text, err := d.formatValues(ctx, values, brief)
	if err != nil || len(values) == 0 {
		return err
	}
	lines, rest := strings.Split(text, "\n"), ""
	if brief && len(lines) > briefLines {
		text = strings.Join(lines[:briefLines], "\n")
		rest = fmt.Sprintf("\n... %d more lines (.page shows all)", len(lines)-briefLines)
	}
	if d.paints(values) {
		_, _ = terminal.Fprint(d.opts.Out, d.opts.Paint(text), terminal.LinesText(rest+"\n"))
		return nil
	}
	d.print(text + rest)
	return nil
}

// paints reports whether values are written in colours.
func (d *Dialog) paints(values []lua.LValue) bool {
	return d.opts.Paint != nil && d.output == OutputLua && !slices.ContainsFunc(values, func(v lua.LValue) bool { return !d.isData(v) })
}

// formatValues returns values as they are to be written, beside one another if they
// are short.
func (d *Dialog) formatValues(ctx context.Context, values []lua.LValue, brief bool) (string, error) {
	texts := make([]string, len(values))
	lines := 1
	for i, v := range values {
		text, err := d.format(ctx, v, brief)
		if err != nil {
			return "", err
		}
		texts[i] = strings.TrimRight(text, "\n")
		lines += strings.Count(texts[i], "\n")
	}
	sep := "\n"
	if d.output == OutputLua && lines == 1 {
		sep = "\t"
	}
	return strings.Join(texts, sep), nil
}

// pageCommand is .page: the value of an expression, or the last value, in a pager.
func pageCommand(ctx context.Context, d *Dialog, text string) error {
	values := []lua.LValue{d.session.Get(lastValue)}
	if text != "" {
		res, err := d.session.Eval(ctx, text)
		if err != nil {
			return err
		}
		values = res.Values
	}
	all, err := d.formatValues(ctx, values, false)
	if err != nil {
		return err
	}
	shown := terminal.LinesText(all + "\n")
	if d.paints(values) {
		shown = d.opts.Paint(all + "\n")
	}
	return d.opts.Page(ctx, shown)
}

// show returns a value as Lua writes it.
func (d *Dialog) show(v lua.LValue) string {
	text, err := d.inspect(context.Background(), v, true)
	if err != nil {
		return v.String()
	}
	return text
}

// format returns a value as it is to be written.
func (d *Dialog) format(ctx context.Context, v lua.LValue, brief bool) (string, error) {
	if d.output == OutputLua {
		return d.inspect(ctx, v, brief)
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
	case *lua.LUserData, *lua.LFunction:
		return false
	}
	return true
}

// inspect returns a value as inspect writes it. What has a text of its own is
// written as that, and a function by its name and its place.
func (d *Dialog) inspect(ctx context.Context, v lua.LValue, brief bool) (string, error) {
	if d.session.IsFacts(v) {
		return d.factsTree(), nil
	}
	switch v := v.(type) {
	case *lua.LFunction:
		return d.functionText(v), nil
	case *lua.LTable:
		if d.session.HasText(v) {
			tostring, _ := d.session.Global("tostring")
			return d.call(ctx, tostring, v)
		}
	}
	if text, ok := d.session.Text(v); ok {
		return text, nil
	}
	fn, ok := d.session.Global("inspect")
	if !ok {
		return v.String(), nil
	}
	options := &lua.LTable{Metatable: lua.LNil}
	options.RawSetString("tostring", lua.LTrue)
	if brief {
		options.RawSetString("limit", lua.LNumber(briefEntries))
	}
	return d.call(ctx, fn, v, options)
}

// functionText returns the signature of a function under the name of a variable or a
// library that holds it, and the place of one that was written in Lua.
func (d *Dialog) functionText(fn *lua.LFunction) string {
	if f, ok := d.session.Function(fn); ok {
		name := "function"
		for _, variable := range d.session.Variables() {
			if d.session.Get(variable) == fn && variable != lastValue {
				name += " " + variable
				break
			}
		}
		return fmt.Sprintf("%s(%s)  %s:%d", name, strings.Join(f.Parameters, ", "), f.File, f.Line)
	}
	for _, t := range d.topics() {
		if v, _ := d.follow(splitName(t.name)); v == fn {
			return "function " + t.signature
		}
	}
	return "function(...)  of ccm"
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
