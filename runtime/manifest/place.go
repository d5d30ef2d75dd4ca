package manifest

import (
	"sync"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// A paper is what a list of resources was read from. It finds the places of their
// properties by reading it again: few runs ask for any, and what knows them all
// takes more memory than everything else that is kept of a resource.
type paper struct {
	unit  *Unit
	again func() *data.Node // the list
	count int               // of the declarations so far

	once         sync.Once
	declarations []*declaration
	rereading    bool
}

// recall numbers a declaration. It reports whether the paper is being read again,
// for the sake of its places only.
func (p *paper) recall(d *declaration) bool {
	if p.rereading {
		p.declarations = append(p.declarations, d)
		return true
	}
	p.count++
	return false
}

// place returns the places of the last declaration.
func (p *paper) place() *place { return &place{p, p.count - 1} }

// declaration returns a declaration by its number.
func (p *paper) declaration(number int) *declaration {
	p.once.Do(func() {
		r := &reader{Unit: p.unit, paper: &paper{rereading: true}}
		if list := p.again(); list != nil {
			r.resources(list)
		}
		p.declarations = r.paper.declarations
	})
	return p.declarations[number]
}

// A place is that of one declaration.
type place struct {
	paper  *paper
	number int
}

var _ schema.Locator = (*place)(nil)

// Locate implements schema.Locator.
func (p *place) Locate(path schema.Path, key bool) diag.Pos {
	d := p.paper.declaration(p.number)
	where := newTable(d.key)
	where.name(d, schema.Value{})
	for _, e := range d.entries(nil) {
		if e.Key.Text != "control" {
			where.add(e, template.Clean(e.Key.Text), schema.Value{})
		}
	}
	return where.Locate(path, key)
}

// table returns an empty table for a declaration, in place of that of the one
// before if nobody needs that any more.
func (r *reader) table(d *declaration) *table {
	if r.spare == nil {
		return newTable(d.key)
	}
	where := r.spare
	r.spare = nil
	where.at, where.nodes, where.tab.Entries = d.key, where.nodes[:0], where.tab.Entries[:0]
	return where
}

// keeps reports whether the table of a declaration is needed when it was added:
// because it is asked for, or because reading it again does not tell all places.
func (r *reader) keeps(where *table) bool {
	if !r.loader.Light {
		return true
	}
	for _, e := range where.nodes {
		if hasEvaluatedKeys(e.Val) {
			return true
		}
	}
	r.spare = where
	return false
}

// hasEvaluatedKeys reports whether there are tables in a value whose keys are not
// what is written.
func hasEvaluatedKeys(n *data.Node) bool {
	for _, item := range n.Items {
		if hasEvaluatedKeys(item) {
			return true
		}
	}
	for _, e := range n.Entries {
		if template.HasExpression(e.Key.Text) || hasEvaluatedKeys(e.Val) {
			return true
		}
	}
	return false
}
