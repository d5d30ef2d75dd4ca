package studio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/studio/model"
)

// state returns the state of a document for pages, without its text. The caller holds the document.
func (d *document) state() *State {
	d.readModel()
	st := &State{
		Rev: d.rev, File: d.name, Language: languageOf(d.name), Kind: kindOf(d.name, &d.text),
		Saved: d.saved(), Disk: d.diskState, Undo: len(d.undo), Redo: len(d.redo), Mistakes: []Mistake{}, Timing: map[string]int64{},
	}
	c := d.checked
	if c != nil && c.rev == d.rev {
		st.Checked, st.Mistakes = true, d.mistakesOf(c)
		st.Timing["check"] = c.duration.Microseconds()
	} else {
		c = nil
		if d.modelErr != nil { // nothing is evaluated, but reading mistakes can be reported
			var broken checkResult
			broken.add(d.modelErr, "error")
			st.Mistakes = d.mistakesOf(&broken)
		}
	}
	if d.model != nil && d.read == d.rev {
		st.Resources = d.resourcesOf(c)
	}
	if d.checked != nil && d.checked.derived != nil {
		derived := *d.checked.derived
		derived.Current = derived.Current && d.checked.rev == d.rev
		st.Derived = &derived
	}
	st.Data = d.data()
	d.note(st)
	return st
}

// readModel reads the model of the text, unless it was read already.
func (d *document) readModel() {
	if d.read == d.rev && (d.model != nil || d.modelErr != nil) {
		return
	}
	d.read, d.model, d.modelErr = d.rev, nil, nil
	switch kindOf(d.name, &d.text) {
	case "manifest", "script", "module", "data":
		d.model, d.modelErr = model.Read(d.name, d.text, d.types())
	}
}

// resourcesOf returns the resources of a document, with their results if c is not nil.
func (d *document) resourcesOf(c *checkResult) []Resource {
	out := make([]Resource, 0, len(d.model.Resources))
	for i := range d.model.Resources {
		r := &d.model.Resources[i]
		x := Resource{
			Key: r.Key, ID: r.ID, Type: r.Type, Name: r.Name, File: d.name, Line: r.Line, Group: max(r.Group, 0),
			Props: propsOf(r.Props), Form: string(r.Form), Reason: r.Reason, Shared: r.Shared,
		}
		var came []declaredResource
		if c != nil {
			if came = c.declared[diag.Pos{Line: r.Line, Col: r.Column}]; came == nil {
				came = c.declared[diag.Pos{Line: r.Line}] // for a script only the line is known
			}
		}
		if len(came) > 0 {
			x.Skip = came[0].Skip
		}
		if len(came) > 1 || len(came) == 1 && came[0].id() != r.ID {
			for _, one := range came {
				x.Results = append(x.Results, one.id())
			}
		}
		for _, p := range r.Props {
			if !p.Literal {
				var values map[string]json.RawMessage
				if len(came) > 0 {
					values = came[0].Values
				}
				text := p.Text
				if s, ok := p.Value.(string); ok { // in a manifest: without its quotes
					text = s
				}
				x.Expressions = append(x.Expressions, Expression{p.Name, text, values[p.Name]})
			}
		}
		out = append(out, x)
	}
	return out
}

// propsOf returns properties as an object in the order of the text. A property with an expression
// has its text.
func propsOf(list []model.Prop) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	put := func(v any) {
		if enc.Encode(v) != nil {
			_ = enc.Encode(fmt.Sprint(v)) // a text is always JSON
		}
		b.Truncate(b.Len() - 1) // the line end
	}
	b.WriteByte('{')
	seen := map[string]bool{}
	for _, p := range list {
		if seen[p.Name] {
			continue
		}
		if len(seen) > 0 {
			b.WriteByte(',')
		}
		seen[p.Name] = true
		put(p.Name)
		b.WriteByte(':')
		if p.Literal || p.Value != nil {
			put(p.Value)
		} else {
			put(p.Text)
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// types returns the types for a file: those that ship with ccm, and those of its modules.
func (d *document) types() model.Types {
	types := shippedTypes()
	if d.checked == nil {
		return types
	}
	return withTypes(types, d.checked.types)
}

// withTypes returns types with the types that a site defines.
func withTypes(types, own model.Types) model.Types {
	if len(own) == 0 {
		return types
	}
	out := maps.Clone(types)
	maps.Copy(out, own)
	return out
}

// data returns the content of a data file, nil for another or unreadable file.
func (d *document) data() json.RawMessage {
	if kindOf(d.name, &d.text) != "data" {
		return nil
	}
	v, err := parseData(d.name, d.text)
	if err != nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// errText returns an error in the form for pages.
func errText(err error) string {
	var list diag.List
	list.Add(err)
	if len(list) == 0 {
		return ""
	}
	return terminal.Lines(list[0].Message())
}
