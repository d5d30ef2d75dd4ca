// Package junit writes what a run did in the XML of JUnit, which systems for continuous
// integration show. There is no standard; this is what Jenkins and GitLab read: the elements of
// Apache Ant's JUnitReport task (testsuites, testsuite, testcase, failure, error, skipped,
// properties, system-out).
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/report"
)

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"` // seconds
	Timestamp  string     `xml:"timestamp,attr,omitempty"`
	Hostname   string     `xml:"hostname,attr,omitempty"`
	Properties []property `xml:"properties>property,omitempty"`
	Cases      []testcase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Class   string  `xml:"classname,attr"`
	Name    string  `xml:"name,attr"`
	Time    string  `xml:"time,attr"`
	Failure *result `xml:"failure,omitempty"`
	Error   *result `xml:"error,omitempty"`
	Skipped *result `xml:"skipped,omitempty"`
	Output  string  `xml:"system-out,omitempty"`
}

type result struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Write writes a run. Each resource is a test case of the class of its type; it fails if it
// makes the command fail. What went wrong besides resources is a test case with an error.
func Write(w io.Writer, run *report.Run) error {
	s := suite{Name: run.Command, Time: seconds(run.Summary.Duration), Hostname: run.Summary.Host, Properties: propertiesOf(run)}
	if !run.Summary.StartTime.IsZero() {
		s.Timestamp = run.Summary.StartTime.UTC().Format("2006-01-02T15:04:05")
	}
	for i := range run.Events {
		c := caseOf(run, &run.Events[i])
		s.add(c)
	}
	if run.Error != "" {
		s.add(testcase{Class: "ccm", Name: "run", Time: "0.000", Error: &result{Message: firstLine(run.Error), Text: run.Error}})
	}
	if run.Summary.Interrupted {
		s.add(testcase{Class: "ccm", Name: "run", Time: "0.000", Error: &result{Message: "the run was interrupted", Type: "interrupted"}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suites{Suites: []suite{s}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *suite) add(c testcase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func propertiesOf(run *report.Run) []property {
	var list []property
	for _, p := range []property{{"run_id", run.Summary.RunID}, {"version", run.Version}, {"root", run.Summary.Root}} {
		if p.Value != "" {
			list = append(list, p)
		}
	}
	if run.Summary.Noop {
		list = append(list, property{"noop", "true"})
	}
	return list
}

func caseOf(run *report.Run, e *report.Event) testcase {
	c := testcase{Class: e.Type, Name: e.Name, Time: seconds(e.Duration), Output: e.Story(run.Drift)}
	for _, d := range e.Diff {
		c.Output += fmt.Sprintf("\n%s: %q, wanted %q", d.Property, d.Have, d.Want)
	}
	details := strings.Join(e.Errors, "\n")
	if details == "" {
		details = c.Output
	}
	if e.Position != "" {
		details += "\n(" + e.Position + ")"
	}
	switch {
	case run.Fails(e):
		c.Failure = &result{Message: firstLine(details), Type: e.OutcomeWord(run.Drift), Text: details}
	case e.Failed:
		c.Skipped = &result{Message: "failed, which is ignored: " + firstLine(details)}
	case e.Skipped:
		c.Skipped = &result{Message: e.Story(run.Drift)}
	}
	for _, text := range []string{e.Text, e.Stdout, e.Stderr} {
		if text != "" {
			c.Output += "\n" + text
		}
	}
	return c
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
