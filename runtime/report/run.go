package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/words"
)

// A Run has all that is known of a run after its end, for reports that are written then.
type Run struct {
	Command string // the command, as people write it
	Version string // of ccm; "" if unknown
	Summary Summary
	Events  []Event // in the order of the catalog
	// Error is the reason why the run did not begin, or a failure of something else than a
	// resource; "" for none.
	Error string
	// Drift is set if the machine was compared with the result of a past run.
	Drift bool
	// Recorded is set if the events come from a record, which has no stable resources.
	Recorded bool
}

// CountAgain counts the outcomes of events, for a killed run, which has no summary.
func (s *Summary) CountAgain(events []Event) {
	s.Total, s.Stable, s.Changed, s.Pending, s.Unknown, s.Skipped, s.Failed = 0, 0, 0, 0, 0, 0, 0
	for i := range events {
		s.Count(events[i].Outcome)
	}
}

// Count adds a resource with an outcome.
func (s *Summary) Count(outcome string) {
	s.Total++
	n := map[string]*int{"stable": &s.Stable, "changed": &s.Changed, "pending": &s.Pending, "unknown": &s.Unknown, "skipped": &s.Skipped, "failed": &s.Failed}[outcome]
	if n != nil {
		*n++
	}
}

// Fails reports whether an event makes the command that reports it fail.
func (r *Run) Fails(e *Event) bool {
	return e.Failed && !e.Ignored || r.Drift && e.Outcome == event.Pending.String()
}

// A Collector keeps the events until a run has ended.
type Collector struct {
	Run  Run
	Diff DiffMode
	// Origin is the origin of the run.
	Origin Origin
	// HasSecrets reports whether there is anything to mask.
	HasSecrets func() bool
	// Mask masks the secrets in a JSON document.
	Mask func(document []byte) []byte
	// Most is how many events of resources that did not fail are kept, of stable ones and of others; 0 keeps all. It
	// saves 150 MiB of 100,000 resources.
	Most int

	events        []Event // with secrets, until End
	texts         texts   // size of the kept diffs and outputs
	stable, other int     // number of events
}

var _ event.Reporter = (*Collector)(nil)

const (
	diffLimit     = 64 << 10 // bytes of a diff
	allTextsLimit = 6 << 20  // bytes of all diffs and outputs
)

// Event implements event.Reporter.
func (c *Collector) Event(e *event.Event) {
	if e.Outcome != event.Failed {
		n := &c.other
		if e.Outcome == event.Stable {
			n = &c.stable
		}
		if *n++; c.Most > 0 && *n > c.Most {
			return
		}
	}
	out := c.Origin.Event(e, c.Diff)
	c.texts.limit(&out)
	c.events = append(c.events, out)
}

// LimitTexts cuts and drops texts of events like a Collector.
func LimitTexts(events []Event) {
	var t texts
	for i := range events {
		t.limit(&events[i])
	}
}

// texts is the number of bytes of the diffs and outputs that are kept.
type texts int

// limit cuts a long text. Once there are many texts, it drops them, except those of failures.
func (t *texts) limit(e *Event) {
	e.Text = limited(e.Text)
	size := len(e.Text) + len(e.Stdout) + len(e.Stderr)
	if e.Forecast != nil {
		e.Forecast.Text = limited(e.Forecast.Text)
		size += len(e.Forecast.Text)
	}
	if size == 0 || e.Failed {
		return
	}
	if *t += texts(size); *t <= allTextsLimit {
		return
	}
	*t -= texts(size)
	e.Text, e.Stdout, e.Stderr = "[omitted: this report is long]\n", "", ""
	if e.Forecast != nil {
		e.Forecast.Text = ""
	}
}

// limited cuts a text at the end of a line.
func limited(text string) string {
	if len(text) <= diffLimit {
		return text
	}
	head := text[:diffLimit]
	head = head[:strings.LastIndexByte(head, '\n')+1]
	return fmt.Sprintf("%s[%d more lines]\n", head, strings.Count(text[len(head):], "\n"))
}

// End returns the events without secrets. A secret that became known late is masked in earlier
// events as well. Events after End belong to another run.
func (c *Collector) End(s event.Summary) (*Run, error) {
	run := c.Run
	run.Summary = c.Origin.Summary(s)
	run.Events = c.events
	for i := 0; i < len(run.Events) && c.HasSecrets(); i++ {
		e := &run.Events[i]
		text := c.Mask(e.AppendJSON(nil))
		*e = Event{}
		if err := jsonreader.Unmarshal(text, e); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	slices.SortStableFunc(run.Events, func(a, b Event) int { return strings.Compare(a.EventID, b.EventID) })
	c.events, c.texts, c.stable, c.other = nil, 0, 0, 0
	return &run, nil
}

// OutcomeWord returns the word for an outcome in reports for people. Drift means that the machine
// was compared with the result of a past run.
func (e *Event) OutcomeWord(drift bool) string {
	if drift && e.Outcome == event.Pending.String() {
		return "drifted"
	}
	return words.Outcome(e.Outcome)
}

// Story returns on one line what became of a resource, or would.
func (e *Event) Story(drift bool) string {
	switch {
	case e.Failed && len(e.Errors) > 0:
		line, _, _ := strings.Cut(e.Errors[0], "\n")
		return line
	case e.Message != "":
		return e.Message
	case e.NoopMessage != "":
		return e.NoopMessage
	case e.Forecast != nil && e.Forecast.Message != "":
		return e.Forecast.Message
	case e.Reason != "":
		return e.Reason
	case len(e.UnmetRequirements) > 0:
		return "needs " + strings.Join(e.UnmetRequirements, ", ")
	}
	return e.OutcomeWord(drift)
}
