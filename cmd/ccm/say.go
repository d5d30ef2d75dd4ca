package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/terminal"
)

// namesOf is a list as reports write it.
func namesOf(list []string) string { return strings.Join(list, ", ") }

// say tells what was done, on standard error: standard output is for data.
func say(e *env, format string, args ...any) {
	terminal.Fprintf(e.stderr, "%s\n", fmt.Sprintf(format, args...))
}

// machine returns the machine on which a command writes what it was asked for.
func machine(e *env) *host.Host { return host.New(host.Options{Clock: e.Clock}) }

// An asideWriter passes on what another program says to a person.
type asideWriter struct{ to *terminal.Writer }

// newAsideWriter returns one that writes to standard error.
func newAsideWriter(e *env) io.Writer { return asideWriter{e.stderr} }

// Write implements io.Writer.
func (w asideWriter) Write(p []byte) (int, error) {
	terminal.Fprintf(w.to, "%s", terminal.LinesText(string(p)))
	return len(p), w.to.Flush()
}
