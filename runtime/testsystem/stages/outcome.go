package stages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// An Event is the result of a resource, in the JSON report of ccm. A mistake in a site has a Subject instead of a type
// and name.
type Event struct {
	Protocol    string   `json:"protocol"`
	Type        string   `json:"type"`
	Name        string   `json:"name"`
	Position    string   `json:"position"`
	Outcome     string   `json:"outcome"`
	Certain     *bool    `json:"certain"`
	Ignored     bool     `json:"ignored"`
	Message     string   `json:"message"`
	NoopMessage string   `json:"noop_message"`
	Errors      []string `json:"errors"`
	Diff        []struct {
		Property string `json:"property"`
		Have     string `json:"have"`
		Want     string `json:"want"`
	} `json:"diff"`
	HealthChecks []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
		Output string `json:"output"`
	} `json:"health_checks"`

	File    string `json:"file"`
	Line    int    `json:"line"`
	Subject string `json:"subject"`
	Hint    string `json:"hint"`
}

// The protocols of lines in the report.
const (
	eventProtocol   = "io.choria.ccm.v1.transaction.event"
	mistakeProtocol = "io.choria.ccm.v1.mistake"
)

func (e Event) id() string { return e.Type + "#" + e.Name }

// had returns the former value of a property that differed.
func (e Event) had(property string) (value string, ok bool) {
	for _, d := range e.Diff {
		if d.Property == property {
			return d.Have, true
		}
	}
	return "", false
}

// owns reports whether what is left of the file is of the resource. A file that the resource did not create may have come
// with a package, and one of which it changed the owner and mode alone may have been written by others.
func (e Event) owns(left string) bool {
	_, wrote := e.had("content")
	ensure, made := e.had("ensure")
	return e.Type == "file" && (wrote || made) && (left != "new" || ensure == "absent")
}

// place returns the position of the declaration in parentheses, or "".
func (e Event) place() string {
	if e.Position == "" || e.Position == "-" {
		return ""
	}
	return " (" + e.Position + ")"
}

// what returns what was done, with the differences that are short. What was created, or started, differs in all.
func (e Event) what() string {
	text := e.Message
	if text == "" {
		text = e.NoopMessage
	}
	for i, d := range e.Diff {
		if i == 3 || d.Property == "ensure" {
			break
		}
		if !strings.HasPrefix(d.Want, "sha256:") && len(d.Have)+len(d.Want) < 80 {
			text += fmt.Sprintf("; %s %s → %s", d.Property, orNone(d.Have), orNone(d.Want))
		} else {
			text += "; " + d.Property
		}
	}
	return text
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Text returns the line of a live report for an event, "" for one that is not shown.
func (e Event) Text() string {
	switch {
	case e.Protocol != eventProtocol || e.Outcome == "stable":
		return ""
	case e.Outcome == "failed" && e.Ignored:
		return "x " + e.id() + ": " + strings.Join(e.Errors, "; ") + " (ignored)"
	case e.Outcome == "failed":
		return "x " + e.id() + ": " + strings.Join(e.Errors, "; ")
	case e.Outcome == "changed":
		return "~ " + e.id() + ": " + e.Message
	}
	return ""
}

// An outcome is the report of a command of ccm. It is written to line by line.
type outcome struct {
	events   []Event
	mistakes []Event
	code     int
	stderr   bytes.Buffer

	text    []byte // the report itself
	rest    []byte
	onEvent func(Event)
	err     error
}

func newOutcome(onEvent func(Event)) *outcome { return &outcome{onEvent: onEvent} }

// Write takes a part of the report.
func (o *outcome) Write(p []byte) (int, error) {
	o.text, o.rest = append(o.text, p...), append(o.rest, p...)
	for {
		line, rest, ok := bytes.Cut(o.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		o.line(line)
		o.rest = rest
	}
}

func (o *outcome) line(line []byte) {
	var head struct {
		Protocol string `json:"protocol"`
	}
	var e Event
	err := json.Unmarshal(line, &head)
	if err == nil && (head.Protocol == eventProtocol || head.Protocol == mistakeProtocol) {
		err = json.Unmarshal(line, &e)
	}
	if err != nil {
		o.err = diag.Cannot("read", "the report of ccm in the system", err)
		return
	}
	switch e.Protocol {
	case eventProtocol:
		o.events = append(o.events, e)
		if o.onEvent != nil {
			o.onEvent(e)
		}
	case mistakeProtocol:
		o.mistakes = append(o.mistakes, e)
	}
}

// finish returns why the report cannot be used.
func (o *outcome) finish() error {
	if len(o.rest) > 0 {
		o.line(o.rest)
	}
	if o.err == nil && o.code != 0 && len(o.events)+len(o.mistakes) == 0 {
		return diag.SubjectCannot("ccm", "run in the system: %w: %s", diag.ExitStatus(o.code), strings.TrimSpace(o.stderr.String()))
	}
	return o.err
}

// problems returns the failures that are not ignored, and the mistakes in the site.
func (o *outcome) problems() (list []Problem) {
	for _, m := range o.mistakes {
		text := m.Message
		if m.Subject != "" {
			text = m.Subject + ": " + text
		}
		if m.File != "" {
			text += fmt.Sprintf(" (%s:%d)", m.File, m.Line)
		}
		list = append(list, Problem{m.Subject, text, m.Hint})
	}
	for _, e := range o.events {
		if e.Outcome == "failed" && !e.Ignored {
			list = append(list, Problem{e.id(), e.id() + ": " + strings.Join(e.Errors, "; ") + e.place(), ""})
		}
	}
	return list
}

// hasNothingToUndo reports whether an undo had nothing to do.
func (o *outcome) hasNothingToUndo() bool {
	return len(o.mistakes) == 1 && strings.HasPrefix(o.mistakes[0].Message, "nothing to undo")
}

func (o *outcome) changed() (list []Event) {
	for _, e := range o.events {
		if e.Outcome == "changed" {
			list = append(list, e)
		}
	}
	return list
}

func (o *outcome) event(id string) (Event, bool) {
	for _, e := range o.events {
		if e.id() == id {
			return e, true
		}
	}
	return Event{}, false
}

// counts returns the numbers of results, as in "2 changed, 1 up to date".
func (o *outcome) counts() string {
	var parts []string
	for _, outcome := range []string{"changed", "pending", "unknown", "skipped", "failed", "stable"} {
		n := 0
		for _, e := range o.events {
			if e.Outcome == outcome {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words.Outcome(outcome)))
		}
	}
	return strings.Join(parts, ", ")
}

// comparePlan returns how a run differs from its plan. What the plan called uncertain may be either.
func comparePlan(plan, run *outcome) (list []Problem) {
	same := map[string]string{"pending": "changed", "stable": "stable", "skipped": "skipped"}
	for _, p := range plan.events {
		r, ok := run.event(p.id())
		if ok && (p.Certain != nil && !*p.Certain || p.Outcome == "unknown" || r.Ignored || r.Outcome == same[p.Outcome]) {
			continue
		}
		got := r.Outcome
		if !ok {
			got = "missing"
		}
		list = append(list, Problem{
			p.id(), fmt.Sprintf("%s: %s in the plan, %s in the run%s", p.id(), words.Outcome(p.Outcome), words.Outcome(got), p.place()),
			"declare what it depends on with require",
		})
	}
	for _, r := range run.events {
		if _, ok := plan.event(r.id()); !ok {
			list = append(list, Problem{r.id(), fmt.Sprintf("%s: missing in the plan, %s in the run%s", r.id(), words.Outcome(r.Outcome), r.place()),
				"the script must not depend on what its own resources change"})
		}
	}
	return list
}

// everyRunHint is what to do about a resource that changes in every run.
func everyRunHint(e Event) string {
	switch e.Type {
	case "exec":
		return "add creates, onlyif or unless, or run it with refreshonly and subscribe"
	case "file":
		return "its content differs each time, or another resource writes the file: compare two runs with --diff full in ccm try"
	case "service":
		return "it stops by itself: see journalctl -u " + e.Name
	}
	return "something else changes it back: see ccm run --diff full"
}

// rebootHint is what to do about a resource that a reboot reverts.
func rebootHint(e Event) string {
	volatile := func(name string) bool {
		for _, dir := range []string{"/run", "/tmp", "/dev/shm", "/var/run"} {
			if name == dir || strings.HasPrefix(name, dir+"/") {
				return true
			}
		}
		return false
	}
	switch {
	case e.Type == "service":
		return "start it at boot: enable = true"
	case volatile(e.Name) && path.IsAbs(e.Name):
		return "it is in memory: write it elsewhere, or let systemd-tmpfiles or RuntimeDirectory of a unit create it"
	case e.Type == "exec":
		return "what it did is lost: write a configuration file, or a unit that runs it at boot"
	}
	return "make it persistent, or let a unit apply it at boot"
}
