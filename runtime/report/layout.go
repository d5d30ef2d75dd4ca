package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/words"
)

// A Layout is the form of a large plan. The zero value lists each resource in the order of the plan.
type Layout struct {
	Sorted  bool // the riskiest first
	Grouped bool // alike resources on one line, unless all details are shown
	Counts  bool // only counts by type and action, and failures
}

// A row is what a plan has about one resource.
type row struct {
	event       *event.Event
	mark, story string
	diff        string               // the differences in lines, "" for none
	before      string               // what another plan has about it, "" for nothing
	gone        bool                 // only another plan has it
	text        *resource.TextChange // of the content; nil if unknown
}

// wantsContent reports whether there is to be a known content.
func (x row) wantsContent() bool { return x.text != nil && x.text.WantExists }

// isChange reports whether a plan without all details has a line about the resource.
func (x row) isChange() bool { return x.gone || x.event.Outcome != event.Stable }

// risk returns the risk of what is planned.
func (x row) risk() risk {
	if x.gone {
		return riskNone
	}
	return riskOf(x.event)
}

// A group is one row, or alike ones that are one line.
type group []row

// arrange sorts rows and joins alike ones, unless verbose.
func (l Layout) arrange(rows []row, verbose bool) (groups []group) {
	if l.Sorted || l.Counts {
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.risk(), b.risk()) })
	}
	for from := 0; from < len(rows); {
		to := from + 1
		if key := rows[from].groupKey(); l.Grouped && !verbose && key != "" {
			for to < len(rows) && rows[to].groupKey() == key {
				to++
			}
		}
		if to-from < fewestAlike {
			to = from + 1
		}
		groups = append(groups, rows[from:to])
		from = to
	}
	return groups
}

// fewestAlike is the number of consecutive alike resources from which they are one line.
const fewestAlike = 5

// groupKey returns a text that alike resources share, "" for one that has its own line.
func (x row) groupKey() string {
	e := x.event
	if x.gone || x.before != "" && x.diff != "" || x.mark != "+" && x.mark != "-" || !strings.HasPrefix(e.Resource.ID.Name, "/") || !allWell(e.Health) || e.KeepsData || e.Uncertain {
		return ""
	}
	return strings.Join([]string{x.mark, e.Resource.ID.Type, Message(e), x.before}, "\x00")
}

// line returns what a plan has about the resources of a group. Alike ones have no differences.
func (g group) line() (name, story, diff string) {
	first := g[0]
	if len(g) == 1 {
		return first.event.Resource.ID.String(), first.story, first.diff
	}
	dir := path.Dir(first.event.Resource.ID.Name)
	for _, x := range g {
		for dir != "/" && !strings.HasPrefix(x.event.Resource.ID.Name, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return fmt.Sprintf("%d of type %s below %s", len(g), first.event.Resource.ID.Type, dir), Message(first.event), ""
}

// mostCounts is the largest number of lines with counts.
const mostCounts = 10

// A count is the number of resources of one type with one action.
type count struct {
	row    row // the first of them
	number int
}

// resources returns what is counted.
func (c count) resources() string { return fmt.Sprint(c.number, " ", c.row.event.Resource.ID.Type) }

// counts returns the numbers of resources by type and action, the riskiest first, and how many others there are.
func counts(groups []group) (list []count, others string) {
	type kind struct{ mark, of, action string }
	index := make(map[kind]int)
	for _, g := range groups {
		for _, x := range g {
			k := kind{x.mark, x.event.Resource.ID.Type, x.action()}
			i, ok := index[k]
			if !ok {
				i = len(list)
				index[k] = i
				list = append(list, count{row: x})
			}
			list[i].number++
		}
	}
	if len(list) <= mostCounts {
		return list, ""
	}
	rest := 0
	for _, c := range list[mostCounts-1:] {
		rest += c.number
	}
	return list[:mostCounts-1], fmt.Sprintf("%s of %s", words.Count(rest, "other resource", "other resources"), words.Count(len(list)-mostCounts+1, "kind"))
}

// action returns what is done about a resource, in few words.
func (x row) action() string {
	e := x.event
	switch {
	case x.gone:
		return x.story
	case e.Outcome != event.Pending && e.Outcome != event.Changed:
		return e.Outcome.String()
	}
	_, actions := e.Planned()
	verbs := make([]string, len(actions))
	for i, a := range actions {
		verbs[i] = verb(a.Verb)
	}
	return strings.Join(verbs, " and ")
}
