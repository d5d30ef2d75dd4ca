package report

import (
	"io"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/junit"
)

// WriteJUnit writes a run as results of tests. Each resource is a test case of the class of its
// type. It fails if the resource makes the command fail. Another error of the run is a test case
// with an error.
func WriteJUnit(w io.Writer, run *Run) error {
	s := junit.Suite{Name: run.Command, Time: junit.SecondsOf(run.Summary.Duration), Hostname: run.Summary.Host, Properties: &junit.Properties{List: junitProperties(run)}}
	if !run.Summary.StartTime.IsZero() {
		s.Timestamp = run.Summary.StartTime.UTC().Format("2006-01-02T15:04:05")
	}
	for i := range run.Events {
		c := junitCase(run, &run.Events[i])
		s.Add(c)
	}
	if run.Error != "" {
		s.Add(junit.Case{Class: "ccm", Name: "run", Time: "0.000", Error: junit.Because(run.Error)})
	}
	if run.Summary.Interrupted {
		s.Add(junit.Case{Class: "ccm", Name: "run", Time: "0.000", Error: &junit.Result{Message: "the run was interrupted", Type: "interrupted"}})
	}
	return junit.Write(w, []junit.Suite{s})
}

func junitProperties(run *Run) []junit.Property {
	var list []junit.Property
	for _, p := range []junit.Property{{Name: "run_id", Value: run.Summary.RunID}, {Name: "version", Value: run.Version}, {Name: "root", Value: run.Summary.Root}} {
		if p.Value != "" {
			list = append(list, p)
		}
	}
	if run.Summary.Noop {
		list = append(list, junit.Property{Name: "noop", Value: "true"})
	}
	return list
}

func junitCase(run *Run, e *Event) junit.Case {
	c := junit.Case{Class: e.Type, Name: e.Name, Time: junit.SecondsOf(e.Duration), Output: e.Story(run.Drift)}
	for _, d := range e.Diff {
		c.Output += "\n" + d.Property + ": " + diag.Expected("%q", d.Want).Found("%q", d.Have).Error()
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
		c.Failure = junit.Because(details)
		c.Failure.Type = e.OutcomeWord(run.Drift)
	case e.Failed:
		c.Skipped = &junit.Result{Message: "failed (ignored): " + junit.Because(details).Message}
	case e.Skipped:
		c.Skipped = &junit.Result{Message: e.Story(run.Drift)}
	}
	for _, text := range []string{e.Text, e.Stdout, e.Stderr} {
		if text != "" {
			c.Output += "\n" + text
		}
	}
	return c
}
