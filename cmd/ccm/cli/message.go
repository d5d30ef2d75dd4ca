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

// A messageWriter prints messages of another program for a person, such as those of ssh-keygen.
type messageWriter struct{ to *terminal.Writer }

// NewMessageWriter returns a messageWriter on standard error.
func NewMessageWriter(e *Env) io.Writer { return messageWriter{e.Stderr} }

// Write implements io.Writer.
func (w messageWriter) Write(p []byte) (int, error) {
	terminal.Fprintf(w.to, "%s", terminal.LinesText(string(p)))
	return len(p), w.to.Flush()
}
