package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	ccmapi "github.com/luaccm/ccm"
	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// A runReport is the output of a run.
type runReport struct {
	id        string // of the run
	file      *reportFile
	status    []event.Reporter // show the present work
	reporters []event.Reporter // show the outcomes
	stderr    terminal.Printer // for logs; hides the status line meanwhile
	summary   func(event.Summary)
	rights    func()                                   // prints how to get missing rights
	out       *bufio.Writer                            // stdout, buffered unless it is a terminal
	progress  func(host.Progress)                      // of downloads; nil if not shown
	output    func(of *resource.Resource, line string) // of commands; nil if not shown
	site      interface {                              // shows that a script or manifest is read; nil if not shown
		BeginSite(name string)
		EndSite()
	}
}

// newReport returns the report that the flags ask for. On a terminal a status line shows the
// present work.
func newReport(e *cli.Env, f *runFlags) *runReport {
	r := &runReport{id: state.NewRunID(f.StateDir, e.Clock), stderr: e.Stderr, file: &f.reportFile, rights: func() {}}
	stdout := e.Stdout
	var line *report.StatusLine
	if terminal.IsTerminal(e.Stderr) && !f.quiet && !f.step && os.Getenv("TERM") != "dumb" {
		line = report.NewStatusLine(terminal.NewWriter(e.Stderr.Unwrap()))
		e.Stderr.Before(line.MakeWay)
		e.Stdout.Before(line.MakeWay)
		e.ObserveLook, e.BeforePrompt = line.Look, line.Pause
		r.stderr, r.output, r.site = line, line.Output, line
	}
	if f.stream {
		r.output = report.Stream{W: r.stderr}.Output
	}
	if !terminal.IsTerminal(e.Stdout) {
		r.out = bufio.NewWriterSize(e.Stdout.Unwrap(), 64<<10)
		stdout = terminal.NewWriter(r.out)
	}
	if f.output.Value == "json" {
		documents := secret.Documents(e.Stdout, cli.Protocol())
		if r.out != nil {
			r.out.Reset(secret.Underneath(e.Stdout))
			documents = secret.NewWriter(r.out, e.Secrets).JSON(cli.Protocol())
		}
		j := report.NewJSON(documents, originOf(f, r.id), report.DiffMode(f.diff.Value))
		r.reporters, r.summary = []event.Reporter{j}, j.Summary
		if f.stream {
			r.output = j.Output
			if r.out != nil {
				r.output = func(of *resource.Resource, line string) { j.Output(of, line); _ = r.out.Flush() }
			}
		}
	} else {
		t := report.Text{
			W: stdout, Color: cli.Colorful(e, e.Stdout), Verbose: f.verbose, Quiet: f.quiet, OneOff: f.oneOff, Drift: f.drift,
			Diff: report.DiffMode(f.diff.Value), DiffLines: int(f.diffLines), Site: f.siteArguments,
		}
		failures := &report.Failures{Text: t, HasSudo: e.HasSudo}
		_, failures.Rows = terminal.Size(e.Stdout)
		r.reporters = []event.Reporter{failures}
		r.summary = func(s event.Summary) { failures.Tell(); t.Summary(s) }
		if f.isDigest() {
			digest := &report.Digest{Failures: failures, Layout: f.layout()}
			r.reporters = []event.Reporter{digest}
			r.summary = func(s event.Summary) { digest.Tell(); t.Summary(s) }
		}
		r.rights = failures.TellRights
	}
	switch {
	case line != nil:
		r.status = []event.Reporter{line}
		r.progress = func(p host.Progress) { line.Note(p.String()) }
	case !f.quiet:
		h := &report.Heartbeat{W: e.Stderr, Interval: 30 * time.Second}
		r.status = []event.Reporter{h}
		r.site = h
	}
	if r.out != nil && f.output.Value == "json" {
		r.reporters = append(r.reporters, report.Flusher{W: r.out})
	}
	if file := r.file.begin(e, originOf(f, r.id), report.DiffMode(f.diff.Value), f.drift); file != nil {
		r.reporters = append(r.reporters, file)
	}
	return r
}

// originOf returns the origin of a run with the flags: its place and its id.
func originOf(f *runFlags, id string) report.Origin {
	root, err := filepath.Abs(cmp.Or(f.Root, "/"))
	if err != nil {
		root = f.Root
	}
	return report.Origin{RunID: id, Host: site.HostName(root), Root: root, Drift: f.drift}
}

// reads reports that a script or manifest is being read, until the returned function is called.
func (r *runReport) reads(name string) func() {
	if r.site == nil {
		return func() {}
	}
	r.site.BeginSite(name)
	return r.site.EndSite
}

// all returns all reporters.
func (r *runReport) all() []event.Reporter { return slices.Concat(r.status, r.reporters) }

// take reports the events of a run that has begun. Its error is no news: the summary says what failed, and
// whether the run was interrupted.
func (r *runReport) take(events iter.Seq2[ccmapi.Event, error]) {
	for e, err := range events {
		if err != nil {
			return
		}
		for _, x := range r.reporters {
			x.Event(e.Unwrap())
		}
	}
}

// end writes the last line and everything that is buffered.
func (r *runReport) end(s event.Summary) error {
	r.summary(s)
	r.rights()
	r.file.end(s)
	if r.out == nil {
		return nil
	}
	// Whoever reads may stop reading.
	if err := r.out.Flush(); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// hostOptions returns the options of the run's host that concern output.
func (r *runReport) hostOptions(e *cli.Env, f *runFlags) site.HostOptions {
	return site.HostOptions{Log: cli.NewLogger(e, r.stderr, f.debug), Progress: r.progress, Output: r.output}
}
