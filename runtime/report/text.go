// Package report prints the events of a run or plan, as text for people and as JSON for
// programs.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A DiffMode selects how much of the differences is reported.
type DiffMode string

// The diff modes.
const (
	DiffOff     DiffMode = "off"     // nothing
	DiffSummary DiffMode = "summary" // properties, and numbers of lines
	DiffChanges DiffMode = "changes" // unified diffs of what stands there already besides
	DiffFull    DiffMode = "full"    // unified diffs of all
)

// Values lists the diff modes.
func (DiffMode) Values() []string { return []string{"off", "summary", "changes", "full"} }

// Text reports to people, one line for each resource that is not stable.
type Text struct {
	W       io.Writer
	Color   bool
	Verbose bool // stable resources too
	Quiet   bool // failures only
	// OneOff says that the resources were named on the command line. That they are new
	// is not reported then.
	OneOff bool
	// Drift says that the machine is compared with its last applied state: pending
	// resources have drifted, and no run follows.
	Drift bool
	Diff  DiffMode
	// DiffLines is how many lines of each unified diff are told; 0 for all.
	DiffLines int
	// Site is how the command line names the script or manifest, for advice.
	Site string
}

var _ converge.Reporter = Text{}

// Begin implements converge.Reporter.
func (Text) Begin(*resource.Resource, int, int) {}

func (t Text) paint(style terminal.Style, s string) terminal.Text {
	return style.On(t.Color).Paint(terminal.LineText(s))
}

// tells reports whether an event is told.
func (t Text) tells(e *converge.Event) bool {
	return e.Outcome == converge.Failed || !t.Quiet && (t.Verbose || e.Outcome != converge.Stable || !allWell(e.Health))
}

// Event implements converge.Reporter.
func (t Text) Event(e *converge.Event) {
	if !t.tells(e) {
		return
	}
	mark, style := symbol(e)
	b := bufferPool.Get().(*terminal.Buffer)
	defer bufferPool.Put(b)
	b.Reset()
	id := e.Resource.ID
	b.Printf("%s\n", terminal.Prose(t.W, terminal.Sprintf("%s %s#%s: ", t.paint(style, mark), id.Type, id.Name), t.story(e), whole(e)...))
	if t.tellsDifferences() {
		if made := newParts(e.Diff, e.Text); e.Outcome == converge.Failed && made != "" {
			b.Printf("    %s\n", made)
		}
		t.differences(b, e.Diff, e.Text)
		if f := e.Forecast; e.Outcome == converge.Unknown && f != nil && f.Outcome == converge.Pending {
			t.differences(b, f.Diff, f.Text)
		}
	}
	if e.Outcome == converge.Failed {
		for _, n := range e.Resource.Calls {
			b.Printf("    %s: %s\n", n.Pos, n.Text)
		}
	}
	for _, h := range e.Health {
		if t.Verbose || h.State != converge.HealthOK {
			b.Printf("    health check %s: %s", h.Name, h.State)
			if h.Output != "" {
				b.Printf(" %s", terminal.IndentedText(h.Output, indent))
			}
			b.Print(terminal.LinesText("\n"))
		}
	}
	_, _ = terminal.Fprint(t.W, b.Text())
}

// tellsDifferences reports whether it is told what differs.
func (t Text) tellsDifferences() bool { return t.Diff != DiffOff && !t.Quiet }

// bufferPool holds buffers for the text of one event.
var bufferPool = sync.Pool{New: func() any { return new(terminal.Buffer) }}

func allWell(checks []converge.Health) bool {
	for _, h := range checks {
		if h.State != converge.HealthOK {
			return false
		}
	}
	return true
}

// whole returns what is not broken in the story of an event: names and values.
func whole(e *converge.Event) (list []string) {
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

// symbol returns the character and the colour of an event.
func symbol(e *converge.Event) (string, terminal.Style) {
	switch e.Outcome {
	case converge.Failed:
		return "x", terminal.Red
	case converge.Skipped:
		return ".", terminal.Faint
	case converge.Unknown:
		return "?", terminal.Yellow
	case converge.Stable:
		return "=", terminal.Faint
	}
	if isNew(e.Diff) {
		return "+", terminal.Green
	}
	for _, d := range e.Diff {
		if d.Property == "ensure" && resource.IsAbsent(d.Want) {
			return "-", terminal.Red
		}
	}
	if e.Refreshed {
		return "!", terminal.Cyan
	}
	return "~", terminal.Yellow
}

// story describes the outcome of a resource in one line.
func (t Text) story(e *converge.Event) terminal.Text {
	switch e.Outcome {
	case converge.Stable:
		return terminal.LineText("stable")
	case converge.Skipped:
		return terminal.IndentedText("skipped, because "+e.Reason, indent)
	case converge.Unknown:
		return terminal.IndentedText(t.unknownStory(e), indent)
	case converge.Failed:
		const failed = "failed"
		place := e.Resource.Pos.String()
		if !e.Fails() {
			place += ", ignored"
		}
		text := e.Err.Error()
		if rest, ok := strings.CutPrefix(text, failed+" "); ok { // to reach the desired state
			return terminal.Sprintf("%s %s (%s)", t.paint(terminal.Red, failed), terminal.IndentedText(rest, indent), place)
		}
		return terminal.Sprintf("%s: %s (%s)", t.paint(terminal.Red, failed), terminal.IndentedText(text, indent), place)
	}
	var made string
	if t.tellsDifferences() {
		made = newParts(e.Diff, e.Text)
	}
	if t.Drift {
		return terminal.Sprintf("drifted%s%s", inBrackets(made), inBrackets(e.Reason))
	}
	s := terminal.Sprintf("%s%s", Message(e), inBrackets(made))
	if e.Refreshed {
		s = terminal.Sprintf("%s, because %s", s, t.refreshCauses(e))
	}
	if e.Cause == converge.Intended || e.Cause == converge.Corrective || e.Cause == converge.New && t.Verbose && !t.OneOff {
		s = terminal.Sprintf("%s (%s)", s, e.Cause)
	}
	return terminal.Sprintf("%s%s", s, inBrackets(e.Reason))
}

// driftMessage says in one line how something differs from what was applied.
func driftMessage(e *converge.Event, diff DiffMode) string {
	const drifted = "Drifted"
	if diff == DiffOff || len(e.Diff) == 0 {
		return drifted
	}
	if made := newParts(e.Diff, e.Text); made != "" {
		return drifted + ": it is not there (" + made + ")"
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

// indent is what every line of a text but the first begins with.
const indent = "    "

// maxCauses is how many causes of a refresh are listed without Verbose.
const maxCauses = 3

// causeLimit returns how many of n causes are listed. If only one would be left out it is
// listed too.
func (t Text) causeLimit(n int) int {
	if t.Verbose || n <= maxCauses+1 {
		return n
	}
	return maxCauses
}

// refreshCauses lists the changes that cause a refresh; of many the first ones and the
// number of the others.
func (t Text) refreshCauses(e *converge.Event) string {
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
	told := t.causeLimit(len(e.PendingRefreshes))
	for _, d := range e.PendingRefreshes[:told] {
		parts = append(parts, "refresh left over from run "+d.Run+": "+d.By.String()+" changed")
	}
	if more := len(e.PendingRefreshes) - told; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more left over", more))
	}
	return strings.Join(parts, ", and ")
}

// Message returns the phrases of the actions of an event.
func Message(e *converge.Event) string {
	if len(e.Actions) == 1 && !e.Noop {
		return e.Actions[0].Done()
	}
	phrases := make([]string, len(e.Actions))
	for i, a := range e.Actions {
		phrases[i] = a.Done()
		if e.Noop {
			phrases[i] = a.Would()
		}
	}
	return strings.Join(phrases, ". ")
}

// isNew reports whether something is made that was not there, given what differs.
func isNew(diff []resource.Delta) bool {
	return slices.ContainsFunc(diff, func(d resource.Delta) bool { return d.Property == "ensure" && d.Have == "absent" })
}

// newParts lists on one line what something new consists of, "" if it is not new: "12
// lines, root:root 0644".
func newParts(diff []resource.Delta, text *resource.TextChange) string {
	if !isNew(diff) {
		return ""
	}
	owner, group, mode := given(diff, "owner"), given(diff, "group"), given(diff, "mode")
	together := owner != "" && group != ""
	var parts []string
	if names := missingParts(diff); len(names) > 0 {
		parts = append(parts, firstParts(names))
	}
	for _, d := range diff {
		switch {
		case d.Property == "content" && text != nil:
			parts = append(parts, contentSize(d, *text))
		case d.Property == "content" && resource.IsSizeText(d.Want): // too large for a diff
			parts = append(parts, d.Want)
		case d.Have != "" || d.Want == "":
		case together && d.Property == "owner":
			parts = append(parts, strings.TrimSpace(owner+":"+group+" "+mode))
		case together && (d.Property == "group" || d.Property == "mode"):
		default:
			parts = append(parts, d.Property+" "+d.Want)
		}
	}
	return strings.Join(parts, ", ")
}

// given returns what a property that was not there is to be, "" if it does not differ.
func given(diff []resource.Delta, property string) string {
	for _, d := range diff {
		if d.Property == property && d.Have == "" {
			return d.Want
		}
	}
	return ""
}

// differences writes the properties that differ, and the diff of the text.
func (t Text) differences(b *terminal.Buffer, differing []resource.Delta, text *resource.TextChange) {
	diff, isText := "", false
	if text != nil && (t.Diff == DiffFull || t.Diff == DiffChanges && text.HaveExists) {
		diff, isText = Unified(*text)
	}
	fresh := isNew(differing)
	var given []string
	names, told := missingParts(differing), false
	if len(names) < 2 && !fresh || t.Verbose {
		names = nil
	}
	for _, d := range differing {
		_, isMissing := resource.CutMissingPart(d.Have)
		switch {
		case isMissing && names != nil:
			if !fresh && !told { // see newParts
				b.Printf("    %s  %d missing: %s → %s\n", d.Property, len(names), firstParts(names), d.Want)
			}
			told = true
		case fresh && (d.Have == "" || d.Property == "content"): // see newParts
		case d.Have == "" && d.Want != "" && (d.Property != "content" || d.Want == resource.KnownAfterRun):
			given = append(given, d.Property+" "+d.Want)
		case d.Property == "ensure" && (d.Have == "absent" || resource.IsAbsent(d.Want)):
		case d.Property == "content" && isText:
		case d.Property == "content" && text != nil:
			b.Printf("    content  %s\n", contentChange(d, *text))
		default:
			b.Printf("    %s  %s → %s\n", d.Property, or(d.Have, "(none)"), or(d.Want, "(none)"))
		}
	}
	if len(given) > 0 {
		b.Printf("    %s\n", strings.Join(given, ", "))
	}
	if isText {
		t.unified(b, diff)
	}
}

// contentChange describes the change of a content in one line.
func contentChange(d resource.Delta, x resource.TextChange) string {
	if added, removed, isText := lineCounts(x); isText {
		return fmt.Sprintf("+%d -%d lines", added, removed)
	}
	have := "(none)"
	if x.HaveExists {
		have = sizeAndSum(x.Have, d.Have)
	}
	want := "(none)"
	if x.WantExists {
		want = sizeAndSum(x.Want, d.Want)
	}
	return have + " → " + want
}

// contentSize says how much a new content is.
func contentSize(d resource.Delta, x resource.TextChange) string {
	if isText(x.Want) {
		return count(lines(x.Want), "line", "lines")
	}
	return sizeAndSum(x.Want, d.Want)
}

// sizeAndSum describes a content that is no text, given how it stands in a difference.
func sizeAndSum(content, side string) string {
	if resource.IsSizeText(side) {
		return side
	}
	return fmt.Sprintf("%d bytes %s", len(content), side)
}

func (t Text) unified(b *terminal.Buffer, diff string) {
	if n := lines(diff); t.DiffLines > 0 && n > t.DiffLines {
		all := strings.SplitAfterN(diff, "\n", t.DiffLines+1)
		diff = strings.TrimSuffix(diff, all[t.DiffLines])
		defer b.Printf("    %s (--diff-lines %d)\n", count(n-t.DiffLines, "more line", "more lines"), n)
	}
	if !t.Color {
		b.Print(terminal.LinesText(diff))
		return
	}
	for line := range strings.Lines(diff) {
		var style terminal.Style
		switch line[0] {
		case '+':
			style = terminal.Green
		case '-':
			style = terminal.Red
		case '@':
			style = terminal.Cyan
		}
		b.Printf("%s\n", style.Paint(terminal.LinesText(strings.TrimSuffix(line, "\n"))))
	}
}

func or(s, empty string) string {
	if s == "" {
		return empty
	}
	return s
}

// Summary writes the last line of a report.
func (t Text) Summary(s converge.Summary) {
	for _, d := range s.Dropped {
		word := "Dropped"
		if s.Noop {
			word = "Would have dropped"
		}
		terminal.Fprintf(t.W, "%s refresh of %s left over from run %s (%s changed): it is not declared any more\n", word, d.To, d.Run, d.By)
	}
	if t.Quiet && s.Of(converge.Failed) == 0 && !s.Interrupted {
		return
	}
	terminal.Fprintf(t.W, "%s%s\n", t.summary(s), healthSummary(s))
	if s.Undeclared > 0 && !t.Quiet {
		terminal.Fprintf(t.W, "%s of earlier runs %s declared no more (ccm prune %s)\n", count(s.Undeclared, "resource", "resources"), map[bool]string{true: "is", false: "are"}[s.Undeclared == 1], t.Site)
	}
}

// healthSummary counts the health checks that were not ok.
func healthSummary(s converge.Summary) string {
	var parts []string
	for _, state := range converge.HealthStates[1:] {
		if n := s.Health[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", health checks: " + strings.Join(parts, ", ")
}

func (t Text) summary(s converge.Summary) terminal.Text {
	took := s.Took.Round(time.Millisecond)
	if s.Took < 10*time.Millisecond {
		took = s.Took.Round(10 * time.Microsecond)
	}
	n := s.Total()
	if s.Of(converge.Stable) == n {
		if t.Drift {
			return terminal.Sprintf("No drift: %s as applied (%s)", count(n, "resource is", "resources are"), took)
		}
		return terminal.Sprintf("Nothing to do: %s as wanted (%s)", count(n, "resource is", "resources are"), took)
	}
	var parts []terminal.Text
	for _, o := range converge.Outcomes {
		if c := s.Of(o); c > 0 {
			part := terminal.Sprintf("%d %s", c, o)
			if t.Drift && o == converge.Pending {
				part = terminal.Sprintf("%d drifted", c)
			}
			switch o {
			case converge.Failed:
				if part = terminal.Red.On(t.Color).Paint(part); s.Ignored > 0 {
					part = terminal.Sprintf("%s (%d ignored)", part, s.Ignored)
				}
			case converge.Changed, converge.Pending:
				part = terminal.Yellow.On(t.Color).Paint(part)
				refreshed := s.RefreshedLater
				if o == converge.Changed {
					refreshed = s.Refreshed - s.RefreshedLater
				}
				if refreshed > 0 {
					part = terminal.Sprintf("%s (%d by refresh)", part, refreshed)
				}
			}
			parts = append(parts, part)
		}
	}
	text := terminal.Sprintf("%s: %s (%s)", count(n, "resource", "resources"), terminal.Join(parts, ", "), took)
	if s.Noop && !t.Drift {
		text = terminal.Sprintf("%s, nothing was touched", text)
	}
	if s.Interrupted {
		text = terminal.Sprintf("%s, %s", text, t.paint(terminal.Red, "interrupted"))
	}
	return text
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
