package ssh

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A Report reports the output of hosts. Its methods are called one at a time, except Line.
type Report interface {
	// Line is called for each line of a host, for several hosts at the same time.
	Line(h Host, l Line)
	// Ended is called when a host has ended.
	Ended(r Result)
	// End is called last, with the hosts that were not begun.
	End(left []Host)
}

// Failed reports whether a host failed. Exit status 2, for changes or drift, is not a failure.
func Failed(r Result) bool { return r.Err != nil || r.Exit != 0 && r.Exit != 2 }

// timing matches the duration in a line of a report.
var timing = lazyregexp.New(` \([0-9.]+(ns|µs|ms|s|m[0-9.]*s?|h[0-9a-z.]*)\)`)

// summary matches the line that sums up a run or a comparison.
var summary = lazyregexp.New(`^(Nothing to do|No drift|\d+ resources?): \d`)

// A TextReport is for people. With one host it prints the lines as they arrive. With several it
// prints a line for each host at its end, then the outputs of hosts, equal outputs once with their
// hosts, and failures at the end.
type TextReport struct {
	Out, Err *terminal.Writer
	Hosts    []Host
	// Digest returns the line of a host whose command succeeded, from the lines of its output; if
	// nil, that is the last of them, a run's summary.
	Digest func(lines []string) string

	lines   map[string]*output
	results []Result
}

// An output is the output of one host.
type output struct {
	text  []string
	bytes int
	cut   bool
}

// maxOutput is the most bytes of a host's output that are kept until the end.
const maxOutput = 1 << 20

// NewTextReport returns a report on hosts.
func NewTextReport(out, err *terminal.Writer, hosts []Host) *TextReport {
	t := &TextReport{Out: out, Err: err, Hosts: hosts, lines: make(map[string]*output, len(hosts))}
	for _, h := range hosts {
		t.lines[h.Name] = new(output) // each entry is written to for its host alone
	}
	return t
}

// Line implements Report.
func (t *TextReport) Line(h Host, l Line) {
	if len(t.Hosts) == 1 {
		w := t.Out
		if l.Stderr {
			w = t.Err
		}
		terminal.Fprintf(w, "%s\n", l.Text)
		return
	}
	o := t.lines[h.Name]
	if o.bytes += len(l.Text) + 1; o.bytes > maxOutput {
		o.cut = true
		return
	}
	o.text = append(o.text, l.Text)
}

// Ended implements Report.
func (t *TextReport) Ended(r Result) {
	t.results = append(t.results, r)
	if len(t.Hosts) == 1 {
		return
	}
	said := ""
	if text := t.lines[r.Host.Name].text; len(text) > 0 {
		telling := text[len(text)-1]
		for _, line := range text {
			if summary().MatchString(line) { // more lines may follow the summary
				telling = line
			}
		}
		switch {
		case r.Exit == 1: // a mistake, with its line below, and no summary
			telling = text[0]
		case t.Digest != nil && len(text) > 1:
			telling = t.Digest(text)
		}
		said = timing().ReplaceAllString(telling, "")
	}
	if r.Err != nil {
		said = problem(r)
	} else if Failed(r) && said == "" {
		said = fmt.Sprintf("exit status %d", r.Exit)
	} else if said == "" {
		said = "ok, no output"
	}
	terminal.Fprintf(t.Out, "%s  %s  %s\n", fmt.Sprintf("%-*s", t.width(), r.Host.Name), said, seconds(r.Duration))
}

// width is the width of the column of names.
func (t *TextReport) width() int {
	width := 0
	for _, h := range t.Hosts {
		width = max(width, len(h.Name))
	}
	return min(width, 30)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// problem says why there is no exit status of a host.
func problem(r Result) string {
	if r.Unreachable {
		return "unreachable: " + r.Err.Error()
	}
	return "failed: " + r.Err.Error()
}

// End implements Report.
func (t *TextReport) End(left []Host) {
	if len(t.Hosts) == 1 {
		for _, r := range t.results {
			if r.Err != nil {
				terminal.Fprintf(t.Err, "%s  %s\n", r.Host.Name, problem(r))
			}
		}
		return
	}
	for _, g := range t.groups() {
		terminal.Fprintf(t.Out, "\n%s:\n", hostList(g.hosts))
		for _, line := range g.text {
			terminal.Fprintf(t.Out, "  %s\n", line)
		}
	}
	var good, unreachable, failed, different int
	for _, r := range t.results {
		switch {
		case r.Unreachable:
			unreachable++
		case Failed(r):
			failed++
		default:
			good++
			if r.Exit == 2 {
				different++
			}
		}
	}
	if unreachable > 0 || failed > 0 || len(left) > 0 {
		terminal.Fprintf(t.Out, "\n")
		for _, g := range t.problems() {
			terminal.Fprintf(t.Out, "%s  %s\n", hostList(g.hosts), g.text[0])
		}
		if len(left) > 0 {
			var names []string
			for _, h := range left {
				names = append(names, h.Name)
			}
			terminal.Fprintf(t.Out, "%s  not started\n", hostList(names))
		}
	}
	text := fmt.Sprintf("%d of %d hosts ok", good, len(t.Hosts))
	if different > 0 {
		text += fmt.Sprintf(" (%d with changes or drift)", different)
	}
	for _, part := range []struct {
		n       int
		problem string
	}{{failed, "failed"}, {unreachable, "unreachable"}, {len(left), "not started"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.problem)
		}
	}
	terminal.Fprintf(t.Out, "%s\n", text)
}

// A group is hosts with the same output.
type group struct {
	hosts []string
	text  []string
	bad   bool
}

// groups returns the outputs of hosts except their last lines, outputs of failed hosts at the end.
func (t *TextReport) groups() []*group {
	of := make(map[string]*group)
	var list []*group
	for _, r := range t.results {
		o := t.lines[r.Host.Name]
		if len(o.text) < 2 && !(Failed(r) && len(o.text) > 0) {
			continue // the host's own line has the output
		}
		key := fmt.Sprintf("%t%d\n%s", r.Err != nil, r.Exit, timing().ReplaceAllString(strings.Join(o.text, "\n"), ""))
		g := of[key]
		if g == nil {
			g = &group{text: o.text, bad: Failed(r)}
			if o.cut {
				g.text = append(slices.Clip(g.text), "... (truncated)")
			}
			of[key] = g
			list = append(list, g)
		}
		g.hosts = append(g.hosts, r.Host.Name)
	}
	slices.SortStableFunc(list, func(a, b *group) int {
		if a.bad != b.bad {
			return map[bool]int{true: 1, false: -1}[a.bad]
		}
		return cmp.Compare(len(b.hosts), len(a.hosts))
	})
	return list
}

// problems returns why there is no exit status of hosts, each reason once.
func (t *TextReport) problems() []*group {
	of := make(map[string]*group)
	var list []*group
	for _, r := range t.results {
		if r.Err == nil {
			continue
		}
		text := problem(r)
		if of[text] == nil {
			of[text] = &group{text: []string{text}}
			list = append(list, of[text])
		}
		of[text].hosts = append(of[text].hosts, r.Host.Name)
	}
	slices.SortFunc(list, func(a, b *group) int { return cmp.Compare(slices.Min(a.hosts), slices.Min(b.hosts)) })
	return list
}

// manyHosts is the most hosts that a list names.
const manyHosts = 20

// hostList returns a list of names of hosts.
func hostList(names []string) string {
	slices.Sort(names)
	if len(names) == 1 {
		return names[0]
	}
	text := fmt.Sprintf("%d hosts: %s", len(names), strings.Join(names[:min(len(names), manyHosts)], ", "))
	if len(names) > manyHosts {
		text += fmt.Sprintf(" and %d more", len(names)-manyHosts)
	}
	return text
}

// A JSONReport is for programs: it adds a field target to each object of a host, makes other lines
// objects with a field output, and prints a line for each host at its end.
type JSONReport struct{ Out *LineWriter }

// ResultProtocol is the protocol of the line at a host's end.
const ResultProtocol = "io.choria.ccm.v1.ssh.result"

// A jsonResult is the line at a host's end.
type jsonResult struct {
	Protocol    string `json:"protocol"`
	Target      string `json:"target"`
	Exit        *int   `json:"exit,omitempty"`
	Error       string `json:"error,omitempty"`
	Unreachable bool   `json:"unreachable,omitempty"`
	// Begun is false for a host that was left out after others had failed.
	Begun    bool          `json:"begun"`
	Duration time.Duration `json:"duration"`
}

// Line implements Report.
func (j *JSONReport) Line(h Host, l Line) {
	target, err := json.Marshal(h.Name)
	if err != nil {
		return
	}
	text := []byte(strings.TrimSpace(l.Text))
	if !l.Stderr && len(text) > 2 && text[0] == '{' && json.Valid(text) {
		j.Out.WriteLine(append(append(append([]byte(`{"target":`), target...), ','), text[1:]...))
		return
	}
	j.object(struct {
		Target string `json:"target"`
		Output string `json:"output"`
		Stderr bool   `json:"stderr,omitempty"`
	}{h.Name, l.Text, l.Stderr})
}

// Ended implements Report.
func (j *JSONReport) Ended(r Result) {
	x := jsonResult{Protocol: ResultProtocol, Target: r.Host.Name, Unreachable: r.Unreachable, Begun: true, Duration: r.Duration}
	if r.Err != nil {
		x.Error = r.Err.Error()
	} else {
		x.Exit = &r.Exit
	}
	j.object(x)
}

// End implements Report.
func (j *JSONReport) End(left []Host) {
	for _, h := range left {
		j.object(jsonResult{Protocol: ResultProtocol, Target: h.Name})
	}
}

func (j *JSONReport) object(x any) {
	if text, err := json.Marshal(x); err == nil {
		j.Out.WriteLine(text)
	}
}

// A LineWriter writes whole lines, for several goroutines.
type LineWriter struct {
	W  io.Writer
	mu sync.Mutex
}

// WriteLine writes a line.
func (w *LineWriter) WriteLine(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.W.Write(append(line, '\n')) // the reader may be gone
}
