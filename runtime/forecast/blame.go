package forecast

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// recordUnknown records that a plan cannot know the outcome.
func recordUnknown(ev *event.Event, because string) { ev.Outcome, ev.Reason = event.Unknown, because }

// blame records that the outcome is unknown because of suspects. If the provider is not nil,
// hidden suspects are searched for. If the surest suspects are themselves unknown, the pending
// resource that made them so is named instead.
func (f *Forecaster) blame(ctx context.Context, provider *resource.Binding, ev *event.Event, suspects []suspect) {
	f.blameDirect(ctx, provider, ev, f.suspects.withOrigins(suspects))
}

// withOrigins puts pending suspects first that are the reason for every one of the surest
// suspects, if these are unknown.
func (s *suspectFinder) withOrigins(suspects []suspect) []suspect {
	surest := suspects[:min(s.alikeCount(suspects), event.MostNamed)]
	if s.outcomes[surest[0].index] != event.Unknown {
		return suspects
	}
	var origins []suspect
	for _, x := range suspects {
		isOther := func(by suspect) bool { return !slices.Contains(s.suspectsOf[by.index], x.index) }
		if x.rank < mayBe && s.outcomes[x.index] == event.Pending && !slices.ContainsFunc(surest, isOther) {
			origins = append(origins, suspect{x.index, surest[0].rank})
		}
	}
	return mergeSuspects(origins, suspects)
}

// blameDirect is blame without withOrigins: it names the surest suspects even if they are
// unknown.
func (f *Forecaster) blameDirect(ctx context.Context, provider *resource.Binding, ev *event.Event, suspects []suspect) {
	suspects = f.hiddenSuspects(ctx, provider, ev, suspects[:min(len(suspects), mostSuspects)])
	f.suspects.recordBecause(ev.Index, suspects)
	list := make([]event.Predecessor, len(suspects))
	for k, x := range suspects {
		list[k] = event.Predecessor{ID: f.catalog.Resources[x.index].ID, Outcome: f.outcomes[x.index]}
		if f.expected[x.index] {
			list[k].Outcome = event.Pending
		}
	}
	more := 0
	if len(suspects) == mostSuspects {
		more = max(0, len(f.unsettled)-mostSuspects)
	}
	ev.Blame(list, f.suspects.alikeCount(suspects), more, suspects[0].rank < mayBe)
}

// recordBecause records the suspects of resource i.
func (s *suspectFinder) recordBecause(i int, suspects []suspect) {
	if s.suspectsOf == nil {
		s.suspectsOf = make(map[int][]int)
	}
	for _, x := range suspects {
		if len(s.suspectsOf[i]) < mostSuspects && !slices.Contains(s.suspectsOf[i], x.index) {
			s.suspectsOf[i] = append(s.suspectsOf[i], x.index)
		}
	}
}

// alikeCount returns how many suspects are as sure as the first one. If some of these are
// pending, unknown ones do not count.
func (s *suspectFinder) alikeCount(suspects []suspect) int {
	n, first := 1, suspects[0]
	for n < len(suspects) && suspects[n].rank == first.rank && s.outcomes[suspects[n].index] == s.outcomes[first.index] {
		n++
	}
	return n
}

// RecordConditions records the unknown resources on which resource i, whose turn it is, depends:
// if one of these fails, i is skipped.
func (f *Forecaster) RecordConditions(i int) {
	if !f.planning || len(f.unsettled) == 0 {
		return
	}
	var list []suspect
	for _, d := range f.catalog.Deps[i] {
		if len(list) >= mostSuspects {
			break
		}
		if f.outcomes[d.Index] == event.Unknown && !f.catalog.Resources[d.Index].IsOnlyPlanned() {
			list = append(list, suspect{d.Index, declared})
		} else if !f.conditional[d.Index] {
			continue
		}
		for _, deeper := range f.suspects.suspectsOf[d.Index] {
			list = append(list, suspect{deeper, mayBe})
		}
	}
	if f.conditional[i] = len(list) > 0; f.conditional[i] {
		f.suspects.recordBecause(i, mergeSuspects(nil, list))
	}
}
