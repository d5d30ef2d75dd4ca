package manifest

import (
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// A positionIndex finds the positions of properties by parsing the list of resources
// again. Few runs need any, and keeping them all would take more memory than the rest of
// the resources.
type positionIndex struct {
	unit   *catalog.Unit
	loader *Loader
	parse  func() *data.Node // the list
	count  int               // of the declarations so far

	once         sync.Once
	declarations []*declaration
	building     bool
}

// newIndex returns the index of a list that parse returns.
func (r *reader) newIndex(parse func() *data.Node) *positionIndex {
	return &positionIndex{unit: r.Unit, loader: r.loader, parse: parse}
}

// add numbers a declaration. It reports whether the list is being parsed again, for
// positions only.
func (p *positionIndex) add(d *declaration) bool {
	if p.building {
		p.declarations = append(p.declarations, d)
		return true
	}
	p.count++
	return false
}

// position returns the locator of the last declaration.
func (p *positionIndex) position() *position { return &position{p, p.count - 1} }

// declaration returns the declaration with a number.
func (p *positionIndex) declaration(number int) *declaration {
	p.once.Do(func() {
		r := &reader{Unit: p.unit, loader: p.loader, index: &positionIndex{building: true}}
		if list := p.parse(); list != nil {
			r.resources(list)
		}
		p.declarations = r.index.declarations
	})
	return p.declarations[number]
}

// A position is the locator of one declaration.
type position struct {
	index  *positionIndex
	number int
}

var _ schema.Locator = (*position)(nil)

// Locate implements schema.Locator.
func (p *position) Locate(path schema.Path, key bool) diag.Pos {
	d := p.index.declaration(p.number)
	where := newTable(d.key)
	where.name(d, schema.Value{})
	for _, e := range d.entries(nil) {
		if e.Key.Text != "control" {
			where.add(e, template.Clean(e.Key.Text), schema.Value{})
		}
	}
	return where.Locate(path, key)
}

// table returns an empty table for a declaration. It reuses the last table, if nobody kept that:
// new ones take 8 % more processor time in a run that finds 1,000 files unchanged (21 pairs of runs).
func (r *reader) table(d *declaration) *table {
	if r.freeTable == nil {
		return newTable(d.key)
	}
	where := r.freeTable
	r.freeTable = nil
	where.at, where.nodes, where.tab.Entries = d.key, where.nodes[:0], where.tab.Entries[:0]
	return where
}

// keepsTable reports whether the table of a declaration must be kept, because parsing again
// would not find all positions.
func (r *reader) keepsTable(where *table) bool {
	for _, e := range where.nodes {
		if hasEvaluatedKeys(e.Val) {
			return true
		}
	}
	r.freeTable = where
	return false
}

// hasEvaluatedKeys reports whether a value has tables with expressions in keys.
func hasEvaluatedKeys(n *data.Node) bool {
	if slices.ContainsFunc(n.Items, hasEvaluatedKeys) {
		return true
	}
	for _, e := range n.Entries {
		if template.HasExpression(e.Key.Text) || hasEvaluatedKeys(e.Val) {
			return true
		}
	}
	return false
}
