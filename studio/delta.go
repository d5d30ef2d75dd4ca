package studio

import (
	"reflect"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// keptStates is the number of states of a file that are kept to compute differences. A page with an
// older state receives the whole new one.
const keptStates = 4

// A pageState has the resources and the derived text of a file as sent to pages.
type pageState struct {
	serial    int
	resources []Resource
	derived   string
}

// note numbers a state and remembers it.
func (d *document) note(st *State) {
	d.serial++
	st.Serial = d.serial
	s := pageState{serial: st.Serial, resources: st.Resources}
	if st.Derived != nil {
		s.derived = st.Derived.Text
	}
	d.states = append(d.states, s)
	d.states = d.states[max(0, len(d.states)-keptStates):]
}

// answer returns a state for a page with an earlier one, without the parts that are equal. For a
// site of hundreds of resources most parts are equal after an edit.
func (d *document) answer(st *State, have int) *State {
	for _, was := range d.states {
		if was.serial != have {
			continue
		}
		out := *st
		if st.Resources != nil && was.resources != nil {
			out.Resources, out.Delta = nil, deltaOf(was.resources, st.Resources)
		}
		if st.Derived != nil && was.derived != "" {
			derived := *st.Derived
			derived.Splices = wireSplices(splice.UTF16(was.derived, difference(was.derived, derived.Text)))
			derived.Text = ""
			out.Derived = &derived
		}
		return &out
	}
	return st
}

// deltaOf returns the difference between resources and earlier ones.
func deltaOf(was, now []Resource) *Delta {
	out := &Delta{}
	old := make(map[string]*Resource, len(was))
	for i := range was {
		old[was[i].Key] = &was[i]
	}
	keys, lines, groups := make([]string, len(now)), make([]int, len(now)), make([]int, len(now))
	sameKeys, sameLines, sameGroups := len(was) == len(now), true, true
	for i := range now {
		r := &now[i]
		keys[i], lines[i], groups[i] = r.Key, r.Line, r.Group
		before := old[r.Key]
		sameKeys = sameKeys && was[i].Key == r.Key
		sameLines = sameLines && before != nil && before.Line == r.Line
		sameGroups = sameGroups && before != nil && before.Group == r.Group
		if before == nil || !equalButPlace(*before, *r) {
			out.Changes = append(out.Changes, *r)
		}
	}
	if !sameKeys {
		out.Keys = keys
	}
	if !sameLines {
		out.Lines = lines
	}
	if !sameGroups {
		out.Groups = groups
	}
	return out
}

// equalButPlace reports whether two resources differ at most in their place.
func equalButPlace(a, b Resource) bool {
	a.Line, a.Group = b.Line, b.Group
	return reflect.DeepEqual(a, b)
}
