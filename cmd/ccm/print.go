package main

import (
	"io"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A printer prints what commands were asked for.
type printer struct{ w *terminal.Writer }

// print returns what prints on standard output.
func (e *env) print() printer { return printer{e.stdout} }

// data returns where data goes that programs read. A pipe or a file gets its bytes
// as they are, a terminal gets text that people can look at.
func (p printer) data() io.Writer {
	if terminal.IsTerminal(p.w) {
		return p.w
	}
	return p.w.Unwrap()
}

// line prints v as JSON on one line.
func (p printer) line(v any) error { return secret.NewEncoder(p.w, protocol()).Encode(v) }

// json prints v as JSON on several lines.
func (p printer) json(v any) error {
	enc := secret.NewEncoder(p.w, nil)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// plain prints plain data as text, JSON or YAML, with names in order.
func (p printer) plain(val any, form string) error {
	if form == "json" {
		return p.json(val)
	}
	return p.value(schema.ValueOf(val), form)
}

// yaml prints a struct with json tags as YAML.
func (p printer) yaml(x any) error {
	tab, err := schema.TableOf(x)
	if err != nil {
		return err
	}
	return p.value(schema.MapValue(tab), "yaml")
}

// value prints a value as text or YAML.
func (p printer) value(v schema.Value, form string) error {
	if form == "yaml" {
		text, err := data.EncodeValue(v)
		if err != nil {
			return err
		}
		_, err = io.WriteString(p.data(), text)
		return err
	}
	_, _ = io.WriteString(p.data(), schema.Tree(v)) // that it failed, run says
	return nil
}
