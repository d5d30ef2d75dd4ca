package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// counts are the tests of one step. Subtests are not counted.
type counts struct {
	passed, failed, skipped int
	ended                   []test
	failures                []string // tests that failed or did not end, and packages that failed without one
}

// A test is one test that ended, with the seconds that it took.
type test struct {
	name    string
	seconds float64
}

// A testWriter takes the output of a step, in which go test -json may occur, and counts tests. It passes on the lines
// that are no events, the lines of packages, and the output of tests that failed.
type testWriter struct {
	counts
	out     io.Writer
	rest    []byte                   // begin of an unfinished line
	outputs map[string]*bytes.Buffer // of tests that have not ended, by package and name
	longest map[string]float64       // seconds of their longest subtests; those of parallel ones are not in the test's
}

func newTestWriter(out io.Writer) *testWriter {
	return &testWriter{out: out, outputs: map[string]*bytes.Buffer{}, longest: map[string]float64{}}
}

func (w *testWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.line(line)
		w.rest = rest
	}
}

// Close passes on an unfinished line, and the output of tests that did not end.
func (w *testWriter) Close() {
	if len(w.rest) > 0 {
		w.line(w.rest)
	}
	for name, output := range w.outputs {
		w.failures = append(w.failures, name)
		fmt.Fprintf(w.out, "%s did not end:\n%s", name, output)
	}
}

func (w *testWriter) line(line []byte) {
	var event struct {
		Action, Package, Test, Output string
		Elapsed                       float64
	}
	if !bytes.HasPrefix(line, []byte(`{"`)) || json.Unmarshal(line, &event) != nil || event.Action == "" {
		fmt.Fprintf(w.out, "%s\n", line)
		return
	}
	if event.Test == "" {
		fmt.Fprint(w.out, event.Output)
		if event.Action == "fail" && !slices.ContainsFunc(w.failures, func(name string) bool { return strings.HasPrefix(name, event.Package+" ") }) {
			w.failures = append(w.failures, event.Package)
		}
		return
	}
	top, _, isSubtest := strings.Cut(event.Test, "/")
	name := event.Package + " " + top
	switch event.Action {
	case "output", "build-output":
		if w.outputs[name] == nil {
			w.outputs[name] = &bytes.Buffer{}
		}
		w.outputs[name].WriteString(event.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	if isSubtest {
		w.longest[name] = max(w.longest[name], event.Elapsed)
		return
	}
	switch event.Action {
	case "pass":
		w.passed++
	case "skip":
		w.skipped++
	case "fail":
		w.failed++
		w.failures = append(w.failures, name)
		fmt.Fprint(w.out, w.outputs[name])
	}
	delete(w.outputs, name)
	w.ended = append(w.ended, test{name, max(event.Elapsed, w.longest[name])})
}
