package studio

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// An asker is the page that requested a change.
type asker struct {
	client string
	have   int  // the serial of the last state that it received
	typed  bool // it has the text already
}

// tell answers a change of the text before at revision base, and sends it to the other pages.
func (w *workspace) tell(ctx context.Context, d *document, before string, base int, list []splice.Splice, by asker) *State {
	w.checkSoon(ctx, d, false)
	st := d.state()
	st.Base, st.Client = base, by.client
	st.Splices = wireSplices(splice.UTF16(before, inOrder(list)))
	w.hub.sendOthers(by.client, "state", st)
	st = d.answer(st, by.have)
	if by.typed {
		st.Splices = nil
	}
	return st
}

func inOrder(list []splice.Splice) []splice.Splice {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b splice.Splice) int { return a.From - b.From })
	return list
}

func wireSplices(list []splice.Splice) []Splice {
	out := make([]Splice, len(list))
	for i, s := range list {
		out[i] = Splice(s)
	}
	return out
}
