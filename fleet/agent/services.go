package agent

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// unregisteredServices has the unregistered services of each source, by resource.
type unregisteredServices map[string]map[string]unregisteredService

// An unregisteredService has the log lines about services of a resource, and the run that last
// looked at it.
type unregisteredService struct {
	lines []string
	run   time.Time
}

// unsaid stands for a resource if it is not configured how services are registered.
const unsaid = ""

// record records the event of a resource. If the resource is in order, the run tells at its end
// what it could not register. For any other resource the run has not tried.
func (u unregisteredServices) record(r *Run, l *line) {
	id := l.Type + "#" + l.Name
	of, known := u[r.Source][id]
	switch {
	case !known || r.Mode == Plan || r.Mode == Check && len(l.HealthChecks) == 0:
	case l.Outcome == "stable" || l.Outcome == "changed":
		delete(u[r.Source], id)
	default:
		u[r.Source][id] = unregisteredService{of.lines, r.Began}
	}
}

// end records the end of a run, and returns the log lines about the source.
func (u unregisteredServices) end(r *Run, result *Result, s *summary) (list []string) {
	of := u[r.Source]
	if of == nil {
		of = make(map[string]unregisteredService)
		u[r.Source] = of
	}
	if r.isWhole(result) { // all other resources are gone
		maps.DeleteFunc(of, func(_ string, x unregisteredService) bool { return !x.run.Equal(r.Began) })
	}
	if n := s.Services.Unpublished; n > 0 {
		services := "1 service is"
		if n > 1 {
			services = fmt.Sprintf("%d services are", n)
		}
		of[unsaid] = unregisteredService{[]string{services + " not registered (set registration to jetstream, nats or none)"}, r.Began}
	}
	for _, p := range s.Services.Problems {
		x := of[p.Resource]
		of[p.Resource] = unregisteredService{append(x.lines, fmt.Sprintf("%s of %s is not registered: %s", p.Service, p.Resource, cut(p.Error, 500))), r.Began}
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		list = append(list, of[id].lines...)
	}
	if n := len(list); n > mostFailures {
		list = append(list[:mostFailures], fmt.Sprintf("and %d more", n-mostFailures))
	}
	return list
}

// warnOfServices logs which services of a source are not registered, and why, each reason once.
func (a *Agent) warnOfServices(source string, list []string) {
	about := "services of " + source
	if len(list) == 0 && len(a.memory[about]) > 0 {
		a.log.Info(source + ": services registered again")
	}
	for _, text := range a.memory.unreported(about, list) {
		a.log.Warn(source + ": " + text)
	}
}
