package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A runReport is where a run tells what it does.
type runReport struct {
	id        string // of the run
	reporters converge.Reporter
	stderr    terminal.Printer // for logs; the status line makes way for it
	summary   func(converge.Summary)
	out       *bufio.Writer       // stdout, buffered unless it is a terminal
	progress  func(host.Progress) // of downloads; nil if nobody sees it
}

// A flusher writes out what is buffered when somebody may be waiting for it: before
// something is worked on, and after anything that is not stable.
type flusher struct{ out *bufio.Writer }

// Begin implements converge.Reporter.
func (f flusher) Begin(*resource.Resource, int, int) { _ = f.out.Flush() }

// Event implements converge.Reporter.
func (f flusher) Event(e *converge.Event) {
	if e.Outcome != converge.Stable {
		_ = f.out.Flush()
	}
}

// statusLine returns a line on the terminal of the standard error.
func (e *env) statusLine() *report.StatusLine {
	file := fileOf(e.stderr)
	return &report.StatusLine{W: e.stderr, Columns: func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0
		}
		return width
	}}
}

// newReport returns the report that the flags ask for. On a terminal a status
// line shows what is being worked on.
func (e *env) newReport(f *runFlags) *runReport {
	r := &runReport{id: newRunID(time.Now()), stderr: e.stderr}
	stdout := e.stdout
	var line *report.StatusLine
	if isTerminal(e.stderr) && !f.quiet && os.Getenv("TERM") != "dumb" {
		line = e.statusLine()
		r.stderr = line
	}
	if !isTerminal(e.stdout) {
		r.out = bufio.NewWriterSize(e.stdout.Unwrap(), 64<<10)
		stdout = terminal.NewWriter(r.out)
	}
	var rep converge.Reporter
	if f.output.value == "json" {
		documents := documents(e.stdout, protocol())
		if r.out != nil {
			r.out.Reset(underneath(e.stdout))
			documents = secret.NewWriter(r.out, e.secrets).JSON(protocol())
		}
		j := report.NewJSON(documents, r.id, report.DiffMode(f.diff.value))
		rep, r.summary = j, j.Summary
	} else {
		t := report.Text{W: stdout, Color: e.colorful(e.stdout), Verbose: f.verbose, Quiet: f.quiet, OneOff: f.asked, Drift: f.drift, Diff: report.DiffMode(f.diff.value)}
		rep, r.summary = t, t.Summary
	}
	all := converge.Reporters{rep}
	if line != nil {
		all = converge.Reporters{line, rep}
		r.progress = func(p host.Progress) { line.Note(p.String()) }
	}
	if r.out != nil && f.output.value == "json" {
		all = append(all, flusher{r.out})
	}
	r.reporters = all
	return r
}

// end writes the last line and everything that is buffered.
func (r *runReport) end(s converge.Summary) error {
	r.summary(s)
	if r.out == nil {
		return nil
	}
	// Whoever reads may stop reading.
	if err := r.out.Flush(); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// newRunID returns an identifier that sorts by time: the time to the microsecond
// and three random bytes, in hexadecimal. It is that of the real clock, since
// later runs must have greater names.
func newRunID(now time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%s-%s", now.UTC().Format("20060102T150405.000000Z"), hex.EncodeToString(b[:]))
}
