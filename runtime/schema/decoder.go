package schema

import (
	"cmp"
	"reflect"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
)

// A decoder collects the mistakes of one table.
type decoder struct {
	table *Table
	steps []step
	errs  diag.List
	dst   []reflect.Value
}

// find returns the schema and the property with a name or alias.
func find(m Union, key string) (schema, field int, ok bool) {
	for k, s := range m {
		if at, ok := s.byName[key]; ok {
			return k, at, true
		}
	}
	return 0, 0, false
}

// A step leads from a table or list to one of its values: a name, or a position if that is not
// negative.
type step struct {
	name     string
	position int
}

// decoders are reused: large scripts declare a resource every few microseconds.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(t *Table) *decoder {
	d := decoders.Get().(*decoder)
	d.table = t
	return d
}

// end returns the mistakes. The decoder cannot be used any more.
func (d *decoder) end() error {
	err := d.errs.Err()
	clear(d.dst)
	*d = decoder{steps: d.steps[:0], dst: d.dst[:0]}
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

// maxMistakes is the maximum number of mistakes of one table. A list may have a million items, and
// the place of each mistake is looked up.
const maxMistakes = 1000

func (d *decoder) fail(key bool, hint, format string, args ...any) {
	if len(d.errs) == maxMistakes {
		return
	}
	e := diag.Errorf(d.table.Locate(d.path(), key), format, args...)
	e.Hint = cmp.Or(hint, e.Hint)
	d.errs = append(d.errs, e)
}
