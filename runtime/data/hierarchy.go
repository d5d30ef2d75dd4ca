package data

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// An Expander evaluates the expressions in a text. Expressions see facts and environment, but no
// data, because the data is being resolved.
type Expander interface {
	// Expand returns text with its expressions evaluated: the value of the
	// expression if it is the whole text, and otherwise a string.
	Expand(text string) (any, error)
	// ExpandEach is like Expand, and returns a string for a single expression too. It reports whether
	// text has no expression, or one with a value that is neither nil nor empty.
	ExpandEach(text string) (string, bool, error)
}

// A SpanError is an error in some bytes of an expanded text.
type SpanError interface {
	error
	Span() (offset, length int)
}

// Sections are the keys of a hierarchy document.
var Sections = []string{"data", "hierarchy", "overrides"}

// A Resolution is resolved data, with the rules that its document has for it.
type Resolution struct {
	Data  map[string]any
	Rules []Rule
}

// Resolve returns the data of a hierarchy document. Keys besides its sections
// that are not among others are errors: a manifest is a hierarchy document with
// others.
//
// The base data is laid under the overrides that the order names. With merge
// first, the first override that is there replaces what it has at the top; with
// deep, all that are there are merged, later ones over earlier ones, where a key with nothing behind it leaves what is there;
// with a knockout prefix, keys and items that begin with it remove what is inherited. An entry of
// the order whose expressions all give nothing names no override; a missing fact without a default is an
// error. The rules are
// not checked yet, because more data may be merged: see [Resolution.Check].
//
// A table {sensitive: true, value: ...} is replaced by its value. Keep, which may be
// nil, is called with each text in such a value.
// An encrypted text is decrypted by open when it is asked for; a nil one leaves it as it is.
func Resolve(doc *Document, ex Expander, keep func(text string) error, open Opener, others ...string) (Resolution, error) {
	r := resolver{doc: doc, ex: ex, keep: keep, open: open}
	root := doc.Root
	if root.IsNil() {
		return Resolution{Data: map[string]any{}}, nil
	}
	if root.Kind != schema.Map {
		return Resolution{}, diag.List{root.Errorf("%w", diag.Expected("a table with data, hierarchy and overrides").Got("%s", root.Describe()))}
	}
	known := slices.Concat(Sections, others)
	for _, e := range root.Entries {
		if !slices.Contains(known, e.Key.Text) {
			err := diag.At(e.Key.Pos(), diag.Unknown("key", e.Key.Text, known))
			if err.Hint == "" {
				err.Hint = "put your data under data; allowed beside it: " + strings.Join(slices.Concat(Sections[1:], others), ", ")
			}
			r.errs = append(r.errs, err)
		}
	}
	base := r.section(root, "data")
	overrides := r.section(root, "overrides")
	deep, order, merging := r.hierarchy(root.Get("hierarchy"))
	out := Resolution{Data: merging.tables(nil, r.values(base)), Rules: r.rules(base)}
	if overrides != nil {
		for _, e := range overrides.Entries {
			if !e.Val.IsNil() && e.Val.Kind != schema.Map {
				r.errs = append(r.errs, e.Val.Errorf("%s: %w", e.Key.Text, diag.Expected("a table").Got("%s", e.Val.Describe())))
			}
		}
		for _, name := range order {
			over := overrides.Get(name)
			if over.IsNil() || over.Kind != schema.Map {
				continue
			}
			if deep {
				values, _ := withoutBlank(over, r.values(over), out.Data).(map[string]any)
				out.Data = merging.tables(out.Data, values)
				continue
			}
			maps.Copy(out.Data, r.values(over))
			break
		}
	}
	return out, r.errs.Err()
}

// withoutBlank returns the values of an override without those of keys that have nothing behind them and are there
// already: "modules:" with its entries commented out or left out by a template says nothing of modules, while null
// says that there are none.
func withoutBlank(n *Node, val, base any) any {
	table, ok := val.(map[string]any)
	under, isTable := base.(map[string]any)
	if !ok || !isTable || n.Kind != schema.Map {
		return val
	}
	for _, e := range n.Entries {
		have, there := under[e.Key.Text]
		switch {
		case there && e.Val.Kind == schema.Nil && e.Val.Text == "":
			delete(table, e.Key.Text)
		case there:
			table[e.Key.Text] = withoutBlank(e.Val, table[e.Key.Text], have)
		}
	}
	return table
}

type resolver struct {
	doc  *Document
	open Opener
	ex   Expander
	keep func(text string) error
	errs diag.List
}

// section returns a table at the top of a document, or nil.
func (r *resolver) section(root *Node, name string) *Node {
	n := root.Get(name)
	if n.IsNil() {
		return nil
	}
	if n.Kind != schema.Map {
		r.errs = append(r.errs, n.Errorf("%s: %w", name, diag.Expected("a table").Got("%s", n.Describe())))
		return nil
	}
	return n
}

// hierarchy returns whether to merge deep, the names of the overrides, and how to merge.
func (r *resolver) hierarchy(n *Node) (deep bool, order []string, merging merger) {
	if n.IsNil() {
		return false, []string{"default"}, merger{}
	}
	if n.Kind != schema.Map {
		r.errs = append(r.errs, n.Errorf("hierarchy: %w", diag.Expected("a table with order and merge").Got("%s", n.Describe())))
		return false, nil, merger{}
	}
	order = []string{"default"}
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "merge":
			switch {
			case e.Val.Text == "deep":
				deep = true
			case e.Val.Text != "first" && !e.Val.IsNil():
				err := e.Val.Errorf("hierarchy.merge: %w", diag.Expected("one of first, deep").Got("%s", e.Val.Describe()))
				err.Hint = diag.DidYouMean(e.Val.Text, []string{"first", "deep"})
				r.errs = append(r.errs, err)
			}
		case "order":
			order = r.order(e.Val)
		case "knockout_prefix":
			switch {
			case e.Val.IsNil():
			case e.Val.Kind != schema.String || e.Val.Text == "":
				r.errs = append(r.errs, e.Val.Errorf("hierarchy.knockout_prefix: %w", diag.Expected(`a text such as "--"`).Got("%s", e.Val.Describe())))
			default:
				merging.knockout = e.Val.Text
			}
		default:
			r.errs = append(r.errs, e.Key.Errorf("hierarchy: %w", diag.Unknown("key", e.Key.Text, []string{"order", "merge", "knockout_prefix"})))
		}
	}
	if merging.knockout != "" && !deep {
		err := n.Get("knockout_prefix").Errorf("%w", diag.Requires("hierarchy.knockout_prefix", "merge: deep"))
		err.Hint = "add merge: deep, or remove knockout_prefix"
		r.errs = append(r.errs, err)
	}
	return deep, order, merging
}

func (r *resolver) order(n *Node) (names []string) {
	if n.Kind != schema.List {
		r.errs = append(r.errs, n.Errorf("hierarchy.order: %w", diag.Expected("a list").Got("%s", n.Describe())))
		return nil
	}
	for _, item := range n.Items {
		if item.Kind == schema.List || item.Kind == schema.Map || item.Kind == schema.Nil {
			r.errs = append(r.errs, item.Errorf("hierarchy.order: %w", diag.Expected("a list of texts").Got("%s in it", item.Describe())))
			continue
		}
		name, ok, err := r.ex.ExpandEach(item.Text)
		if err != nil {
			r.errs.Add(item.Place("hierarchy.order", err))
			continue
		}
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// values returns the data in a table, with expressions evaluated.
func (r *resolver) values(n *Node) map[string]any {
	if n == nil {
		return map[string]any{}
	}
	m, _ := r.value(n, func(text *Node) any {
		if r.open != nil && IsSealed(text.Text) {
			return r.doc.sealed(text, r.open)
		}
		if !strings.Contains(text.Text, "${") && !strings.Contains(text.Text, "{{") {
			return text.Text
		}
		val, err := r.ex.Expand(text.Text)
		if err != nil {
			r.errs.Add(text.Place("", err))
		}
		return val
	}).(map[string]any)
	return m
}

// Place gives an error of an Expander its place in n. The property describes what
// n is, and may be empty.
func (n *Node) Place(property string, err error) *diag.Error {
	e := &diag.Error{Pos: n.Pos(), Err: err}
	if inner, ok := errors.AsType[*diag.Error](err); ok {
		c := *inner
		e = &c
		if !c.Pos.IsZero() { // in a file that the expression reads
			e.Notes = append(slices.Clip(c.Notes), diag.Note{Pos: n.Pos(), Text: "read from here"})
		} else {
			e.Pos = n.Pos()
		}
	}
	if m, ok := errors.AsType[SpanError](err); ok && len(e.Notes) == 0 {
		e.Pos = n.At(m.Span())
	}
	if property != "" {
		e.Err = diag.Errorf(diag.Pos{}, "%s: %w", property, e.Err).Err
	}
	return e
}
