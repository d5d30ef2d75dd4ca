package manifest

import (
	"maps"
	"slices"
	"strconv"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// scalar returns a scalar with its expressions evaluated.
func scalar(env *template.Env, n *data.Node) (schema.Value, error) {
	if n.Kind == schema.String && data.IsSealed(n.Text) {
		e := n.Errorf("%w", diag.SubjectCannot("an encrypted value", "be decrypted here"))
		e.Hint = "move it to data, and refer to it: ${ data.db.password }"
		return schema.Value{}, e
	}
	if n.Kind != schema.String || !template.HasExpression(n.Text) {
		v := n.Scalar()
		v.S = template.Clean(v.S)
		return v, nil
	}
	val, err := env.Expand(n.Text)
	if err != nil {
		return schema.Value{}, err
	}
	if s, ok := val.(string); ok {
		val = template.Clean(s)
	}
	return valueOf(val), nil
}

// value returns the value of a node with its expressions evaluated, and the mistakes with
// their positions.
func value(env *template.Env, n *data.Node) (schema.Value, diag.List) {
	var errs diag.List
	switch n.Kind {
	case schema.List:
		items := make([]schema.Value, len(n.Items))
		for i, item := range n.Items {
			v, err := value(env, item)
			items[i] = v
			errs = append(errs, err...)
		}
		return schema.ListValue(items...), errs
	case schema.Map:
		t := &schema.Table{Entries: make([]schema.Entry, 0, len(n.Entries))}
		given := make(map[string]bool, len(n.Entries))
		for _, e := range n.Entries {
			key, err := scalar(env, e.Key)
			if err != nil {
				errs = append(errs, e.Key.Place("", err))
			}
			v, more := value(env, e.Val)
			errs = append(errs, more...)
			if given[key.S] && err == nil {
				errs = append(errs, e.Key.Errorf("%w", diag.Duplicate("key %q", key.S)))
			}
			given[key.S] = true
			t.Entries = append(t.Entries, schema.Entry{Key: key.S, Val: v})
		}
		return schema.MapValue(t), errs
	}
	v, err := scalar(env, n)
	if err != nil {
		errs = append(errs, n.Place("", err))
	}
	return v, errs
}

// valueOf returns plain data as a value for the decoder. Scalars keep their text, so that a text
// property accepts a number from an expression as it accepts a number in the manifest.
func valueOf(val any) schema.Value {
	switch x := val.(type) {
	case string:
		return schema.StringValue(x)
	case bool:
		return schema.Value{Kind: schema.Bool, B: x, S: strconv.FormatBool(x)}
	case int64:
		return schema.Value{Kind: schema.Int, I: x, S: strconv.FormatInt(x, 10)}
	case float64:
		v := schema.NumberValue(x)
		v.S = strconv.FormatFloat(x, 'f', -1, 64)
		return v
	case []any:
		items := make([]schema.Value, len(x))
		for i, item := range x {
			items[i] = valueOf(item)
		}
		return schema.ListValue(items...)
	case map[string]any:
		t := &schema.Table{Entries: make([]schema.Entry, 0, len(x))}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			t.Entries = append(t.Entries, schema.Entry{Key: k, Val: valueOf(x[k])})
		}
		return schema.MapValue(t)
	}
	return schema.Value{}
}

// A table has the properties of one resource with their nodes, which are in the resource or in the
// defaults of its block.
type table struct {
	at    *data.Node // the name of the resource
	tab   *schema.Table
	nodes []data.Entry // of each entry of tab
}

// newTable returns the table of a resource without properties.
func newTable(at *data.Node) *table {
	t := &table{at: at, tab: new(schema.Table)}
	t.tab.Positions = t
	return t
}

// name adds the name of a resource, if it is not written among the properties.
func (t *table) name(d *declaration, v schema.Value) {
	if d.keyIsName {
		t.add(data.Entry{Key: d.name, Val: d.name}, d.typ.Schema().Name().Name, v)
	}
}

// secrets returns the properties whose values contain nodes marked as secret.
func (t *table) secrets() (names []string) {
	for i, e := range t.nodes {
		if e.Val.HoldsSecret() {
			names = append(names, t.tab.Entries[i].Key)
		}
	}
	return names
}

var _ schema.Locator = (*table)(nil)

func (t *table) add(n data.Entry, key string, v schema.Value) {
	t.nodes = append(t.nodes, n)
	t.tab.Entries = append(t.tab.Entries, schema.Entry{Key: key, Val: v})
}

// Locate implements schema.Locator.
func (t *table) Locate(path schema.Path, key bool) diag.Pos {
	if len(path) == 0 {
		return t.at.Pos()
	}
	i := t.last(path[0])
	if i < 0 {
		return t.at.Pos()
	}
	e, v := t.nodes[i], t.tab.Entries[i].Val
	for _, step := range path[1:] {
		next, val, ok := below(e.Val, v, step)
		if !ok {
			key = false
			break
		}
		e, v = next, val
	}
	if key && e.Key != nil {
		return e.Key.Pos()
	}
	return e.Val.Pos()
}

// last returns the index of the last entry with a name, which is the one to report if the
// name is given twice.
func (t *table) last(name any) int {
	for i := len(t.tab.Entries) - 1; i >= 0; i-- {
		if t.tab.Entries[i].Key == name {
			return i
		}
	}
	return -1
}

// below returns the entry one step below a node with a value. If the value is nil, the step is
// compared with the keys of the node.
func below(n *data.Node, v schema.Value, step any) (data.Entry, schema.Value, bool) {
	switch step := step.(type) {
	case int:
		if n.Kind == schema.List && step < len(n.Items) {
			if items := v.Items(); items != nil {
				v = items[step]
			}
			return data.Entry{Val: n.Items[step]}, v, true
		}
	case string:
		if n.Kind != schema.Map {
			break
		}
		if v.Kind == schema.Nil { // the keys have no expressions
			for _, e := range n.Entries {
				if template.Clean(e.Key.Text) == step {
					return e, v, true
				}
			}
			break
		}
		for i, e := range v.Table().Entries {
			if e.Key == step {
				return n.Entries[i], e.Val, true
			}
		}
	}
	return data.Entry{}, schema.Value{}, false
}
