package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/terminal"
)

// NamesOf is a list as reports write it.
func NamesOf(list []string) string { return strings.Join(list, ", ") }

// Say tells what was done, on standard error: standard output is for data.
func Say(e *Env, format string, args ...any) {
	terminal.Fprintf(e.Stderr, "%s\n", fmt.Sprintf(format, args...))
}

// Machine returns the machine on which a command writes what it was asked for.
func Machine(e *Env) *host.Host { return host.New(host.Options{Clock: e.Clock}) }

// An asideWriter passes on what another program says to a person.
type asideWriter struct{ to *terminal.Writer }

// NewAsideWriter returns one that writes to standard error.
func NewAsideWriter(e *Env) io.Writer { return asideWriter{e.Stderr} }

// Write implements io.Writer.
func (w asideWriter) Write(p []byte) (int, error) {
	terminal.Fprintf(w.to, "%s", terminal.LinesText(string(p)))
	return len(p), w.to.Flush()
}
