package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// Summary writes the last line of a report.
func (t Text) Summary(s event.Summary) {
	for _, d := range s.DroppedRefreshes {
		word := "Dropped"
		if s.Noop {
			word = "Would have dropped"
		}
		terminal.Fprintf(t.W, "%s the pending refresh of %s from run %s (%s changed): it is no longer declared\n", word, d.To, d.Run, d.By)
	}
	defer t.registrations(s.Registrations)
	if t.Quiet && s.Of(event.Failed) == 0 && !s.Interrupted {
		return
	}
	terminal.Fprintf(t.W, "%s%s\n", t.summary(s), healthSummary(s))
	if s.Undeclared > 0 && s.NameUndeclared && !t.Quiet {
		are, them := "are", "them"
		if s.Undeclared == 1 {
			are, them = "is", "it"
		}
		terminal.Fprintf(t.W, "%s from earlier runs %s no longer declared (remove %s with: ccm prune %s)\n", words.Count(s.Undeclared, "resource"), are, them, t.Site)
	}
}

// registrations reports the registrations of services.
func (t Text) registrations(r event.Registrations) {
	for i, p := range r.Problems {
		if i == maxProblems && len(r.Problems) > maxProblems+1 {
			terminal.Fprintf(t.W, "and %s more\n", words.Count(len(r.Problems)-i, "service is not registered", "services are not registered"))
			break
		}
		terminal.Fprintf(t.W, "%s %s of %s is not registered: %s\n", t.paint(terminal.Yellow, "warning:"), p.Service, p.Resource, terminal.LineText(p.Err.Error()))
	}
	if t.Quiet {
		return
	}
	if r.Unpublished > 0 {
		terminal.Fprintf(t.W, "%s not registered: choose --register jetstream, nats or none\n", words.Count(r.Unpublished, "service is", "services are"))
	}
	if r.Published > 0 && t.Verbose {
		terminal.Fprintf(t.W, "%s registered\n", words.Count(r.Published, "service is", "services are"))
	}
}

// maxProblems is the number of unregistered services that are named.
const maxProblems = 10

// healthSummary counts the health checks by status, except ok.
func healthSummary(s event.Summary) string {
	var parts []string
	for _, state := range health.States[1:] {
		if n := s.Health[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", health checks: " + strings.Join(parts, ", ")
}

func (t Text) summary(s event.Summary) terminal.Text {
	took := s.Duration.Round(time.Millisecond)
	if s.Duration < 10*time.Millisecond {
		took = s.Duration.Round(10 * time.Microsecond)
	}
	n := s.Total()
	if s.Of(event.Stable) == n {
		if t.Drift {
			return terminal.Sprintf("No drift: %s compared (%s)", words.Count(n, "resource"), took)
		}
		return terminal.Sprintf("Nothing to do: %s up to date (%s)", words.Count(n, "resource"), took)
	}
	var parts []terminal.Text
	for _, o := range event.Outcomes {
		if c := s.Of(o); c > 0 {
			part := terminal.Sprintf("%d %s", c, words.Outcome(o.String()))
			if t.Drift && o == event.Pending {
				part = terminal.Sprintf("%d drifted", c)
			}
			switch o {
			case event.Failed:
				if part = terminal.Red.On(t.Color).Paint(part); s.Ignored > 0 {
					part = terminal.Sprintf("%s (%d ignored)", part, s.Ignored)
				}
			case event.Changed, event.Pending:
				part = terminal.Yellow.On(t.Color).Paint(part)
				refreshed := s.RefreshedLater
				if o == event.Changed {
					refreshed = s.Refreshed - s.RefreshedLater
				}
				if refreshed > 0 {
					part = terminal.Sprintf("%s (%d by refresh)", part, refreshed)
				}
			}
			parts = append(parts, part)
		}
	}
	text := terminal.Sprintf("%s: %s (%s)", words.Count(n, "resource"), terminal.Join(parts, ", "), took)
	if s.Noop && !t.Drift {
		text = terminal.Sprintf("%s, nothing was changed", text)
	}
	if s.Interrupted {
		text = terminal.Sprintf("%s, %s", text, t.paint(terminal.Red, "interrupted"))
	}
	return text
}
