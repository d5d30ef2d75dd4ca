package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The protocols of report lines that the agent and the node of a fleet read. They equal those of
// package report, which fleet does not import, because the lines may come from another version of
// ccm.
const (
	EventProtocol   = "io.choria.ccm.v1.transaction.event"
	SummaryProtocol = "io.choria.ccm.v1.session.summary"
)

// A line has the fields of a report line that the agent uses.
type line struct {
	Protocol    string        `json:"protocol"`
	Type        string        `json:"type"`
	Name        string        `json:"name"`
	Provider    string        `json:"provider"`
	Duration    time.Duration `json:"duration"`
	Outcome     string        `json:"outcome"`
	Changed     bool          `json:"changed"`
	Refreshed   bool          `json:"refreshed"`
	Failed      bool          `json:"failed"`
	Skipped     bool          `json:"skipped"`
	Noop        bool          `json:"noop"`
	NoopMessage string        `json:"noop_message"`
	Message     string        `json:"message"`
	Errors      []string      `json:"errors"`
	// HealthChecks is a list of checks in an event, and their counts in a summary.
	HealthChecks json.RawMessage `json:"health_checks"`
}

// A healthCheck has the fields of a health check's result that the agent uses.
type healthCheck struct {
	Name     string        `json:"name"`
	Status   string        `json:"status"`
	Output   string        `json:"output"`
	Duration time.Duration `json:"duration"`
}

// checks returns the results of health checks in an event.
func (l *line) checks() (list []healthCheck) {
	if len(l.HealthChecks) > 0 {
		_ = json.Unmarshal(l.HealthChecks, &list)
	}
	return list
}

// A summary has the fields of the last line that the agent uses.
type summary struct {
	RunID       string         `json:"run_id"`
	Total       int            `json:"total_resources"`
	Stable      int            `json:"stable_resources"`
	Changed     int            `json:"changed_resources"`
	Pending     int            `json:"pending_resources"`
	Unknown     int            `json:"unknown_resources"`
	Skipped     int            `json:"skipped_resources"`
	Failed      int            `json:"failed_resources"`
	Health      map[string]int `json:"health_checks"`
	Interrupted bool           `json:"interrupted"`
	// Services has the results of registering services.
	Services struct {
		Unpublished int `json:"unpublished"`
		Problems    []struct {
			Resource string `json:"resource"`
			Service  string `json:"service"`
			Error    string `json:"error"`
		} `json:"problems"`
	} `json:"registrations"`
}

// counts returns the number of resources for each outcome, without zeros.
func (s *summary) counts() map[string]int {
	m := map[string]int{"total": s.Total}
	for name, n := range map[string]int{"stable": s.Stable, "changed": s.Changed, "pending": s.Pending, "unknown": s.Unknown, "skipped": s.Skipped, "failed": s.Failed} {
		if n > 0 {
			m[name] = n
		}
	}
	return m
}

// story returns the log text for an event, in the words of the other commands; "" for none. lasting says that the
// next run will report the same, unless somebody acts.
func (l *line) story() (text string, lasting bool) {
	id := l.Type + "#" + l.Name
	switch {
	case l.Failed:
		return fmt.Sprintf("x %s: failed: %s", id, l.reason()), true
	case l.Outcome == "changed" && l.Refreshed && l.Message == "":
		return fmt.Sprintf("! %s: refreshed", id), false
	case l.Outcome == "changed":
		sign := "~"
		if l.Refreshed {
			sign = "!"
		}
		return fmt.Sprintf("%s %s: %s", sign, id, l.Message), false
	case l.Outcome == "pending":
		return fmt.Sprintf("~ %s: %s", id, l.NoopMessage), true
	case l.Outcome == "skipped" && !l.Noop:
		return "", false
	}
	var checks []string
	for _, h := range l.checks() {
		if h.Status != "ok" {
			checks = append(checks, strings.TrimSpace(fmt.Sprintf("health check %s: %s %s", h.Name, h.Status, h.Output)))
		}
	}
	if len(checks) > 0 {
		return fmt.Sprintf("= %s: %s", id, strings.Join(checks, "; ")), true
	}
	return "", false
}

// reason returns the reason of a failure.
func (l *line) reason() string { return strings.Join(l.Errors, "; ") }
