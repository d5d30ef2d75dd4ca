package author

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/junit"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/testsystem/stages"
	"github.com/luaccm/ccm/runtime/words"
)

// passed returns the number of systems that passed.
func passed(runs []systemRun) (n int) {
	for _, r := range runs {
		if r.err == nil && len(r.failed()) == 0 {
			n++
		}
	}
	return n
}

// summary counts the systems. A part without systems is not described as a test that passed.
func (m *matrix) summary(runs []systemRun) string {
	if len(runs) == 0 {
		return fmt.Sprintf("no system tested: --shard %s is empty, because --system lists %s",
			m.flags.system.shard, words.Count(len(m.flags.system.systems), "system"))
	}
	n := passed(runs)
	return fmt.Sprintf("%s: %d passed, %d failed", words.Count(len(runs), "system"), n, len(runs)-n)
}

// report writes the summary.
func (m *matrix) report(runs []systemRun, took time.Duration) error {
	if len(runs) == 0 {
		terminal.Fprintf(m.live, "%s\n", m.summary(runs))
	} else {
		terminal.Fprintf(m.live, "\n%s (%s)\n", m.summary(runs), part.Took(took))
	}
	for _, r := range runs {
		state := "passed"
		switch {
		case r.err != nil:
			state = "failed: " + strings.ReplaceAll(r.err.Error(), "\n", "; ")
		case len(r.failed()) > 0:
			state = "failed: " + strings.Join(r.failed(), ", ")
		}
		terminal.Fprintf(m.live, "  %s  %s\n", fmt.Sprintf("%-*s", m.width, r.target.Name), state)
	}
	for _, line := range differences(runs) {
		terminal.Fprintf(m.live, "%s\n", line)
	}
	for _, r := range runs {
		if r.keptName != "" {
			terminal.Fprintf(m.live, "%s is running: enter it with ccm try --enter %s, remove it with ccm try --remove %s\n", r.target.Name, r.keptName, r.keptName)
		}
	}
	for _, name := range m.flags.system.reports {
		var text bytes.Buffer
		if err := reportForms[filepath.Ext(name)](&text, m, runs); err != nil {
			return err
		}
		// The page has the content of files.
		if err := host.New(host.Options{}).Save(name, text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if m.flags.output.Value == "junit" {
		return junit.Write(m.e.Stdout.Unwrap(), suites(runs))
	}
	return nil
}

// reportForms are the forms of report files by the ends of their names.
var reportForms = map[string]func(w io.Writer, m *matrix, runs []systemRun) error{
	".xml":  func(w io.Writer, _ *matrix, runs []systemRun) error { return junit.Write(w, suites(runs)) },
	".html": writeSystemPage,
}

// differences describes the resources that fail on some systems and not on others.
func differences(runs []systemRun) (lines []string) {
	type place struct{ stage, resource string }
	var order []place
	on := make(map[place][]string)
	for _, r := range runs {
		for _, s := range r.stages {
			for _, p := range s.Problems {
				at := place{s.Name, p.Resource}
				if p.Resource == "" || slices.Contains(on[at], r.target.Name) {
					continue
				}
				if on[at] == nil {
					order = append(order, at)
				}
				on[at] = append(on[at], r.target.Name)
			}
		}
	}
	for _, at := range order {
		var others []string
		for _, r := range runs {
			reached := slices.ContainsFunc(r.stages, func(s stages.Stage) bool { return s.Name == at.stage && s.Status != stages.Skipped })
			if reached && !slices.Contains(on[at], r.target.Name) {
				others = append(others, r.target.Name)
			}
		}
		if len(others) > 0 {
			lines = append(lines, fmt.Sprintf("%s fails (%s) on %s, and not on %s: choose by facts.os.family, or use a resource that knows both",
				at.resource, at.stage, strings.Join(on[at], ", "), strings.Join(others, ", ")))
		}
	}
	return lines
}

// suites returns the results as JUnit has them: a suite for each system, a case for each stage.
func suites(runs []systemRun) []junit.Suite {
	var list []junit.Suite
	for _, r := range runs {
		name := terminal.Line(r.target.Name)
		suite := junit.Suite{Name: name}
		for _, s := range r.stages {
			c := junit.Case{Class: name, Name: s.Name, Time: junit.SecondsOf(s.Duration), Output: terminal.Lines(s.Note)}
			var texts []string
			for _, p := range s.Problems {
				texts = append(texts, p.String())
			}
			switch s.Status {
			case stages.Failed:
				c.Failure = junit.Because(terminal.Lines(strings.Join(texts, "\n")))
			case stages.Skipped:
				c.Skipped = &junit.Result{Message: terminal.Line(s.Note)}
			}
			suite.Add(c)
		}
		if r.err != nil {
			suite.Add(junit.Case{Class: name, Name: "system", Error: junit.Because(terminal.Lines(r.err.Error()))})
		}
		list = append(list, suite)
	}
	return list
}
