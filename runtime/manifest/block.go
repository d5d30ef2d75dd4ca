package manifest

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// resources reads a list of blocks, each the resources of one type.
func (r *reader) resources(list *data.Node) {
	if list.Kind != schema.List {
		r.fail(list, "", "ccm.resources: %w", diag.Expected("a list").Got("%s", list.Describe()))
		return
	}
	for _, item := range list.Items {
		switch {
		case item.Kind != schema.Map:
			r.fail(item, "such as - file: [...]", "%w", diag.Expected("a type with its resources").Got("%s", item.Describe()))
		case len(item.Entries) == 0:
			r.fail(item, "", "%w", diag.Expected("a type with its resources").Got("an empty table"))
		case len(item.Entries) > 1:
			r.reportSeveralTypes(item)
		default:
			r.block(item.Entries[0])
		}
	}
}

// reportSeveralTypes reports a block with more than one key: two types, or properties
// with too little indentation.
func (r *reader) reportSeveralTypes(item *data.Node) {
	second := item.Entries[1].Key
	if r.loader.Registry.Type(second.Text) != nil {
		r.fail(second, "start another block with -", "%w", diag.Expected("one type in a block").Found("also %s", second.Text))
		return
	}
	hint := diag.DidYouMean(second.Text, r.loader.Registry.TypeNames())
	if t := r.loader.Registry.Type(item.Entries[0].Key.Text); t != nil && isProperty(t, second.Text) {
		hint = "properties of a " + t.Name + " must be indented below its name"
	}
	r.fail(second, hint, "%w", diag.Expected("one type in a block").Found("also %q", second.Text))
}

// isProperty reports whether resources of t have a property of that name.
func isProperty(t *resource.Type, name string) bool {
	for _, s := range t.Properties() {
		if s.Field(name) != nil {
			return true
		}
	}
	return name == "control"
}

// block reads the resources of one type, in any form.
func (r *reader) block(e data.Entry) {
	t := r.loader.Registry.Type(template.Clean(e.Key.Text))
	if t == nil {
		hint := ""
		if name, found := strings.CutPrefix(e.Key.Text, "std."); found && r.loader.Registry.Type(name) != nil {
			hint = "write " + name
		}
		r.fail(e.Key, hint, "%w", diag.Unknown("resource type", e.Key.Text, r.loader.Registry.TypeNames()))
		return
	}
	switch e.Val.Kind {
	case schema.Map:
		r.single(t, e)
	case schema.List:
		r.list(t, e.Val)
	default:
		r.fail(e.Val, "such as - "+t.Name+": [...]", "%s: %w", t.Name, diag.Expected("a list of resources").Got("%s", e.Val.Describe()))
	}
}

// single reads a resource whose name is one of its properties.
func (r *reader) single(t *resource.Type, e data.Entry) {
	name := t.Schema().Name()
	for _, x := range e.Val.Entries {
		if t.Schema().Field(x.Key.Text) == name {
			r.declare(&declaration{typ: t, key: e.Key, body: e.Val, name: x.Val})
			return
		}
	}
	if len(e.Val.Entries) > 0 && !slices.ContainsFunc(e.Val.Entries, func(x data.Entry) bool { return isProperty(t, x.Key.Text) }) {
		r.fail(e.Val.Entries[0].Key, "start each name with -", "%s: %w", t.Name, diag.Expected("a list of resources").Got("a table"))
		return
	}
	r.fail(e.Key, "", "%s: %w", t.Name, diag.Required(name.Name))
}

// list reads resources with their names as keys, and the properties that they share.
func (r *reader) list(t *resource.Type, list *data.Node) {
	var defaults *data.Node
	for _, item := range list.Items {
		if item.Kind != schema.Map || len(item.Entries) == 0 || item.Entries[0].Key.Text != "defaults" {
			continue
		}
		e := item.Entries[0]
		switch {
		case len(item.Entries) > 1:
			r.reportSeveralNames(t, item)
		case defaults != nil:
			r.fail(e.Key, "", "%s: duplicate defaults", t.Name)
		case e.Val.Kind == schema.Map:
			defaults = r.defaults(t, e.Val)
		case !e.Val.IsNil():
			r.fail(e.Val, "", "%s: defaults: %w", t.Name, diag.Expected("a table of properties").Got("%s", e.Val.Describe()))
		}
	}
	for _, item := range list.Items {
		switch {
		case item.Kind != schema.Map:
			hint := "such as - name: {...}"
			if item.Kind == schema.String {
				hint = "write - " + item.Text + ": for a resource without properties"
			}
			r.fail(item, hint, "%s: %w", t.Name, diag.Expected("a name with properties").Got("%s", item.Describe()))
		case len(item.Entries) == 0:
			r.fail(item, "", "%s: %w", t.Name, diag.Expected("a name with properties").Got("an empty table"))
		case item.Entries[0].Key.Text == "defaults":
		case len(item.Entries) > 1:
			r.reportSeveralNames(t, item)
		default:
			r.named(t, item.Entries[0], defaults)
		}
	}
}

// defaults returns the default properties of a block. It reports unknown names once, so that the
// resources need not.
func (r *reader) defaults(t *resource.Type, n *data.Node) *data.Node {
	var good []data.Entry
	for _, e := range n.Entries {
		switch {
		case t.Schema().Field(e.Key.Text) == t.Schema().Name():
			r.fail(e.Key, "", "%s: a name cannot be a default", t.Name)
		case !isProperty(t, e.Key.Text):
			r.fail(e.Key, "", "%s: %w", t.Name, schema.UnknownProperty(e.Key.Text, t.Properties().Names()))
		default:
			good = append(good, e)
		}
	}
	return n.WithEntries(good)
}

// reportSeveralNames reports an item with more than one name, mostly properties with too
// little indentation.
func (r *reader) reportSeveralNames(t *resource.Type, item *data.Node) {
	second := item.Entries[1].Key
	hint := "start it with -"
	if isProperty(t, second.Text) {
		hint = "indent properties below the name"
	}
	r.fail(second, hint, "%s: %w", t.Name, diag.Expected("one name in an item").Found("also %q", second.Text))
}

func (r *reader) named(t *resource.Type, e data.Entry, defaults *data.Node) {
	switch e.Val.Kind {
	case schema.Nil, schema.Map:
		r.declare(&declaration{typ: t, key: e.Key, body: e.Val, name: e.Key, keyIsName: true, defaults: defaults})
	default:
		r.fail(e.Val, "", "%s#%s: %w", t.Name, template.Clean(e.Key.Text), diag.Expected("a table of properties").Got("%s", e.Val.Describe()))
	}
}
