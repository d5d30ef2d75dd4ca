package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/terminal"
)

// NamesOf formats a list as in reports.
func NamesOf(list []string) string { return strings.Join(list, ", ") }

// Say prints a message about the work on standard error: standard output is for data.
func Say(e *Env, format string, args ...any) {
	terminal.Fprintf(e.Stderr, "%s\n", fmt.Sprintf(format, args...))
}

// Machine returns the host for the files that a command was asked to write.
func Machine(e *Env) *host.Host { return host.New(host.Options{Clock: e.Clock}) }

// An asideWriter passes on messages of another program to a person.
type asideWriter struct{ to *terminal.Writer }

// NewAsideWriter returns an asideWriter on standard error.
func NewAsideWriter(e *Env) io.Writer { return asideWriter{e.Stderr} }

// Write implements io.Writer.
func (w asideWriter) Write(p []byte) (int, error) {
	terminal.Fprintf(w.to, "%s", terminal.LinesText(string(p)))
	return len(p), w.to.Flush()
}
