package converge

import (
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// An Outcome is what became of a resource.
type Outcome uint8

// The outcomes.
const (
	Stable  Outcome = iota // as wanted already
	Changed                // is now as wanted
	Pending                // would be changed
	Unknown                // cannot be known before something pending was done
	Skipped                // not looked at
	Failed
)

// Outcomes lists all outcomes in the order in which summaries name them.
var Outcomes = [...]Outcome{Stable, Changed, Pending, Unknown, Skipped, Failed}

// String returns the word for o.
func (o Outcome) String() string {
	return [...]string{"stable", "changed", "pending", "unknown", "skipped", "failed"}[o]
}

// An Event is the record of one resource in one run.
type Event struct {
	Resource *resource.Resource
	// Index is that of the resource in its run.
	Index int
	// Deps is what the resource comes after, by their indexes in Catalog.
	Deps     []catalog.Dep
	Catalog  *catalog.Catalog
	Provider string // "" if none was chosen
	Outcome  Outcome
	Noop     bool // nothing is done about it: in a plan, or because its scope is only planned
	// Diff lists what differed before anything was done.
	Diff []resource.Delta
	// Actions is what was done, or would be.
	Actions []resource.Action
	// Ran is the result of the command of a resource (resource.SelfVerifier); nil if none
	// was run.
	Ran *host.Result
	// Text is the content before and after; nil if it is not known, or without [Engine.Texts].
	Text *resource.TextChange
	// Refreshed says that a refresh is among the actions, RefreshedBy which changes it is
	// for.
	Refreshed   bool
	RefreshedBy []resource.ID
	// PendingRefreshes lists the refreshes of earlier runs that the actions make up for.
	PendingRefreshes []PendingRefresh
	// Cause says why the resource was changed, or would be.
	Cause Cause
	// DesiredDigest is the digest of the desired state that the state has, if the resource was
	// changed or is DataDependent.
	DesiredDigest resource.DesiredDigest
	// Reason says why a resource is unknown or skipped, or what else may become
	// of one that is pending.
	Reason string
	// Because lists what a resource is unknown because of, the surest first and
	// at most 100.
	Because []Predecessor
	// BecauseMore is how many earlier ones besides may make a difference, at most. It is 0
	// unless Because is full.
	BecauseMore int
	// BecauseSurely says that the first of these is to blame because it is required,
	// or because of its paths or names, and not only because it comes earlier.
	BecauseSurely bool
	// Forecast is what would become of a resource that is unknown, nil if nobody can
	// tell.
	Forecast *Forecast
	named    int // how many of Because are named to people
	others   int // how many are as sure as these, and are not
	// Declined says that a resource was skipped because [Engine.Approve] has declined it.
	Declined bool
	// Unmet lists the requirements that failed or were themselves skipped.
	Unmet []resource.ID
	// Err says why a resource failed.
	Err error
	// Ensure is the final state in the words of the ensure property; "" if that is not known.
	Ensure string
	Health []Health
	Start  time.Time
	Took   time.Duration
}

// Fails reports whether the event fails the run: a failure may be ignored.
func (e *Event) Fails() bool { return e.Outcome == Failed && !e.Resource.Common.IgnoreFailure }

// Clone returns a copy of the event, for a [Reporter] that keeps it.
func (e *Event) Clone() *Event {
	c := *e
	return &c
}

// A Predecessor is a resource that comes earlier, and what would become of it.
type Predecessor struct {
	ID      resource.ID
	Outcome Outcome
}

// Named returns those of Because that are named to people.
func (e *Event) Named() []Predecessor { return e.Because[:max(e.named, min(1, len(e.Because)))] }

// Others returns how many resources are not named to people and make a difference as much as
// those that are (Named).
func (e *Event) Others() int { return e.others }

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

// A Summary counts the events of a run.
type Summary struct {
	Counts    [len(Outcomes)]int
	Refreshed int // how many were changed, or would be, by a refresh
	// Ignored is how many failures do not fail the run (ignore_failure).
	Ignored int
	// RefreshedLater is how many of these are pending.
	RefreshedLater int
	Health         [len(HealthStates)]int
	Start          time.Time
	Took           time.Duration
	Noop           bool
	// Interrupted says that the run was stopped before its end.
	Interrupted bool
	// Dropped lists the refreshes of earlier runs for resources that are not declared any
	// more.
	Dropped []PendingRefresh
	// Undeclared is how many resources that earlier runs have made are declared no more.
	Undeclared int
	// Registrations is what became of the services that resources register.
	Registrations Registrations
}

// Registrations are what became of services that resources register
// (resource.Common.RegisterWhenStable).
type Registrations struct {
	// Published is how many were.
	Published int
	// Unpublished is how many were not, because nobody has said how.
	Unpublished int
	// Problems are those that could not be.
	Problems []RegistrationProblem
}

// A RegistrationProblem is why a service of a resource is not registered.
type RegistrationProblem struct {
	Resource resource.ID
	Service  string // as people name it
	Err      error
}

// Of returns how many resources had the outcome.
func (s Summary) Of(o Outcome) int { return s.Counts[o] }

// Failed reports whether a resource has failed whose failure is not ignored.
func (s Summary) Failed() bool { return s.Counts[Failed] > s.Ignored }

// Total returns the number of resources.
func (s Summary) Total() int {
	n := 0
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// Add counts one event.
func (s *Summary) Add(e *Event) {
	s.Counts[e.Outcome]++
	if e.Outcome == Failed && !e.Fails() {
		s.Ignored++
	}
	if e.Refreshed && (e.Outcome == Changed || e.Outcome == Pending) {
		s.Refreshed++
		if e.Outcome == Pending {
			s.RefreshedLater++
		}
	}
	for _, h := range e.Health {
		s.Health[h.State]++
	}
}

// A Reporter gets the events of a run, in order and from one goroutine.
type Reporter interface {
	// Begin is called before a resource is acted on, with its place in the run.
	Begin(r *resource.Resource, index, total int)
	// Event is called for every resource. The event is filled in anew for a later resource: what
	// is kept of it is a copy ([Event.Clone]).
	Event(e *Event)
}

// Reporters passes everything on to several reporters.
type Reporters []Reporter

// Begin implements Reporter.
func (rs Reporters) Begin(r *resource.Resource, index, total int) {
	for _, x := range rs {
		x.Begin(r, index, total)
	}
}

// Event implements Reporter.
func (rs Reporters) Event(e *Event) {
	for _, x := range rs {
		x.Event(e)
	}
}
