// Package event has the results of the resources of a run: one event for each resource, and a
// summary.
package event

import (
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// An Event is the record of one resource in one run.
type Event struct {
	Resource *resource.Resource
	// Index is the index of the resource in its run.
	Index int
	// Deps are the dependencies of the resource, by indexes in Catalog.
	Deps     []catalog.Dep
	Catalog  *catalog.Catalog
	Provider string // "" if none was chosen
	Outcome  Outcome
	Noop     bool // not acted on: in a plan, or because the resource's scope is only planned
	// Diff lists the differences before any action.
	Diff []resource.Delta
	// Actions are the actions that were done, or would be.
	Actions []resource.Action
	// Command is the result of the command of a resource (VerifiesItself of resource.Traits); nil if none
	// was run.
	Command *host.Result
	// Text is the content before and after; nil if unknown or not wanted.
	Text *resource.TextChange
	// Refreshed is set if a refresh is among the actions; RefreshedBy are the changes that caused it.
	Refreshed   bool
	RefreshedBy []resource.ID
	// PendingRefreshes lists the refreshes of earlier runs that the actions make up for.
	PendingRefreshes []PendingRefresh
	// Cause is why the resource was changed, or would be.
	Cause Cause
	// DesiredDigest is the digest of the desired state that the state has, if the resource was
	// changed or depends on data.
	DesiredDigest resource.DesiredDigest
	// Reason is the reason of an unknown or skipped resource, or the other possible outcome of a
	// pending one.
	Reason string
	// Because lists the resources that make this one unknown, the surest first and at most 100.
	Because []Predecessor
	// BecauseMore is the maximum number of further earlier resources that may affect the outcome. It is
	// 0 unless Because is full.
	BecauseMore int
	// BecauseSurely is set if the first resource of Because is a cause because it is required, or
	// because of its paths or names, and not only because it comes earlier.
	BecauseSurely bool
	// Forecast is the likely outcome of an unknown or uncertain resource, nil if there is none.
	Forecast *Forecast
	// Uncertain is set for a pending resource that will be changed, unless a resource of Because brings
	// exactly what this one wants. What will be done is in Forecast.
	Uncertain    bool
	namedCount   int // the number of resources in Because that are named to people
	unnamedCount int // the number of equally sure resources that are not named
	// KeepsData is set if a removal keeps what no run has created, so that it is not complete.
	KeepsData bool
	// Declined is set if a person has declined the resource, which is therefore skipped.
	Declined bool
	// Unmet lists the requirements that failed or were themselves skipped.
	Unmet []resource.ID
	// Err is why a resource failed.
	Err error
	// Ensure is the final state in the words of the ensure property; "" if that is not known.
	Ensure   string
	Health   []health.Result
	Start    time.Time
	Duration time.Duration
}

// Fails reports whether the event fails the run: a failure may be ignored.
func (e *Event) Fails() bool { return e.Outcome == Failed && !e.Resource.Common.IgnoreFailure }

// Clone returns a copy of the event, for a [Reporter] that keeps it.
func (e *Event) Clone() *Event {
	c := *e
	return &c
}

// A Predecessor is an earlier resource with its predicted outcome.
type Predecessor struct {
	ID      resource.ID
	Outcome Outcome
}

// MostNamed is the maximum number of resources in Because that are named to people.
const MostNamed = 3

// Blame makes the resource unknown because of earlier ones, the surest first. Alike is the number
// of those as sure as the first, more is BecauseMore, surely is BecauseSurely.
func (e *Event) Blame(list []Predecessor, alike, more int, surely bool) {
	e.Outcome, e.Cause = Unknown, NoCause
	e.Because, e.BecauseMore, e.BecauseSurely = list, more, surely
	e.namedCount = min(alike, MostNamed)
	e.unnamedCount = alike - e.namedCount
	if alike == len(list) {
		e.unnamedCount += more
	}
	word := "is"
	if alike > 1 {
		word = "are"
	}
	causes, state := joined(list[:e.namedCount], e.unnamedCount), word+" "+list[0].Outcome.String()
	e.Reason = causes + " " + state
	if !surely {
		e.Reason = fmt.Sprintf("depends on %s, which %s", causes, state)
	}
}

// Planned returns the differences and the actions, or those of the forecast of an uncertain resource.
func (e *Event) Planned() ([]resource.Delta, []resource.Action) {
	if e.Uncertain && e.Forecast != nil {
		return e.Forecast.Diff, e.Forecast.Actions
	}
	return e.Diff, e.Actions
}

// Named returns the resources of Because that are named to people.
func (e *Event) Named() []Predecessor { return e.Because[:max(e.namedCount, min(1, len(e.Because)))] }

// Others returns the number of resources that make as much difference as those in Named, but are
// not named to people.
func (e *Event) Others() int { return e.unnamedCount }

// OthersText counts resources that are not named.
func OthersText(n int) string {
	if n == 1 {
		return "1 other"
	}
	return fmt.Sprintf("%d others", n)
}

// joined names resources, and counts others.
func joined(list []Predecessor, others int) string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.ID.String()
	}
	if others > 0 {
		names = append(names, OthersText(others))
	}
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return names[0]
}

// JoinRemarks joins two remarks, such as parts of a reason. Each may be empty.
func JoinRemarks(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}
