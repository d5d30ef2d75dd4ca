package event

import (
	"time"

	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Summary counts the events of a run.
type Summary struct {
	Counts    [len(Outcomes)]int
	Refreshed int // the number of resources that a refresh changed, or would change
	// Ignored is the number of failures that do not fail the run (ignore_failure).
	Ignored int
	// RefreshedLater is the number of pending refreshes in Refreshed.
	RefreshedLater int
	Health         [len(health.States)]int
	Start          time.Time
	Duration       time.Duration
	Noop           bool
	// Interrupted is set if the run was stopped before its end.
	Interrupted bool
	// DroppedRefreshes lists the refreshes of earlier runs for resources that are not declared any
	// more.
	DroppedRefreshes []PendingRefresh
	// Undeclared is the number of resources of earlier runs that are no longer declared.
	Undeclared int
	// NameUndeclared is set if a report for people names them. It does so once a day.
	NameUndeclared bool
	// Registrations has the results of registering services.
	Registrations Registrations
}

// Registrations are the results of registering the services of resources
// (resource.Common.RegisterWhenStable).
type Registrations struct {
	// Published is the number of published services.
	Published int
	// Unpublished is the number of services that were not published because no register is configured.
	Unpublished int
	// Problems are the services that could not be published.
	Problems []RegistrationProblem
}

// A RegistrationProblem is why a service of a resource is not registered.
type RegistrationProblem struct {
	Resource resource.ID
	Service  string // the name for people
	Err      error
}

// Of returns the number of resources with the outcome.
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

// Merge adds the summary of another walk of the same run.
func (s *Summary) Merge(more Summary) {
	for i, n := range more.Counts {
		s.Counts[i] += n
	}
	for i, n := range more.Health {
		s.Health[i] += n
	}
	s.Refreshed += more.Refreshed
	s.RefreshedLater += more.RefreshedLater
	s.Ignored += more.Ignored
	s.Duration += more.Duration
	s.Interrupted = s.Interrupted || more.Interrupted
	s.DroppedRefreshes = append(s.DroppedRefreshes, more.DroppedRefreshes...)
	s.Undeclared += more.Undeclared
	s.NameUndeclared = s.NameUndeclared || more.NameUndeclared
	s.Registrations.Published += more.Registrations.Published
	s.Registrations.Unpublished += more.Registrations.Unpublished
	s.Registrations.Problems = append(s.Registrations.Problems, more.Registrations.Problems...)
}
