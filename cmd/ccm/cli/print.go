package cli

import (
	"io"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A printer prints the results of commands.
type printer struct{ w *terminal.Writer }

// Print returns a printer on standard output.
func (e *Env) Print() printer { return printer{e.Stdout} }

// Data returns the writer for data that programs read. A pipe or a file gets the bytes unchanged, a
// terminal gets safe text.
func (p printer) Data() io.Writer {
	if terminal.IsTerminal(p.w) {
		return p.w
	}
	return p.w.Unwrap()
}

// Line prints v as JSON on one line.
func (p printer) Line(v any) error { return secret.NewEncoder(p.w, Protocol()).Encode(v) }

// JSON prints v as JSON on several lines.
func (p printer) JSON(v any) error {
	enc := secret.NewEncoder(p.w, nil)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Plain prints plain data as text, JSON or YAML, with names in order.
func (p printer) Plain(val any, form string) error {
	if form == "json" {
		return p.JSON(val)
	}
	return p.Value(schema.ValueOf(val), form)
}

// YAML prints a struct with json tags as YAML.
func (p printer) YAML(x any) error {
	tab, err := schema.TableOf(x)
	if err != nil {
		return err
	}
	return p.Value(schema.MapValue(tab), "yaml")
}

// Value prints a value as text or YAML.
func (p printer) Value(v schema.Value, form string) error {
	if form == "yaml" {
		text, err := data.EncodeValue(v)
		if err != nil {
			return err
		}
		_, err = io.WriteString(p.Data(), text)
		return err
	}
	_, _ = io.WriteString(p.Data(), schema.Tree(v)) // a failed write is reported by run
	return nil
}
