package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/studio/model"
)

// operations are the operations of the model by their names on the wire.
var operations = map[string]model.Op{
	"set": model.Set, "unset": model.Unset, "add": model.Add, "remove": model.Remove, "move": model.Move, "rename": model.Rename,
	"double": model.Copy, "paste": model.Paste, "insert": model.Insert, "reorder": model.Order, "split": model.Split,
}

// edit answers POST /api/edit.
func (w *workspace) edit(ctx context.Context, in Edit) (any, error) {
	e, err := modelEdit(in)
	if err != nil {
		return nil, err
	}
	d, end, err := w.beginEdit(in.File, in.Rev)
	if err != nil {
		return nil, err
	}
	defer end()
	return w.apply(ctx, d, e, asker{client: in.Client, have: in.Have})
}

// apply makes an edit of a document. The caller holds the document.
func (w *workspace) apply(ctx context.Context, d *document, e model.Edit, by asker) (*State, error) {
	d.readModel()
	if d.modelErr != nil {
		return nil, refuse(http.StatusUnprocessableEntity, "shape", "the text has an error: "+errText(d.modelErr))
	}
	if d.model == nil {
		return nil, refuse(http.StatusUnprocessableEntity, "shape", "this file can be edited only as text")
	}
	old := map[string]bool{}
	for _, r := range d.model.Resources {
		old[r.Key] = true
	}
	next, list, err := d.model.Apply(e)
	if err != nil {
		return nil, err
	}
	if err := checkText(d.text, list); err != nil {
		return nil, err
	}
	before, base := d.text, d.rev
	if err := d.record(list, false); err != nil {
		return nil, err
	}
	if next.Text == d.text { // already read
		d.model, d.modelErr, d.read = next, nil, d.rev
	}
	st := w.tell(ctx, d, before, base, list, by)
	st.Selection = selected(d.model, old, e)
	return st, nil
}

// selected returns the key of the resource that an edit made or changed.
func selected(now *model.Model, old map[string]bool, e model.Edit) string {
	if now == nil {
		return e.Resource
	}
	for _, r := range now.Resources {
		if !old[r.Key] {
			return r.Key
		}
	}
	if e.Op == model.Move && len(e.Resources) > 0 {
		return e.Resources[0]
	}
	return e.Resource
}

// modelEdit returns an edit of the wire in the form of the model.
func modelEdit(in Edit) (model.Edit, error) {
	bad := func(format string, args ...any) (model.Edit, error) {
		return model.Edit{}, refuse(http.StatusBadRequest, "", fmt.Sprintf(format, args...))
	}
	op, ok := operations[in.Op]
	if !ok {
		return bad("%v", diag.Unknown("operation", in.Op, nil))
	}
	e := model.Edit{
		Op: op, Resource: in.Resource, Resources: in.Resources, Property: in.Property, Expression: in.Expression, Type: in.Type, Name: in.Name,
		At: in.At, Index: in.Index, To: in.To, Text: in.Text,
	}
	for _, part := range in.Path {
		switch x := part.(type) {
		case string:
			e.Path = append(e.Path, x)
		case float64:
			if x != float64(int(x)) || x < 0 {
				return bad("path: %v", diag.Expected("keys and item numbers"))
			}
			e.Path = append(e.Path, int(x))
		default:
			return bad("path: %v", diag.Expected("keys and item numbers"))
		}
	}
	var err error
	if len(in.Value) > 0 {
		if e.Value, err = valueOf(in.Value); err != nil {
			return bad("value: %s", err)
		}
	}
	if len(in.Props) > 0 {
		if e.Props, err = orderedProps(in.Props); err != nil {
			return bad("props: %s", err)
		}
	}
	return e, nil
}

// valueOf returns a JSON value in the form of the model: whole numbers are int64.
func valueOf(text json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return withNumbers(v)
}

func withNumbers(v any) (any, error) {
	switch x := v.(type) {
	case json.Number:
		if !strings.ContainsAny(x.String(), ".eE") {
			return x.Int64()
		}
		return x.Float64()
	case []any:
		for i := range x {
			var err error
			if x[i], err = withNumbers(x[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key, val := range x {
			n, err := withNumbers(val)
			if err != nil {
				return nil, err
			}
			x[key] = n
		}
	}
	return v, nil
}

// orderedProps returns the entries of a JSON object in their order.
func orderedProps(text json.RawMessage) (out []model.Prop, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, diag.Expected("an object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		v, err := valueOf(raw)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, diag.Expected("names")
		}
		out = append(out, model.Prop{Name: name, Value: v, Literal: true})
	}
	if _, err := dec.Token(); err != nil && err != io.EOF {
		return nil, err
	}
	return out, nil
}
