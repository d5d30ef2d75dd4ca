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

// Forms of values.
const (
	OutputLua  = "lua"
	OutputJSON = "json"
	OutputYAML = "yaml"
)

// Outputs lists the forms of values.
var Outputs = []string{OutputLua, OutputJSON, OutputYAML}

// A printer writes values.
type printer struct {
	env    *environment
	manual *manual
	output string // one of Outputs
}

// Limits of long values for people.
const (
	briefEntries = 100 // of each table
	briefLines   = 200
)

// print prints the values of an expression.
func (p *printer) print(ctx context.Context, values []lua.LValue) error {
	brief := p.env.opts.Brief()
	text, err := p.formatValues(ctx, values, brief)
	if err != nil || len(values) == 0 {
		return err
	}
	lines, rest := strings.Split(text, "\n"), ""
	if brief && len(lines) > briefLines {
		text = strings.Join(lines[:briefLines], "\n")
		rest = fmt.Sprintf("\n... %d more lines (.page shows all)", len(lines)-briefLines)
	}
	if p.paints(values) {
		_, _ = terminal.Fprint(p.env.opts.Out, p.env.opts.Paint(text), terminal.LinesText(rest+"\n"))
		return nil
	}
	fmt.Fprintln(p.env.opts.Out, strings.TrimRight(text+rest, "\n"))
	return nil
}

// paints reports whether values are written in colors.
func (p *printer) paints(values []lua.LValue) bool {
	return p.env.opts.Paint != nil && p.output == OutputLua && !slices.ContainsFunc(values, func(v lua.LValue) bool { return !p.isData(v) })
}

// formatValues formats values for output, side by side if they are short.
func (p *printer) formatValues(ctx context.Context, values []lua.LValue, brief bool) (string, error) {
	texts := make([]string, len(values))
	lines := 1
	for i, v := range values {
		text, err := p.format(ctx, v, brief)
		if err != nil {
			return "", err
		}
		texts[i] = strings.TrimRight(text, "\n")
		lines += strings.Count(texts[i], "\n")
	}
	sep := "\n"
	if p.output == OutputLua && lines == 1 {
		sep = "\t"
	}
	return strings.Join(texts, sep), nil
}

// show formats a value as Lua.
func (p *printer) show(v lua.LValue) string {
	text, err := p.inspect(context.Background(), v, true)
	if err != nil {
		return v.String()
	}
	return text
}

// format formats a value for output.
func (p *printer) format(ctx context.Context, v lua.LValue, brief bool) (string, error) {
	if p.output == OutputLua {
		return p.inspect(ctx, v, brief)
	}
	if ud, ok := v.(*lua.LUserData); ok {
		if id, ok := p.env.console.Handle(ud); ok {
			return p.encode(id)
		}
		if p.env.console.IsLive(ud) {
			return p.encode(ud.Value)
		}
	}
	if p.env.console.IsFacts(v) {
		tree, err := p.env.facts.Tree()
		if err != nil {
			p.env.report(err) // the gathered facts are written in spite of errors
		}
		return p.encode(tree)
	}
	lib, _ := p.env.console.Global(p.output)
	encode, ok := p.env.console.Field(lib, "encode")
	if !ok {
		return "", diag.Unknown("format", p.output, nil)
	}
	args := []lua.LValue{v}
	if p.output == OutputJSON {
		indented := &lua.LTable{Metatable: lua.LNil}
		indented.RawSetString("indent", lua.LNumber(2))
		args = append(args, indented)
	}
	return p.call(ctx, encode, args...)
}

// encode returns plain data as JSON or YAML.
func (p *printer) encode(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil || p.output == OutputJSON {
		return string(text), err
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return "", err
	}
	return data.Encode(plain)
}

// isData reports whether a value is written as Lua that could be read again.
func (p *printer) isData(v lua.LValue) bool {
	switch v := v.(type) {
	case *lua.LTable:
		return !p.env.console.IsFacts(v)
	case *lua.LUserData, *lua.LFunction:
		return false
	}
	return true
}

// inspect formats a value like the library inspect; values with a text of their own as that text,
// and functions with their name and place.
func (p *printer) inspect(ctx context.Context, v lua.LValue, brief bool) (string, error) {
	if p.env.console.IsFacts(v) {
		return factsTree(p.env.facts), nil
	}
	switch v := v.(type) {
	case *lua.LFunction:
		return p.functionName(v), nil
	case *lua.LTable:
		if p.env.console.HasText(v) {
			tostring, _ := p.env.console.Global("tostring")
			return p.call(ctx, tostring, v)
		}
	}
	if text, ok := p.env.console.Text(v); ok {
		return text, nil
	}
	fn, ok := p.env.console.Global("inspect")
	if !ok {
		return v.String(), nil
	}
	options := &lua.LTable{Metatable: lua.LNil}
	options.RawSetString("tostring", lua.LTrue)
	if brief {
		options.RawSetString("limit", lua.LNumber(briefEntries))
	}
	return p.call(ctx, fn, v, options)
}

// functionName returns the signature of a function under the name of the variable or library that
// holds it, and the place of a function written in Lua.
func (p *printer) functionName(fn *lua.LFunction) string {
	if f, ok := p.env.console.Function(fn); ok {
		name := "function"
		for _, variable := range p.env.console.Variables() {
			if p.env.console.Get(variable) == fn && variable != lastValue {
				name += " " + variable
				break
			}
		}
		return fmt.Sprintf("%s(%s)  %s:%d", name, strings.Join(f.Parameters, ", "), f.File, f.Line)
	}
	for _, t := range p.manual.topics() {
		if v, _ := p.env.follow(splitName(t.name)); v == fn {
			return "function " + t.signature
		}
	}
	return "function(...)  of ccm"
}

// call calls a function that returns a text.
func (p *printer) call(ctx context.Context, fn lua.LValue, args ...lua.LValue) (string, error) {
	results, err := p.env.console.Call(ctx, fn, args...)
	if err != nil {
		return "", err
	}
	if len(results) == 0 {
		return "", nil
	}
	return results[0].String(), nil
}
