package event

import (
	"time"

	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Summary counts the events of a run.
type Summary struct {
	Counts    [len(Outcomes)]int
	Refreshed int // how many were changed, or would be, by a refresh
	// Ignored is how many failures do not fail the run (ignore_failure).
	Ignored int
	// RefreshedLater is how many of these are pending.
	RefreshedLater int
	Health         [len(health.States)]int
	Start          time.Time
	Duration       time.Duration
	Noop           bool
	// Interrupted says that the run was stopped before its end.
	Interrupted bool
	// DroppedRefreshes lists the refreshes of earlier runs for resources that are not declared any
	// more.
	DroppedRefreshes []PendingRefresh
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
	s.Registrations.Published += more.Registrations.Published
	s.Registrations.Unpublished += more.Registrations.Unpublished
	s.Registrations.Problems = append(s.Registrations.Problems, more.Registrations.Problems...)
}
