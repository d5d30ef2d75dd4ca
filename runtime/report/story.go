package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// unbreakable returns the names and values in the story of an event that must not be broken between
// two lines.
func unbreakable(e *event.Event) (list []string) {
	for _, refs := range [][]resource.ID{e.RefreshedBy, e.Unmet} {
		for _, id := range refs {
			list = append(list, id.String())
		}
	}
	for _, p := range e.PendingRefreshes {
		list = append(list, p.By.String())
	}
	for _, b := range e.Because {
		list = append(list, b.ID.String())
	}
	diff := e.Diff
	if e.Forecast != nil {
		diff = append(slices.Clone(diff), e.Forecast.Diff...)
	}
	for _, d := range diff {
		list = append(list, d.Want)
	}
	return append(list, e.Resource.Pos.String())
}

// symbol returns the symbol of an event with its color.
func symbol(e *event.Event) (string, terminal.Style) {
	switch e.Outcome {
	case event.Failed:
		return "x", terminal.Red
	case event.Skipped:
		return ".", terminal.Faint
	case event.Unknown:
		return "?", terminal.Yellow
	case event.Stable:
		return "=", terminal.Faint
	}
	diff, _ := e.Planned()
	if isNew(diff) {
		return "+", terminal.Green
	}
	for _, d := range diff {
		if d.Property == "ensure" && resource.IsAbsent(d.Want) {
			return "-", terminal.Red
		}
	}
	if e.Refreshed || e.Uncertain && e.Forecast.Refresh {
		return "!", terminal.Cyan
	}
	return "~", terminal.Yellow
}

// story describes the outcome of a resource on one line.
func (t Text) story(e *event.Event) terminal.Text {
	switch e.Outcome {
	case event.Stable:
		return terminal.LineText(words.Outcome("stable"))
	case event.Skipped:
		return terminal.IndentedText("skipped, because "+e.Reason, indent)
	case event.Unknown:
		return terminal.IndentedText(t.unknownStory(e), indent)
	case event.Failed:
		var places []string
		if e.Resource.Pos.File != "" { // resources of an undo have no place
			places = append(places, e.Resource.Pos.String())
		}
		if !e.Fails() {
			places = append(places, "ignored")
		}
		place := inBrackets(strings.Join(places, ", "))
		text := e.Err.Error()
		failed := "failed: "
		// That error says itself that it failed. Of an earlier run there is only the text.
		if rest, ok := strings.CutPrefix(text, resource.ErrDesiredStateFailed.Error()); ok {
			failed, text = resource.ErrDesiredStateFailed.Error(), rest
		}
		return terminal.Sprintf("%s%s%s", t.paint(terminal.Red, failed), terminal.IndentedText(text, indent), place)
	}
	if e.Uncertain {
		return terminal.IndentedText(t.unknownStory(e), indent)
	}
	var made string
	if t.tellsDifferences() {
		made = newParts(e.Diff, e.Text)
	}
	if t.Drift {
		drifted := "drifted"
		if isNew(e.Diff) {
			drifted += ": does not exist"
		}
		return terminal.Sprintf("%s%s%s", drifted, inBrackets(made), inBrackets(e.Reason))
	}
	s := terminal.Sprintf("%s%s", Message(e), inBrackets(made))
	if e.Refreshed {
		s = terminal.Sprintf("%s, because %s", s, t.refreshCauses(e))
	}
	if e.Cause == event.Intended || e.Cause == event.Corrective || e.Cause == event.New && t.Verbose && !t.OneOff {
		s = terminal.Sprintf("%s (%s)", s, e.Cause)
	}
	return terminal.Sprintf("%s%s", s, inBrackets(e.Reason))
}

// driftMessage describes on one line how a resource differs from the applied catalog.
func driftMessage(e *event.Event, diff DiffMode) string {
	const drifted = "Drifted"
	if diff == DiffOff || len(e.Diff) == 0 {
		return drifted
	}
	if made := newParts(e.Diff, e.Text); made != "" {
		return drifted + ": does not exist (" + made + ")"
	}
	parts := make([]string, len(e.Diff))
	for i, d := range e.Diff {
		if d.Property == "content" && e.Text != nil {
			parts[i] = "content " + contentChange(d, *e.Text)
		} else {
			parts[i] = fmt.Sprintf("%s %s → %s", d.Property, or(d.Have, "(none)"), or(d.Want, "(none)"))
		}
	}
	return drifted + ": " + strings.Join(parts, ", ")
}

func inBrackets(s string) terminal.Text {
	if s == "" {
		return terminal.Text{}
	}
	return terminal.Sprintf(" (%s)", terminal.IndentedText(s, indent))
}

// indent begins every line of a text except the first.
const indent = "    "

// maxCauses is the number of causes of a refresh that are listed without Verbose.
const maxCauses = 3

// causeLimit returns how many of n causes are listed. If there is only one more, it is listed
// too.
func (t Text) causeLimit(n int) int {
	if t.Verbose || n <= maxCauses+1 {
		return n
	}
	return maxCauses
}

// refreshCauses lists the changes that cause a refresh; of many, the first ones and the number of
// the others.
func (t Text) refreshCauses(e *event.Event) string {
	var names []string
	for _, id := range e.RefreshedBy[:t.causeLimit(len(e.RefreshedBy))] {
		names = append(names, id.String())
	}
	if more := len(e.RefreshedBy) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	word := "changed"
	if e.Noop {
		word = "would change"
	}
	var parts []string
	if len(names) > 0 {
		parts = append(parts, strings.Join(names, " and ")+" "+word)
	}
	limit := t.causeLimit(len(e.PendingRefreshes))
	for _, d := range e.PendingRefreshes[:limit] {
		parts = append(parts, "a refresh is pending from run "+d.Run+": "+d.By.String()+" changed")
	}
	if more := len(e.PendingRefreshes) - limit; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more pending", more))
	}
	return strings.Join(parts, ", and ")
}

// Message returns the phrases of the actions of an event.
func Message(e *event.Event) string {
	if len(e.Actions) == 1 && !e.Noop {
		return e.Actions[0].Done()
	}
	_, actions := e.Planned()
	phrases := make([]string, len(actions))
	for i, a := range actions {
		phrases[i] = a.Done()
		if e.Noop {
			phrases[i] = a.Would()
		}
	}
	return strings.Join(phrases, ". ")
}
