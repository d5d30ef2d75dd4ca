package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/words"
)

// take reads the fields of a report line that the agent needs.
func (a *Agent) take(r *Run, result *Result, text []byte) {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return
	}
	switch l.Protocol {
	case EventProtocol:
		a.metrics.countEvent(&l)
		a.services.record(r, &l)
		if l.Failed && len(result.Failures) < mostFailures {
			result.Failures = append(result.Failures, Failure{Resource: l.Type + "#" + l.Name, Message: cut(l.reason(), 500)})
		}
		if l.Failed {
			for _, h := range l.checks() {
				result.failedByCheck = result.failedByCheck || h.Status != "ok"
			}
		}
		story, lasting := l.story()
		switch again, over := a.failures.again(r, &l, story, lasting); {
		case again:
			a.log.Debug(r.Source + ": " + story)
		case story != "":
			l.teller(a.log)(r.Source + ": " + story)
		case over:
			a.log.Info(fmt.Sprintf("%s: = %s#%s: recovered", r.Source, l.Type, l.Name))
		}
	case SummaryProtocol:
		var s summary
		if json.Unmarshal(text, &s) != nil {
			return
		}
		result.RunID, result.Counts, result.Health, result.Interrupted = s.RunID, s.counts(), s.Health, s.Interrupted
		result.Summary = slices.Clone(text)
		if r.Mode != Plan {
			result.unregistered = a.services.end(r, result, &s)
		}
	}
}

// measure counts a run in the metrics.
func (a *Agent) measure(r *Result) {
	if r.Mode == Check {
		a.metrics.addDuration(metricHealth, r.Duration, r.Source)
		return
	}
	a.metrics.addDuration(metricApply, r.Duration, r.Source)
	a.metrics.addDuration(metricManifest, r.Duration, r.Source)
}

// tell logs the outcome of a run on one line. It does not repeat a failure like the previous one,
// or unchanged results of health checks.
func (a *Agent) tell(r *Result) {
	text := fmt.Sprintf("%s: %s: %s (%s), because %s", r.Source, r.Mode, r.Outcome(), r.Duration.Round(time.Millisecond), r.Reason)
	bad, about := !r.OK() && !r.Interrupted, string(r.Mode)+" of "+r.Source
	before, known := a.outcomes[about]
	now := normalized(r.Outcome())
	if !r.Interrupted {
		a.outcomes[about] = now
	}
	switch {
	case known && now == before && (bad || r.Mode == Check), !known && r.Mode == Check && r.OK() && r.allOK():
		a.log.Debug(text)
	case bad:
		a.log.Error(text)
	default:
		a.log.Info(text)
	}
}

// allOK reports whether all health checks were ok.
func (r *Result) allOK() bool {
	for name, n := range r.Health {
		if name != "ok" && n > 0 {
			return false
		}
	}
	return true
}

// Outcome returns the outcome of a run in words.
func (r *Result) Outcome() string {
	if r.Error != "" {
		return "failed: " + words.FirstLine(r.Error)
	}
	var parts []string
	for _, outcome := range []string{"changed", "pending", "unknown", "skipped", "failed", "stable"} {
		if n := r.Counts[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words.Outcome(outcome)))
		}
	}
	text := words.Count(r.Counts["total"], "resource")
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
