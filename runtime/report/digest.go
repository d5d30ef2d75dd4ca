package report

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// A Digest reports a plan at its end, so that a large one can be read: the riskiest resources first,
// alike ones on one line, or only how many there are of each kind.
type Digest struct {
	*Failures      // reports single resources
	Sorted    bool // the riskiest first
	Grouped   bool // alike resources on one line, unless Text is verbose
	Counts    bool // only counts by type and action, and failures

	events []*event.Event
}

var _ event.Reporter = (*Digest)(nil)

// Event implements event.Reporter.
func (d *Digest) Event(e *event.Event) {
	if d.Text.tells(e) {
		d.events = append(d.events, e.Clone())
	}
}

// Tell prints the report.
func (d *Digest) Tell() {
	if d.Sorted || d.Counts {
		slices.SortStableFunc(d.events, func(a, b *event.Event) int { return cmp.Compare(riskOf(a), riskOf(b)) })
	}
	if d.Counts {
		d.tellCounts()
		return
	}
	for from, to := 0, 0; from < len(d.events); from = to {
		to = from + 1
		if key := d.groupKey(d.events[from]); key != "" {
			for to < len(d.events) && d.groupKey(d.events[to]) == key {
				to++
			}
		}
		if to-from >= fewestAlike {
			d.tellGroup(d.events[from:to])
			continue
		}
		for _, e := range d.events[from:to] {
			d.Failures.Event(e)
		}
	}
}

// fewestAlike is the number of consecutive alike resources from which they are one line.
const fewestAlike = 5

// groupKey returns a text that alike resources share, "" for one that has its own lines.
func (d *Digest) groupKey(e *event.Event) string {
	mark, _ := symbol(e)
	if !d.Grouped || d.Text.Verbose || mark != "+" && mark != "-" || !strings.HasPrefix(e.Resource.ID.Name, "/") || !allWell(e.Health) || e.KeepsData || e.Uncertain {
		return ""
	}
	return strings.Join([]string{mark, e.Resource.ID.Type, Message(e)}, "\x00")
}

// tellGroup prints one line for alike resources.
func (d *Digest) tellGroup(list []*event.Event) {
	mark, style := symbol(list[0])
	dir := path.Dir(list[0].Resource.ID.Name)
	for _, e := range list {
		for dir != "/" && !strings.HasPrefix(e.Resource.ID.Name, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	terminal.Fprintf(d.Text.W, "%s %d of type %s below %s: %s\n", d.Text.paint(style, mark), len(list), list[0].Resource.ID.Type, dir, Message(list[0]))
}

// mostCounts is the largest number of lines with counts.
const mostCounts = 10

// tellCounts prints the numbers of resources by type and action, and what fails.
func (d *Digest) tellCounts() {
	type kind struct{ mark, of, action string }
	var kinds []kind
	styles, numbers := make(map[kind]terminal.Style), make(map[kind]int)
	for _, e := range d.events {
		mark, style := symbol(e)
		k := kind{mark, e.Resource.ID.Type, actionOf(e)}
		if numbers[k]++; numbers[k] == 1 {
			kinds, styles[k] = append(kinds, k), style
		}
	}
	rest := 0
	for i, k := range kinds {
		if i >= mostCounts-1 && len(kinds) > mostCounts {
			rest += numbers[k]
			continue
		}
		terminal.Fprintf(d.Text.W, "%s %d %s: %s\n", d.Text.paint(styles[k], k.mark), numbers[k], k.of, k.action)
	}
	if rest > 0 {
		terminal.Fprintf(d.Text.W, "  %s of %s\n", words.Count(rest, "other resource", "other resources"), words.Count(len(kinds)-mostCounts+1, "kind"))
	}
	for _, e := range d.events {
		if e.Outcome == event.Failed {
			d.Failures.Event(e)
		}
	}
}

// actionOf returns what is done about a resource, in few words.
func actionOf(e *event.Event) string {
	if e.Outcome != event.Pending && e.Outcome != event.Changed {
		return e.Outcome.String()
	}
	_, actions := e.Planned()
	verbs := make([]string, len(actions))
	for i, a := range actions {
		verbs[i] = verb(a.Verb)
	}
	return strings.Join(verbs, " and ")
}

// A risk is how much attention a planned change deserves: the lower, the more.
type risk int

const (
	riskFailure risk = iota
	riskPackageRemoval
	riskRemoval
	riskStop // something that runs is stopped or restarted
	riskRefresh
	riskUnknown
	riskUpdate
	riskCreation
	riskNone
)

// riskOf returns the risk of what is planned for a resource. That of an unknown one is the risk of
// its forecast, if this is higher.
func riskOf(e *event.Event) risk {
	switch e.Outcome {
	case event.Failed:
		return riskFailure
	case event.Unknown:
		if f := e.Forecast; f != nil && f.Outcome == event.Pending {
			return min(riskUnknown, riskOfActions(e, f.Diff, f.Actions))
		}
		return riskUnknown
	case event.Stable, event.Skipped:
		return riskNone
	}
	diff, actions := e.Planned()
	return riskOfActions(e, diff, actions)
}

func riskOfActions(e *event.Event, diff []resource.Delta, actions []resource.Action) risk {
	isGone := slices.ContainsFunc(diff, func(x resource.Delta) bool { return x.Property == "ensure" && resource.IsAbsent(x.Want) })
	does := func(verbs ...string) bool {
		return slices.ContainsFunc(actions, func(a resource.Action) bool { return slices.Contains(verbs, a.Verb) })
	}
	switch {
	case does("Uninstall", "Downgrade"):
		return riskPackageRemoval
	case isGone:
		return riskRemoval
	case does("Stop", "Restart", "Mask"):
		return riskStop
	case e.Refreshed:
		return riskRefresh
	case isNew(diff):
		return riskCreation
	}
	return riskUpdate
}
