package page

import (
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/report"
)

// A verdict says in a few words how a run ended.
type verdict struct{ Text, Class string }

func verdictOf(run *report.Run) verdict {
	s := run.Summary
	ignored := ""
	if s.Ignored > 0 {
		ignored = fmt.Sprintf(" (%d ignored)", s.Ignored)
	}
	switch {
	case s.Total == 0 && run.Error != "":
		return verdict{"Did not start.", "failed"}
	case s.Interrupted:
		return verdict{"Interrupted.", "failed"}
	case s.Failed > s.Ignored:
		return verdict{fmt.Sprintf("%d failed%s.", s.Failed, ignored), "failed"}
	case run.Error != "":
		return verdict{"Failed.", "failed"}
	case s.Failed > 0:
		return verdict{fmt.Sprintf("%d failed%s.", s.Failed, ignored), "pending"}
	case run.Drift && s.Pending > 0:
		return verdict{fmt.Sprintf("%d drifted.", s.Pending), "pending"}
	case run.Drift:
		return verdict{"No drift.", "stable"}
	case s.Noop && s.Pending > 0 && s.Unknown > 0:
		return verdict{fmt.Sprintf("%d would change, %d unknown.", s.Pending, s.Unknown), "pending"}
	case s.Noop && s.Pending > 0:
		return verdict{fmt.Sprintf("%d would change.", s.Pending), "pending"}
	case s.Noop && s.Unknown > 0:
		return verdict{fmt.Sprintf("%d unknown.", s.Unknown), "unknown"}
	case s.Noop:
		return verdict{"Nothing to do.", "stable"}
	case s.Changed > 0:
		return verdict{fmt.Sprintf("%d changed.", s.Changed), "changed"}
	}
	return verdict{"Everything was up to date.", "stable"}
}

// A failure is a failed resource, and the resources skipped because of it.
type failure struct {
	*row
	Skipped []*row
	More    int // number of further skipped resources
}

// mostSkipped is the number of skipped resources named with each failure.
const mostSkipped = 100

// failuresOf returns the failures in their order. A resource that was skipped because of another
// skipped one belongs to the failure too.
func failuresOf(run *report.Run, rows []*row) []failure {
	skippedBy := make(map[string][]*row)
	for _, r := range rows {
		for _, name := range r.UnmetRequirements {
			skippedBy[name] = append(skippedBy[name], r)
		}
	}
	var list []failure
	for _, r := range rows {
		if !r.Failed {
			continue
		}
		f := failure{row: r}
		seen, next := map[string]bool{r.FullName(): true}, []string{r.FullName()}
		for len(next) > 0 {
			name := next[0]
			next = next[1:]
			for _, s := range skippedBy[name] {
				if !seen[s.FullName()] {
					seen[s.FullName()] = true
					next = append(next, s.FullName())
					f.Skipped = append(f.Skipped, s)
				}
			}
		}
		if len(f.Skipped) > mostSkipped {
			f.Skipped, f.More = f.Skipped[:mostSkipped], len(f.Skipped)-mostSkipped
		}
		list = append(list, f)
	}
	// Ignored failures come last.
	slices.SortStableFunc(list, func(a, b failure) int {
		if run.Fails(a.Event) == run.Fails(b.Event) {
			return 0
		}
		return map[bool]int{true: -1, false: 1}[run.Fails(a.Event)]
	})
	return list
}
