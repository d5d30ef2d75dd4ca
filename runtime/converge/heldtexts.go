package converge

import (
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// HeldTexts are the texts of events that wait for the end of the edits of one file. Each edit begins with the text that
// the one before it left, so only what it changed is held. With whole texts, a run that adds 4,000 blocks to a file has
// a peak of 1,060 MiB instead of 61.
type heldTexts struct {
	list []heldText
	last string // after the last change that was held; then, after the last one that was restored
}

// A heldText is the change of a text by one event.
type heldText struct {
	event  *event.Event
	change resource.TextChange // Have is "" unless first
	first  bool                // the text before it is not that of another held change
	// head and tail are the numbers of bytes at the beginning and at the end that stay; Want is what comes between them.
	head, tail int
}

// hold takes the text of an event.
func (h *heldTexts) hold(ev *event.Event) {
	if ev.Text == nil {
		return
	}
	x := heldText{event: ev, change: *ev.Text, first: len(h.list) == 0 || ev.Text.Have != h.last}
	have, want := x.change.Have, x.change.Want
	most := min(len(have), len(want))
	const block = 4096 // compared at once
	for x.head+block <= most && have[x.head:x.head+block] == want[x.head:x.head+block] {
		x.head += block
	}
	for x.head < most && have[x.head] == want[x.head] {
		x.head++
	}
	most -= x.head
	for at := block; at <= most && have[len(have)-at:len(have)-x.tail] == want[len(want)-at:len(want)-x.tail]; at += block {
		x.tail = at
	}
	for x.tail < most && have[len(have)-1-x.tail] == want[len(want)-1-x.tail] {
		x.tail++
	}
	if !x.first {
		x.change.Have = ""
	}
	x.change.Want = strings.Clone(want[x.head : len(want)-x.tail])
	h.list, h.last, ev.Text = append(h.list, x), want, nil
}

// restore gives an event its text again, if it was held. Events come in the order in which they were held.
func (h *heldTexts) restore(ev *event.Event) {
	if len(h.list) == 0 || h.list[0].event != ev {
		return
	}
	x := h.list[0]
	h.list[0] = heldText{} // which refers to the event
	h.list = h.list[1:]
	if !x.first {
		x.change.Have = h.last
	}
	have := x.change.Have
	x.change.Want = have[:x.head] + x.change.Want + have[len(have)-x.tail:]
	h.last, ev.Text = x.change.Want, &x.change
}
