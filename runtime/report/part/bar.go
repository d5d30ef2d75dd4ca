package part

import (
	"fmt"

	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
)

// A Count is the number of resources with an outcome, and the word for that outcome.
type Count struct {
	Outcome, Word string
	N             int
}

// Counts returns the number of resources of each outcome in a summary, the worst outcome first,
// without zeros. Drift means that the machine was compared with the result of a past run.
func Counts(s *report.Summary, drift bool) []Count {
	var list []Count
	for _, c := range []Count{
		{Outcome: "failed", N: s.Failed}, {Outcome: "changed", N: s.Changed}, {Outcome: "pending", N: s.Pending},
		{Outcome: "unknown", N: s.Unknown}, {Outcome: "skipped", N: s.Skipped}, {Outcome: "stable", N: s.Stable},
	} {
		if c.N > 0 {
			c.Word = (&report.Event{Outcome: c.Outcome}).OutcomeWord(drift)
			list = append(list, c)
		}
	}
	return list
}

// Bar returns a bar with a share for each outcome. It adds no information to Legend.
func Bar(counts []Count) *markup.Element {
	bar := markup.New("div", "class", "share", "aria-hidden", "true")
	for _, c := range counts {
		bar.Add(markup.New("span", "class", c.Outcome, "style", fmt.Sprintf("flex:%d", c.N)))
	}
	return bar
}

// Legend returns the counts in words.
func Legend(counts []Count) *markup.Element {
	legend, total := markup.New("p", "class", "legend"), 0
	for _, c := range counts {
		legend.Add(markup.New("span", "class", c.Outcome).Add(markup.New("b"), markup.Text(fmt.Sprintf("%d %s", c.N, c.Word))))
		total += c.N
	}
	return legend.Add(markup.New("span").Say(fmt.Sprintf("of %d resources", total)))
}
