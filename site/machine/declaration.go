package machine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A declaration is a resource of the site.
type declaration struct {
	typ, name  string
	properties *schema.Table
	remarks    []string // comments above it
	// checked are the properties that a plan is tried with instead, nil for the same.
	checked *schema.Table
	// secrets are encrypted files of the site by the text that stands for their content in the properties.
	secrets map[string]string
	data    []dataReference
	host    string // the only host that it is for, "" for all
	public  bool   // it holds keys that are no secrets
	// files are the files of the site that it needs; encrypted is how many of them are encrypted.
	files     []SiteFile
	encrypted int
}

// one returns one way to declare an item.
func one(d *declaration) [][]*declaration { return [][]*declaration{{d}} }

// declare adds the first declarations that are up to date. Without any, it returns the reason, and notes it.
func (w *Writer) declare(ctx context.Context, id, block string, tries [][]*declaration, err error) error {
	for _, list := range tries {
		err = nil
		for _, d := range list {
			if err == nil {
				err = w.try(ctx, d)
			}
		}
		if err != nil {
			continue
		}
		if w.blocks[block] == nil {
			w.order = append(w.order, block)
		}
		w.blocks[block] = append(w.blocks[block], list...)
		for _, d := range list {
			w.names[d.id()] = true
		}
		return nil
	}
	if err != nil {
		w.leave(id, err)
	}
	return err
}

func newDeclaration(typ, name string) *declaration {
	return &declaration{typ: typ, name: name, properties: new(schema.Table)}
}

func (d *declaration) set(key string, v schema.Value) *declaration {
	d.properties.Set(key, v)
	return d
}

func (d *declaration) text(key, value string) *declaration {
	return d.set(key, schema.StringValue(value))
}

// remark adds a comment.
func (d *declaration) remark(text string) *declaration {
	d.remarks = append(d.remarks, text)
	return d
}

func (d *declaration) list(key string, values []string) *declaration {
	var items []schema.Value
	for _, value := range values {
		items = append(items, schema.StringValue(value))
	}
	return d.set(key, schema.ListValue(items...))
}

// try returns the reason why a declaration does not belong in the site: a secret in it, a mistake, or that a plan would
// change something.
func (w *Writer) try(ctx context.Context, d *declaration) error {
	if w.names[d.id()] {
		return ownReason("declared twice")
	}
	if w.holdsKnown(d.name) || secretText("", d.name) != "" {
		return ownReason("its name may contain a secret")
	}
	if !isShowable(d.name) {
		return ownReason("its name has unusual characters")
	}
	if err := w.secretIn(d); err != nil {
		return err
	}
	tab := d.checked
	if tab == nil {
		tab = d.properties
	}
	err := w.upToDate(ctx, d.typ, d.name, tab)
	if c := w.read[d.name]; err != nil && d.typ == "file" && c != nil && c.err == nil && w.readFile(d.name).CTime != c.CTime {
		return errChanged
	}
	return err
}

// secretIn returns the reason why properties hold a secret.
func (w *Writer) secretIn(d *declaration) (found error) {
	look := func(text string) {
		if found == nil && !isShowable(text) {
			found = ownReason("has unusual characters")
		}
		if found == nil && (w.holdsKnown(text) || !d.public && secretText("", text) != "") {
			found = ownReason("may contain a secret")
		}
	}
	var walk func(v schema.Value)
	walk = func(v schema.Value) {
		switch v.Kind {
		case schema.List:
			look(strings.Join(v.Texts(), " "))
			look(strings.Join(v.Texts(), "\n"))
			for _, item := range v.Items() {
				walk(item)
			}
		case schema.Map:
			for _, e := range v.Table().Entries {
				if e.Val.Kind == schema.String {
					look(e.Key + "=" + e.Val.S)
				}
				walk(e.Val)
			}
		default:
			look(v.S)
		}
	}
	for _, e := range d.properties.Entries {
		walk(e.Val)
	}
	return found
}

// upToDate returns nil if a plan finds a resource up to date.
func (w *Writer) upToDate(ctx context.Context, typ, name string, properties *schema.Table) error {
	d, _, _, err := w.decide(ctx, w.View, typ, name, properties)
	switch {
	case err != nil:
		return err
	case d.Err != nil:
		return d.Err
	case !d.Stable():
		return errors.New("a plan would change it: " + d.String())
	}
	return nil
}

// decide returns the decision of a plan for a resource.
func (w *Writer) decide(ctx context.Context, v *host.View, typ, name string, properties *schema.Table) (d resource.Decision, r *resource.Resource, state any, err error) {
	t := w.Registry.Type(typ)
	if t == nil {
		return d, nil, nil, ownReason("no such type: " + typ)
	}
	tab := &schema.Table{Entries: append([]schema.Entry{{Key: t.Schema().Name().Name, Val: schema.StringValue(name)}}, properties.Entries...)}
	if r, err = t.Decode(tab, resource.Origin{}); err != nil {
		return d, nil, nil, err
	}
	if err = w.Registry.MayWork(v, r); err != nil {
		return d, r, nil, err
	}
	b, err := w.Registry.Select(r, w.Facts)
	if err != nil {
		return d, r, nil, err
	}
	if state, err = b.Status(ctx, v, r.Spec); err != nil {
		return d, r, nil, err
	}
	return t.Decide(r.Spec, state, false), r, state, nil
}

// without returns properties without one.
func without(tab *schema.Table, key string) *schema.Table {
	return &schema.Table{Entries: slices.DeleteFunc(slices.Clone(tab.Entries), func(e schema.Entry) bool { return e.Key == key })}
}
