// Package junit writes test reports in the XML of JUnit, which CI systems show. There is no standard; this is the
// part that Jenkins and GitLab read: the elements of Apache Ant's JUnitReport task (testsuites, testsuite, testcase,
// failure, error, skipped, properties, system-out).
package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Suite is a list of test cases with their counts. Add keeps the counts.
type Suite struct {
	Name       string      `xml:"name,attr"`
	Tests      int         `xml:"tests,attr"`
	Failures   int         `xml:"failures,attr"`
	Errors     int         `xml:"errors,attr"`
	Skipped    int         `xml:"skipped,attr"`
	Time       Seconds     `xml:"time,attr,omitempty"`
	Timestamp  string      `xml:"timestamp,attr,omitempty"` // UTC, as 2006-01-02T15:04:05
	Hostname   string      `xml:"hostname,attr,omitempty"`
	Properties *Properties `xml:"properties,omitempty"`
	Cases      []Case      `xml:"testcase"`
}

// Properties are values about the whole suite. A suite without properties has no such element.
type Properties struct {
	List []Property `xml:"property"`
}

// A Property is a value about the whole suite.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// A Case is one test. It has passed if it has no failure, error or skipped.
type Case struct {
	Class   string  `xml:"classname,attr"`
	Name    string  `xml:"name,attr"`
	Time    Seconds `xml:"time,attr"`
	Failure *Result `xml:"failure,omitempty"`
	Error   *Result `xml:"error,omitempty"`
	Skipped *Result `xml:"skipped,omitempty"`
	Output  string  `xml:"system-out,omitempty"`
}

// A Result is the reason why a test did not pass.
type Result struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Because returns a Result with a text; the first line is its message.
func Because(text string) *Result {
	first, _, _ := strings.Cut(text, "\n")
	return &Result{Message: first, Text: text}
}

// Seconds is a time in seconds with three decimals.
type Seconds string

// SecondsOf returns a duration as Seconds.
func SecondsOf(d time.Duration) Seconds { return Seconds(fmt.Sprintf("%.3f", d.Seconds())) }

// Add adds a case and counts it.
func (s *Suite) Add(c Case) {
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

// Write writes suites as one document.
func Write(w io.Writer, suites []Suite) error {
	_, err := io.WriteString(w, xml.Header)
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	err = errors.Join(err, enc.Encode(struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []Suite  `xml:"testsuite"`
	}{Suites: suites}))
	_, last := io.WriteString(w, "\n")
	return errors.Join(err, last)
}
