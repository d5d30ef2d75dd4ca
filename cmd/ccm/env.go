package main

import (
	"io"
	"time"

	"github.com/luaccm/ccm/luaapi/repl/term"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// An env is what the commands of one command line share.
type env struct {
	*site.Process  // whose Begin and Load the commands call
	stdout, stderr *terminal.Writer
	args           []string // of the command line, for messages
	screen         *term.Mode
	color          string
	hasSudo        bool          // the command has --sudo, and this is not root
	hasSite        bool          // a site is in this executable
	stateDir       string        // that the command line names, or ""
	began          time.Time     // when main began
	before         time.Duration // what the process had used by then
	build          buildInfo
}

// newEnvOf returns an env that writes to the given writers.
func newEnvOf(stdin io.Reader, stdout, stderr io.Writer, clock host.Clock, build buildInfo) *env {
	m := new(site.Messages)
	e := &env{
		Process: &site.Process{Clock: clock, Stdin: stdin, Files: &site.Files{Messages: m}, Messages: m, Version: build.Version},
		stdout:  terminal.NewWriter(stdout), stderr: terminal.NewWriter(stderr), screen: new(term.Mode), build: build,
	}
	e.Secrets = secret.New(func() ([]byte, error) { return e.Files.ReadKey(e.stateDir) })
	e.Passphrase = e.askPassphrase
	m.W = e.stderr
	return e
}
