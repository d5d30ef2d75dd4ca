package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// take takes what it needs of a line of a report.
func (a *Agent) take(r *Run, result *Result, text []byte) {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return
	}
	switch l.Protocol {
	case EventProtocol:
		a.metrics.event(&l)
		if l.Failed && len(result.Failures) < mostFailures {
			result.Failures = append(result.Failures, Failure{Resource: l.Type + "#" + l.Name, Message: cut(l.reason(), 500)})
		}
		story, bad := l.story()
		switch again := a.failures.again(r, l.Type+"#"+l.Name, story, bad); {
		case again:
			a.log.Debug(r.Source + ": " + story)
		case bad:
			a.log.Error(r.Source + ": " + story)
		case story != "":
			a.log.Info(r.Source + ": " + story)
		}
	case SummaryProtocol:
		var s summary
		if json.Unmarshal(text, &s) != nil {
			return
		}
		result.RunID, result.Counts, result.Health, result.Interrupted = s.RunID, s.counts(), s.Health, s.Interrupted
		result.Summary = slices.Clone(text)
	}
}

// failures are the resources of each source that failed when they were last looked at, with what was
// told of them: what goes on to fail is told once.
type failures map[string]map[string]failure

// A failure is what was told, and by the run that began when.
type failure struct {
	story string
	run   time.Time
}

// maxReported is of how many resources of a source that is kept. Others are told each time.
const maxReported = 1000

// again takes what is told of a resource, and reports whether it fails as it did before.
func (f failures) again(r *Run, resource, story string, bad bool) bool {
	of := f[r.Source]
	before, known := of[resource]
	switch {
	case !bad:
		delete(of, resource)
		return false
	case of == nil:
		of = make(map[string]failure)
		f[r.Source] = of
	}
	if known || len(of) < maxReported {
		of[resource] = failure{story, r.Began}
	}
	return known && before.story == story
}

// retain forgets the resources that a run of all of a source did not tell of: there are no more.
func (f failures) retain(r *Run) {
	maps.DeleteFunc(f[r.Source], func(_ string, x failure) bool { return !x.run.Equal(r.Began) })
}

// measure counts a run.
func (a *Agent) measure(r *Result) {
	if r.Mode == Check {
		a.metrics.took(metricHealth, r.Duration, r.Source)
		return
	}
	a.metrics.took(metricApply, r.Duration, r.Source)
	a.metrics.took(metricManifest, r.Duration, r.Source)
}

// tell tells what became of a run, in one line. Health checks are asked often: they are told when
// they come out otherwise than before.
func (a *Agent) tell(r, before *Result) {
	text := fmt.Sprintf("%s: %s: %s (%s), because %s", r.Source, r.Mode, r.Outcome(), r.Duration.Round(time.Millisecond), r.Reason)
	switch {
	case r.Mode == Check && (before == nil && r.OK() && r.allOK() || before != nil && before.Outcome() == r.Outcome()):
		a.log.Debug(text)
	case !r.OK() && !r.Interrupted:
		a.log.Error(text)
	default:
		a.log.Info(text)
	}
}

// allOK reports whether no health check came to another status than ok.
func (r *Result) allOK() bool {
	for name, n := range r.Health {
		if name != "ok" && n > 0 {
			return false
		}
	}
	return true
}

// Outcome returns what became of a run, in words.
func (r *Result) Outcome() string {
	if r.Error != "" {
		return "failed: " + firstLine(r.Error)
	}
	var parts []string
	for _, name := range []string{"stable", "changed", "pending", "unknown", "skipped", "failed"} {
		if n := r.Counts[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, name))
		}
	}
	text := counted(r.Counts["total"], "resource")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	var health []string
	for _, name := range names(r.Health) {
		health = append(health, fmt.Sprintf("%d %s", r.Health[name], name))
	}
	if len(health) > 0 {
		text += ", health checks: " + strings.Join(health, ", ")
	}
	if r.Interrupted {
		text += ", interrupted"
	}
	return text
}

// cut shortens a text.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
