// Package report tells the results of specs as text, as JSON, in the Test Anything
// Protocol and as JUnit does.
package report

import (
	"strings"
	"time"

	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/junit"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// A Report writes the results of tests, in one of four forms.
type Report struct {
	form    string
	w       *terminal.Writer
	color   bool
	now     func() time.Time
	start   time.Time
	results []spec.Result
	sources []diag.Sources
}

// Forms are the forms of a report.
var Forms = []string{"text", "json", "tap", "junit"}

// New returns a report in one of the forms, which is written to w. Now returns the time.
func New(form string, w *terminal.Writer, color bool, now func() time.Time) *Report {
	return &Report{form: form, w: w, color: color, now: now, start: now()}
}

// marks are the signs of finished tests while others are still running.
var marks = map[spec.Status]string{spec.Success: "●", spec.Failure: "◼", spec.Error: "✱", spec.Pending: "◌"}

// styles are the styles of the marks.
var styles = map[spec.Status]terminal.Style{
	spec.Success: terminal.Green, spec.Failure: terminal.Red, spec.Error: terminal.Purple, spec.Pending: terminal.Yellow,
}

func (r *Report) paint(s spec.Status, text string) terminal.Text {
	return styles[s].On(r.color).Paint(terminal.LineText(text))
}

// Add takes the result of a test. Forms that can be written during the tests are written at once; a
// failed write is reported at the end.
func (r *Report) Add(res spec.Result) {
	r.results = append(r.results, res)
	switch r.form {
	case "text":
		_, _ = r.w.Print(r.paint(res.Status, marks[res.Status]))
	case "json":
		_ = r.encode(testJSON(res))
	case "tap":
		r.tap(len(r.results), res)
	}
}

// AddFileError takes the error of a file that cannot be evaluated.
func (r *Report) AddFileError(file string, err error) {
	var list diag.List
	list.Add(err)
	r.Add(spec.Result{File: file, Name: file, Pos: list[0].Pos, Status: spec.Error, Errs: list})
}

func (r *Report) count(s spec.Status) (n int) {
	for _, res := range r.results {
		if res.Status == s {
			n++
		}
	}
	return n
}

// Failed reports whether a test has failed.
func (r *Report) Failed() bool { return r.count(spec.Failure)+r.count(spec.Error) > 0 }

// End writes the end of the report, after the last test.
func (r *Report) End() error {
	switch r.form {
	case "json":
		return r.encode(map[string]any{
			"protocol": "io.choria.ccm.v1.test.summary", "successes": r.count(spec.Success), "failures": r.count(spec.Failure),
			"errors": r.count(spec.Error), "pending": r.count(spec.Pending), "duration": r.now().Sub(r.start),
		})
	case "tap":
		_, err := terminal.Fprintf(r.w, "1..%d\n", len(r.results))
		return err
	case "junit":
		return r.junit()
	}
	return r.text()
}

func (r *Report) encode(v any) error {
	return secret.NewEncoder(r.w, nil).Encode(v)
}

// AddSources adds the source of texts for messages; it may be nil.
func (r *Report) AddSources(s diag.Sources) { r.sources = append(r.sources, s) }

// source finds a text in all sources.
func (r *Report) source(file string) (string, bool) {
	for _, find := range r.sources {
		if find == nil {
			continue
		}
		if text, ok := find(file); ok {
			return text, true
		}
	}
	return "", false
}

func (r *Report) text() error {
	terminal.Fprintf(r.w, "\n%s / %s / %s / %d pending : %.3f seconds\n",
		r.paint(spec.Success, words.Count(r.count(spec.Success), "success", "successes")),
		r.paint(spec.Failure, words.Count(r.count(spec.Failure), "failure")),
		r.paint(spec.Error, words.Count(r.count(spec.Error), "error")),
		r.count(spec.Pending), r.now().Sub(r.start).Seconds())
	titles := map[spec.Status]string{spec.Failure: "Failure", spec.Error: "Error", spec.Pending: "Pending"}
	for _, s := range []spec.Status{spec.Pending, spec.Failure, spec.Error} {
		for _, res := range r.results {
			if res.Status != s {
				continue
			}
			terminal.Fprintf(r.w, "\n%s → %s @ %d\n%s\n", r.paint(s, titles[s]), res.File, res.Pos.Line, res.Name)
			diag.RenderFlush(r.w, res.Errs.Err(), r.source)
		}
	}
	return nil
}

// message returns the errors of a test as text.
func message(errs diag.List) string {
	if len(errs) == 0 {
		return ""
	}
	return errs.Error()
}

// A jsonTest is a test in the JSON report.
type jsonTest struct {
	Protocol string        `json:"protocol"`
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Name     string        `json:"name"`
	Tags     []string      `json:"tags,omitempty"`
	Status   spec.Status   `json:"status"`
	Message  string        `json:"message,omitempty"`
	Duration time.Duration `json:"duration"`
}

func testJSON(res spec.Result) jsonTest {
	return jsonTest{"io.choria.ccm.v1.test.result", res.File, res.Pos.Line, res.Name, res.Tags, res.Status, message(res.Errs), res.Duration}
}

// tap writes a test in the Test Anything Protocol.
func (r *Report) tap(n int, res spec.Result) {
	ok, directive := "ok", ""
	switch res.Status {
	case spec.Failure, spec.Error:
		ok = "not ok"
	case spec.Pending:
		directive = " # SKIP pending"
	}
	terminal.Fprintf(r.w, "%s %d - %s%s\n", ok, n, strings.ReplaceAll(res.Name, "#", `\#`), directive)
	if ok == "ok" {
		return
	}
	terminal.Fprintf(r.w, "# %s @ %d\n", res.File, res.Pos.Line)
	for line := range strings.SplitSeq(message(res.Errs), "\n") {
		terminal.Fprintf(r.w, "%s\n", strings.TrimRight("# "+line, " "))
	}
}

// junit writes all tests as JUnit does, a suite for each file.
func (r *Report) junit() error {
	var all []junit.Suite
	for _, res := range r.results {
		file := terminal.Line(res.File)
		if len(all) == 0 || all[len(all)-1].Name != file {
			all = append(all, junit.Suite{Name: file})
		}
		c := junit.Case{Class: file, Name: terminal.Line(res.Name), Time: junit.SecondsOf(res.Duration)}
		problem := junit.Because(terminal.Lines(message(res.Errs))) // XML has no way to write most control characters
		switch res.Status {
		case spec.Failure:
			c.Failure = problem
		case spec.Error:
			c.Error = problem
		case spec.Pending:
			c.Skipped = &junit.Result{}
		}
		all[len(all)-1].Add(c)
	}
	return junit.Write(r.w, all)
}
