package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/jsonwriter"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Forecast is the expected outcome of a resource that is unknown, in the JSON of an event.
type Forecast struct {
	// Outcome is stable, pending or failed.
	Outcome string `json:"outcome"`
	// Once is set if the forecast holds only after pending resources have brought what
	// is missing.
	Once bool `json:"once"`
	// Refresh is set if that depends on a change of something that the resource
	// subscribes to.
	Refresh bool `json:"refresh,omitempty"`
	// Message lists the actions.
	Message string `json:"message,omitempty"`
	// Caveat is why the actions may fail or turn out otherwise.
	Caveat string `json:"caveat,omitempty"`
	// Diff lists the properties that would differ.
	Diff []resource.Delta `json:"diff,omitempty"`
	// Text is the unified diff of a content.
	Text string `json:"text,omitempty"`
	// Errors are the reasons why it would fail.
	Errors []string `json:"errors,omitempty"`
}

// forecastOf returns the forecast of an event without the text of a diff, nil if it has
// none.
func forecastOf(e *event.Event) *Forecast {
	f := e.Forecast
	if f == nil {
		return nil
	}
	out := &Forecast{Outcome: f.Outcome.String(), Once: f.Once, Refresh: f.Refresh, Message: forecastText(f, ""), Caveat: f.Caveat, Diff: f.Diff}
	if f.Err != nil {
		out.Errors = []string{f.Err.Error()}
	}
	return out
}

// becauseOf returns the IDs of the resources because of which an event is unknown.
func becauseOf(e *event.Event) []string {
	var out []string
	for _, b := range e.Because {
		out = append(out, b.ID.String())
	}
	return out
}

// unknownStory returns the reason why a resource is unknown, with its forecast and a caveat, on one line.
func (t Text) unknownStory(e *event.Event) string {
	if e.Forecast == nil {
		return "unknown, because " + e.Reason
	}
	return t.forecastStory(e) + inBrackets(e.Forecast.Caveat).String()
}

// forecastStory returns the forecast of a resource, with the reason why it is unknown.
func (t Text) forecastStory(e *event.Event) string {
	f := e.Forecast
	var made string
	if t.tellsDifferences() {
		made = newParts(f.Diff, f.Text)
	}
	would := forecastText(f, made)
	if len(e.Because) == 0 { // no other resource is the reason
		if f.Outcome == event.Pending && !slices.ContainsFunc(f.Actions, func(a resource.Action) bool { return a.Intent == "" }) {
			return would
		}
		return would + ", unknown whether it changes anything: " + e.Reason
	}
	var names []string
	for _, b := range e.Named() {
		word := b.Outcome.String()
		if t.Drift && b.Outcome == event.Pending {
			word = "drifted"
		}
		names = append(names, terminal.Sprintf("%s (%s)", b.ID, word).String())
	}
	if n := e.Others(); n > 0 {
		names = append(names, event.OthersText(n))
	}
	causes, many := names[0], len(names) > 1
	if many {
		causes = strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	if f.Outcome == event.Pending && f.Once && e.BecauseSurely && resource.TraitsOf(e.Resource.Spec).IsUncertain {
		would += " if its guards allow"
	}
	switch {
	case e.Uncertain && f.Once && !e.BecauseSurely:
		return "needs something that " + causes + " may create: " + would
	case e.Uncertain && !f.Refresh:
		return "after " + causes + ": " + would
	case e.BecauseSurely && f.Refresh && many:
		return "if one of " + causes + " changes: " + would
	case e.BecauseSurely && f.Refresh:
		return "if " + causes + " changes: " + would
	case e.BecauseSurely && (f.Once || f.Outcome == event.Failed || f.Outcome == event.Pending && f.MayExist):
		return "after " + causes + ": " + would
	case f.Once:
		return "depends on " + causes + ": " + would + " once its requirements exist"
	}
	return "unknown before " + causes + "; now: " + would
}

// forecastText lists the actions of a forecast. Made is the text of newParts, "" for none.
func forecastText(f *event.Forecast, made string) string {
	switch f.Outcome {
	case event.Stable:
		return "nothing to do"
	case event.Failed:
		return "would fail: " + terminal.Indented(f.Err.Error(), indent)
	}
	verbs, mayUpdate := make([]string, len(f.Actions)), false
	for i, a := range f.Actions {
		verbs[i] = cmp.Or(a.Intent, verb(a.Verb))
		if strings.EqualFold(a.Verb, "Create") && f.MayExist {
			verbs[i], mayUpdate = "create or update", true
		}
	}
	s := "would " + strings.Join(verbs, " and ")
	if made != "" {
		s += " (" + made + ")"
	} else if f.Text != nil {
		if added, removed, isText := lineCounts(*f.Text); isText && added+removed > 0 {
			s += ", content " + changedLines(added, removed)
		}
	}
	if f.MayExist && !mayUpdate {
		s += " if it does not exist then"
	}
	return s
}

func changedLines(added, removed int) string {
	var parts []string
	last := 0
	for _, n := range []int{added, -removed} {
		if n != 0 {
			parts, last = append(parts, fmt.Sprintf("%+d", n)), max(n, -n)
		}
	}
	word := "lines"
	if len(parts) == 1 && last == 1 {
		word = "line"
	}
	return strings.Join(parts, " ") + " " + word
}

// verb returns the verb of a provider in words: CreateDirectory becomes create directory.
func verb(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.NewReplacer("create directory", "create the directory", "store", "update", "_", " ").Replace(b.String())
}

// appendForecast writes a forecast, unless it is nil.
func appendForecast(o *jsonwriter.Object, f *Forecast) {
	if f == nil {
		return
	}
	o.Object("forecast", func(o *jsonwriter.Object) {
		o.Text("outcome", f.Outcome)
		o.Bool("once", f.Once)
		o.OptionalBool("refresh", f.Refresh)
		o.OptionalText("message", f.Message)
		o.OptionalText("caveat", f.Caveat)
		appendDiff(o, f.Diff)
		o.OptionalText("text", f.Text)
		o.Texts("errors", f.Errors)
	})
}

// appendDiff writes the list of differences.
func appendDiff(o *jsonwriter.Object, diff []resource.Delta) {
	jsonwriter.List(o, "diff", diff, func(o *jsonwriter.Object, d resource.Delta) {
		o.Text("property", d.Property)
		o.Text("have", d.Have)
		o.Text("want", d.Want)
	})
}
