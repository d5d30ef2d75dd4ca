package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/studio/luaedit"
)

// value edits a property or a part of its value.
func (l *luaEditor) value(e Edit) error {
	res, err := l.resource(e.Resource)
	if err != nil {
		return err
	}
	property, inner := e.Property, e.Path
	if property == "" && len(inner) > 0 {
		property, _ = inner[0].(string)
		inner = inner[1:]
	}
	if property == "" {
		return fmt.Errorf("%w: %w", ErrPath, diag.Expected("a property"))
	}
	p := res.Prop(property)
	if len(inner) == 0 && e.Op == Set {
		return l.set(res, property, e)
	}
	if p == nil {
		return l.notThere(res, property)
	}
	if len(inner) == 0 && e.Op == Unset {
		return l.step(l.script.Unset(res.Call, property))
	}
	if !p.Literal {
		return fmt.Errorf("%w: %w", ErrShape, diag.OfKind(property, "an expression"))
	}
	value, err := changed(p.Value, inner, e)
	if err != nil {
		return err
	}
	return l.step(l.script.Set(res.Call, property, value))
}

func (l *luaEditor) set(res *Resource, property string, e Edit) error {
	if e.Expression != "" {
		return l.step(l.script.Set(res.Call, property, luaedit.Expr(e.Expression)))
	}
	return l.step(l.script.Set(res.Call, property, e.Value))
}

// notThere returns the error that a property cannot be removed or changed in part.
func (l *luaEditor) notThere(res *Resource, property string) error {
	if slices.ContainsFunc(res.Defaults, func(p Prop) bool { return p.Name == property }) {
		return &Refusal{Err: fmt.Errorf("%w: %s comes from the defaults above", ErrPath, property), Line: res.Line,
			Hint: "set another value here, or change the defaults"}
	}
	return fmt.Errorf("%w: %s", ErrPath, property)
}

// changed returns a value after an edit of a part of it.
func changed(v any, path []any, e Edit) (any, error) {
	if len(path) == 0 {
		switch e.Op {
		case Insert, Order:
			return changedList(v, e)
		}
		return e.Value, nil
	}
	last := len(path) == 1 && e.Op == Unset
	switch v := v.(type) {
	case []any:
		i, isInt := path[0].(int)
		if !isInt || i < 0 || i >= len(v) {
			return nil, ErrPath
		}
		v = slices.Clone(v)
		if last {
			return slices.Delete(v, i, i+1), nil
		}
		inner, err := changed(v[i], path[1:], e)
		v[i] = inner
		return v, err
	case map[string]any:
		key, isText := path[0].(string)
		if !isText {
			return nil, ErrPath
		}
		out := make(map[string]any, len(v)+1)
		maps.Copy(out, v)
		if last {
			delete(out, key)
			return out, nil
		}
		inner, err := changed(out[key], path[1:], e)
		out[key] = inner
		return out, err
	}
	return nil, ErrPath
}

// changedList returns a list after an item was inserted or moved.
func changedList(v any, e Edit) (any, error) {
	list, isList := v.([]any)
	if m, isMap := v.(map[string]any); v == nil || isMap && len(m) == 0 {
		list, isList = nil, true
	}
	if !isList || e.Index < 0 || e.Index > len(list) || e.Op == Order && (max(e.Index, e.To) >= len(list) || e.To < 0) {
		return nil, ErrPath
	}
	if e.Op == Insert {
		return slices.Insert(slices.Clone(list), e.Index, e.Value), nil
	}
	item := list[e.Index]
	return slices.Insert(slices.Delete(slices.Clone(list), e.Index, e.Index+1), e.To, item), nil
}
