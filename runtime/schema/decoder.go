package schema

import (
	"reflect"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
)

// A decoder collects the mistakes of one table.
type decoder struct {
	where *Table
	steps []step
	errs  diag.List
	dst   []reflect.Value
	// hints are the results of find for the previous table, by position, and hintsOf its
	// schemas: mostly the next table has the same properties in the same order.
	hints   []hint
	hintsOf Union
}

// A hint is the position of the property with a name or alias in a [Union].
type hint struct {
	key           string
	schema, field int
}

// find returns the schema and the property of entry number i of a table.
func (d *decoder) find(m Union, i int, key string) (schema, field int, ok bool) {
	top := len(d.steps) == 1
	same := top && slices.Equal(d.hintsOf, m)
	if same && i < len(d.hints) && d.hints[i].key == key {
		return d.hints[i].schema, d.hints[i].field, true
	}
	for k, s := range m {
		at, ok := s.byName[key]
		if !ok {
			continue
		}
		if top && !same {
			d.hintsOf, d.hints = m, d.hints[:0]
		}
		switch {
		case !top || i > len(d.hints):
		case i == len(d.hints):
			d.hints = append(d.hints, hint{key, k, at})
		default:
			d.hints[i] = hint{key, k, at}
		}
		return k, at, true
	}
	return 0, 0, false
}

// A step leads from a table or list to one of its values: a name or, if it is not
// negative, a position.
type step struct {
	name     string
	position int
}

// decoders are reused: large scripts declare a resource every few microseconds.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(t *Table) *decoder {
	d := decoders.Get().(*decoder)
	d.where = t
	return d
}

// end returns the mistakes. The decoder cannot be used any more.
func (d *decoder) end() error {
	err := d.errs.Err()
	clear(d.dst)
	*d = decoder{steps: d.steps[:0], dst: d.dst[:0], hints: d.hints, hintsOf: d.hintsOf}
	decoders.Put(d)
	return err
}

func (d *decoder) enter(name string) { d.steps = append(d.steps, step{name, -1}) }

func (d *decoder) enterItem(position int) { d.steps = append(d.steps, step{"", position}) }

func (d *decoder) leave() { d.steps = d.steps[:len(d.steps)-1] }

// path returns the path of the current value.
func (d *decoder) path() Path {
	p := make(Path, len(d.steps))
	for i, s := range d.steps {
		if p[i] = s.name; s.position >= 0 {
			p[i] = s.position
		}
	}
	return p
}

func (d *decoder) fail(key bool, hint, format string, args ...any) {
	e := diag.Errorf(d.where.Locate(d.path(), key), format, args...)
	e.Hint = hint
	d.errs = append(d.errs, e)
}
