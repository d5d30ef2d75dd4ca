package cli

import (
	"io"
	"time"

	"github.com/luaccm/ccm/luaapi/repl/term"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// An Env is shared by the commands of one command line.
type Env struct {
	*site.Process  // whose methods load, run and record sites
	Stdout, Stderr *terminal.Writer
	Args           []string // of the command line, for messages
	Screen         *term.Mode
	Color          string
	HasSudo        bool          // the command has --sudo, and this is not root
	HasSite        bool          // a site is in this executable
	StateDir       string        // that the command line names, or ""
	Began          time.Time     // when main began
	StartCPU       time.Duration // processor time of the process until then
	Build          BuildInfo
}

// NewEnv returns an env that writes to the given writers.
func NewEnv(stdin io.Reader, stdout, stderr io.Writer, clock host.Clock, build BuildInfo) *Env {
	m := new(site.Messages)
	e := &Env{
		Process: &site.Process{Clock: clock, Stdin: stdin, Files: &site.Files{Messages: m}, Messages: m, Version: build.Version},
		Stdout:  terminal.NewWriter(stdout), Stderr: terminal.NewWriter(stderr), Screen: new(term.Mode), Build: build,
	}
	e.Secrets = secret.New(func() ([]byte, error) { return e.Files.ReadKey(e.StateDir) })
	e.Passphrase = e.askPassphrase
	m.W = e.Stderr
	return e
}
