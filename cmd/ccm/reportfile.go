package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A reportFile is a file for a report of a run, in addition to the printed report.
type reportFile struct {
	path      string // "" if none is wanted
	form      cli.ReportForm
	collector *report.Collector
	run       *report.Run // the last run that ended
	err       error       // of making the report
	// problem is a failure outside of resources that was reported already.
	problem error
}

// add adds the flag.
func (f *reportFile) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "report", "", cli.ReportUsage)
}

// check reports a file that cannot be written, before anything is done.
func (f *reportFile) check() error {
	if f.path == "" {
		return nil
	}
	var err error
	f.form, err = cli.ReportFormOf(f.path)
	return err
}

// begin returns the reporter for the file, nil if no file is wanted.
func (f *reportFile) begin(e *cli.Env, where report.Origin, diff report.DiffMode, drift bool) event.Reporter {
	if f.path == "" {
		return nil
	}
	if diff != report.DiffOff {
		diff = report.DiffFull // in a file, long diffs disturb nobody
	}
	f.collector = &report.Collector{
		Diff: diff, Origin: where, Most: f.form.Most, HasSecrets: e.Secrets.Any, Mask: func(document []byte) []byte { return e.Secrets.JSON(document, cli.Protocol()) },
		Run: report.Run{Command: "ccm " + shellquote.Join(e.Args...), Version: e.Version, Drift: drift},
	}
	return f.collector
}

// end takes the summary of a run. Another run may follow: the run after a confirmed plan.
func (f *reportFile) end(s event.Summary) {
	if f.collector != nil {
		f.run, f.err = f.collector.End(s)
	}
}

// write writes the report once the command has ended with err, and adds a failure of writing to
// err. Unless quiet, it prints the path. Only the owner can read the file, because it may contain
// content of files with that mode.
func (f *reportFile) write(e *cli.Env, quiet bool, err *error) {
	if f.collector == nil {
		return
	}
	if f.run == nil && f.err == nil { // no run has ended
		f.end(event.Summary{})
	}
	problem := f.problem
	if _, isStatus := errors.AsType[cli.Status](*err); problem == nil && !isStatus {
		problem = *err
	}
	failed := f.err
	if failed == nil {
		f.run.Command, f.run.Error = e.Secrets.Redact(f.run.Command), e.Secrets.Redact(explained(e, problem))
		var b bytes.Buffer
		if failed = f.form.Write(&b, f.run); failed == nil {
			failed = cli.Machine(e).Save(f.path, b.Bytes(), 0o600)
		}
	}
	if failed != nil {
		failed = fmt.Errorf("--report %s: %w", f.path, failed)
		if _, isStatus := errors.AsType[cli.Status](*err); isStatus { // which stays the exit status
			e.Messages.Explain(failed)
			return
		}
		*err = errors.Join(*err, failed)
		return
	}
	if !quiet {
		terminal.Fprintf(e.Stderr, "ccm: report written to %s\n", f.path)
	}
}

// explained returns an error in its printed form, without colors.
func explained(e *cli.Env, err error) string {
	if err == nil {
		return ""
	}
	var b bytes.Buffer
	m := *e.Messages
	m.W = terminal.NewWriter(&b)
	m.Explain(err)
	_ = m.W.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
