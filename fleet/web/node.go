package web

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/event"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/runtime/words"
)

// maxRuns is the most runs of a node on its page, and maxEvents the most resources of each.
const (
	maxRuns   = 10
	maxEvents = 300
)

// A runHistory has the events and the summary of a run, as the node sent them.
type runHistory struct {
	id      string
	events  []*report.Event
	summary *report.Summary
}

// node is the page of one node: its data, its runs with their differences, its facts.
func (s *Server) node(ctx context.Context, name string) (*markup.Element, error) {
	n, err := overview.One(ctx, s.desk, name)
	if err != nil {
		return nil, err
	}
	now := s.desk.Now()
	body := markup.New("div").Add(markup.New("h1").Say(n.Name))
	about := markup.New("dl")
	say := func(what, value string) {
		if value != "" {
			about.Add(markup.New("dt").Say(what), markup.New("dd").Say(value))
		}
	}
	say("Environment", n.Environment)
	about.Add(markup.New("dt").Say("Status"), markup.New("dd").Add(outcome(status(n, now), n.Status(now))))
	say("Seen", seen(n, now))
	say("Fingerprint", enrol.Fingerprint(n.Identity.Key, n.Identity.Recipient))
	for _, tag := range n.Identity.Tags {
		say("Tag", tag)
	}
	if st := n.State; st != nil {
		say("ccm", st.Version)
		if st.Release > 0 {
			say("Release", fmt.Sprint(st.Release))
		}
		if !st.StartTime.IsZero() {
			say("Last run", fmt.Sprintf("%s, %s", date(st.StartTime), since(st.StartTime, now)))
		}
		say("Bundle", st.Bundle)
		if u := st.Unmanaged; u != nil {
			say("Not described by any source", fmt.Sprintf("%d, %s", u.Count, since(u.Listed, now)))
			for _, item := range u.Items {
				say("", item)
			}
		}
		for _, p := range st.Problems {
			about.Add(markup.New("dt", "class", "wrong").Say("Problem"), markup.New("dd").Say(string(p.Code)+": "+p.Message))
		}
	}
	body.Add(about)
	for _, f := range n.Failed() {
		body.Add(markup.New("p").Add(link(f.Resource, "failure", f.Resource, words.FirstLine(f.Message))), markup.New("pre", "class", "failure").Say(f.Message))
	}
	runs, err := s.runs(ctx, name)
	if err != nil {
		return nil, err
	}
	body.Add(markup.New("h2").Say("Runs"))
	if len(runs) == 0 {
		body.Add(markup.New("p").Say("No runs reported in the last seven days."))
	}
	for _, r := range runs {
		body.Add(r.element())
	}
	if n.Facts != nil {
		text, err := json.MarshalIndent(n.Facts.Facts, "", "  ")
		if err != nil {
			return nil, err
		}
		body.Add(markup.New("details", "id", "facts").Add(markup.New("summary").Say("Facts"), markup.New("pre").Say(string(text))))
	}
	return body, nil
}

// runs reads the runs of a node, newest first. A node sends the events of a run, then its summary.
func (s *Server) runs(ctx context.Context, name string) ([]*runHistory, error) {
	var list []*runHistory
	going := &runHistory{}
	err := event.Read(ctx, s.desk.Cluster.Conn, event.Filter{Nodes: []string{name}, Since: s.desk.Now().Add(-7 * 24 * time.Hour)}, func(l *event.Line) error {
		switch l.Fields["protocol"] {
		case report.EventProtocol:
			var e report.Event
			if json.Unmarshal(l.Text, &e) == nil && len(going.events) < maxEvents {
				going.events = append(going.events, &e)
			}
		case report.SummaryProtocol:
			var sum report.Summary
			if json.Unmarshal(l.Text, &sum) == nil {
				going.id, going.summary = sum.RunID, &sum
				list, going = append(list, going), &runHistory{}
			}
		}
		return nil
	})
	if len(going.events) > 0 {
		going.id = "a run whose end was not reported"
		list = append(list, going)
	}
	slices.Reverse(list)
	return list[:min(len(list), maxRuns)], err
}

// title returns the time of a run, its id, and that it was cut short.
func (r *runHistory) title() string {
	title := r.id
	if began, ok := record.RunTime(r.id); ok {
		title = began.Local().Format(time.DateTime) + "  " + r.id
	}
	if r.summary != nil && r.summary.Interrupted {
		title += ", interrupted"
	}
	return title
}

// element returns a run in the form of reports.
func (r *runHistory) element() *markup.Element {
	s := markup.New("section").Add(markup.New("h3").Say(r.title()))
	if r.summary != nil {
		counts := part.Counts(r.summary, false)
		s.Add(part.Bar(counts), part.Legend(counts))
	}
	events := markup.New("div", "class", "events")
	for i, e := range r.events {
		events.Add(part.Row(e, part.RowOptions{ID: fmt.Sprintf("%s-%d", r.id, i)}))
	}
	return s.Add(events)
}
