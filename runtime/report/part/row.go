package part

import (
	"strings"

	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
)

// A RowOptions describes how to show an event.
type RowOptions struct {
	ID    string // the ID of the element; "" for none
	Drift bool   // the machine was compared with the result of a past run
}

// Row returns the event of a resource as a line that opens. The line has the outcome, type, name,
// actions and duration. Inside are differences, errors and outputs. Failed resources are open.
func Row(e *report.Event, how RowOptions) *markup.Element {
	attrs := []string{"class", "event " + e.Outcome}
	if how.ID != "" {
		attrs = append(attrs, "id", how.ID)
	}
	if e.Failed {
		attrs = append(attrs, "open", "")
	}
	story := e.Story(how.Drift)
	return markup.New("details", attrs...).Add(
		markup.New("summary", "class", "head").Add(
			markup.New("span", "class", "o").Say(e.OutcomeWord(how.Drift)), Badge(e.Type),
			markup.New("span", "class", "name").Say(e.Name), markup.New("span", "class", "story").Say(story),
			markup.New("time").Say(Took(e.Duration))),
		inside(e, story))
}

// inside returns the content of an open row.
func inside(e *report.Event, story string) *markup.Element {
	in := markup.New("div", "class", "in").Add(meta(e))
	say := func(text string) {
		if text != "" {
			in.Add(markup.New("p").Say(text))
		}
	}
	list := func(what string, names []string) {
		if len(names) > 0 {
			say(what + " " + strings.Join(names, ", "))
		}
	}
	if !e.Failed {
		say(story)
	}
	for _, text := range e.Errors {
		in.Add(markup.New("pre", "class", "err").Say(text))
	}
	if e.Outcome == "unknown" {
		say(e.Reason)
	}
	say(e.Caveat)
	if e.Forecast != nil {
		say(e.Forecast.Caveat)
	}
	list("Needs", e.UnmetRequirements)
	for _, left := range e.PendingRefresh {
		say("Refresh that run " + left.RunID + " left pending, by " + left.By)
	}
	in.Add(differences(e)...)
	for _, out := range [][2]string{{"Standard output", e.Stdout}, {"Standard error", e.Stderr}} {
		if out[1] != "" {
			in.Add(markup.New("p", "class", "quiet").Say(out[0]), markup.New("pre").Say(out[1]))
		}
	}
	for _, c := range e.HealthChecks {
		in.Add(markup.New("p").Say(c.Name + ": ").Add(markup.New("b").Say(c.Status)).Say(" " + c.Output))
	}
	return in
}

// meta returns the place of the declaration, the time, and the provider of a resource.
func meta(e *report.Event) *markup.Element {
	p := markup.New("p", "class", "meta")
	add := func(text string) { p.Add(markup.New("span").Say(text)) }
	if e.Position != "" {
		add(e.Position)
	}
	if !e.Timestamp.IsZero() {
		add(e.Timestamp.Local().Format("15:04:05.000"))
	}
	if e.Provider != "" {
		add("by " + e.Provider)
	}
	if len(e.Tags) > 0 {
		add("tags " + strings.Join(e.Tags, ", "))
	}
	if len(e.RefreshedBy) > 0 {
		add("refreshed by " + strings.Join(e.RefreshedBy, ", "))
	}
	return p
}
