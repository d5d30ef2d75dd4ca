package agent

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// unregistered is the services of each source that are not registered, by their resource.
type unregistered map[string]map[string]unregisteredService

// An unregisteredService is what is told of the services of a resource, and by which run it was looked at.
type unregisteredService struct {
	lines []string
	run   time.Time
}

// unsaid is in the place of a resource where nobody has said how services are registered.
const unsaid = ""

// event takes what became of a resource: of one that is in order, the run says at its end what it could not
// register. Nobody has tried it of another one.
func (u unregistered) event(r *Run, l *line) {
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

// end takes what a run says at its end, and returns what is told of the source then.
func (u unregistered) end(r *Run, result *Result, s *summary) (list []string) {
	of := u[r.Source]
	if of == nil {
		of = make(map[string]unregisteredService)
		u[r.Source] = of
	}
	if r.isWhole(result) { // there are no others
		maps.DeleteFunc(of, func(_ string, x unregisteredService) bool { return !x.run.Equal(r.Began) })
	}
	if n := s.Services.Unpublished; n > 0 {
		services := "1 service is"
		if n > 1 {
			services = fmt.Sprintf("%d services are", n)
		}
		of[unsaid] = unregisteredService{[]string{services + " not registered: registration in the configuration says how (jetstream, nats or none)"}, r.Began}
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

// warnOfServices tells which services of a source are not registered, and why, each reason once.
func (a *Agent) warnOfServices(source string, list []string) {
	about := "services of " + source
	if len(list) == 0 && len(a.memory[about]) > 0 {
		a.log.Info(source + ": its services are registered again")
	}
	for _, text := range a.memory.news(about, list) {
		a.log.Warn(source + ": " + text)
	}
}
