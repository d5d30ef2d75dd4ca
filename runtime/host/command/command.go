// Package command runs commands, ends them with everything that they started, and ends the
// commands of dead runs.
//
// Begin with [Exec].
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kballard/go-shellquote"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Cmd is a command to run. It is run without a shell, with its standard
// input closed, in a process group of its own.
type Cmd struct {
	Argv []string
	// Dir is the working directory, / if empty.
	Dir string
	// Env is added to the environment of this process, as KEY=value.
	Env []string
	// Path is the colon-separated list of directories in which the command is looked up. It is
	// also the command's PATH. If empty, it is the PATH of this process.
	Path string
	// Timeout ends the command and everything it started; 0 means never.
	Timeout time.Duration
	// KeepLocale leaves the language settings as they are. Otherwise LC_ALL is
	// C.UTF-8, so that output can be parsed.
	KeepLocale bool
	// Stdin is the standard input.
	Stdin []byte
	// As is the user that the command runs as; nil for the user of this process.
	As *Login
	// Umask is the file mode creation mask in octal; "" for that of this process.
	Umask string
	// BelowRoot is set if the command runs on this machine even if the host has another root. It
	// acts on nothing outside of that root, because its arguments name the root (useradd --prefix),
	// or because it reads what belongs to the site (sops).
	BelowRoot bool
	// Changes are files that the command may change. If the run wrote one of them before, the change of the command
	// counts as a change of the run in ccm undo, and not as one by somebody else.
	Changes []string
	// OnLine is called for each line of output at once; may be nil. A carriage return ends a line
	// too, and so do 64 KiB without an end.
	OnLine func(line string)

	// Files resolves Dir without following links of other users; a host sets it. Nil leaves Dir to
	// the kernel, which follows such links.
	Files *safepath.Resolver
	// Chroot is the directory that the command has as its root, with its own /proc, /dev, /sys,
	// /run and /tmp; see [CanChroot]. A host sets it; "" for the root of this process.
	Chroot string
	// Binds are directories of this machine that the command sees in its /tmp, by the path there.
	// Only with Chroot.
	Binds map[string]string
	// NoDaemons keeps packages from starting services (policy-rc.d). Only with Chroot.
	NoDaemons bool
}

// A Login is a user with the environment of a login, as in login(1).
type Login struct {
	UID, GID uint32
	// Groups is the supplementary groups.
	Groups []uint32
	// Name, Home and Shell become USER and LOGNAME, HOME and SHELL; "" if unknown.
	Name, Home, Shell string
}

func (l *Login) environ() []string {
	var env []string
	for _, x := range [][2]string{{"HOME", l.Home}, {"USER", l.Name}, {"LOGNAME", l.Name}, {"SHELL", l.Shell}} {
		if x[1] != "" {
			env = append(env, x[0]+"="+x[1])
		}
	}
	return env
}

func (c Cmd) root() string {
	if c.Chroot != "" || c.Files == nil || c.Files.Root == "/" {
		return ""
	}
	return c.Files.Root
}

// workingDir is the path of the working directory in this process.
func (c Cmd) workingDir() string { return c.root() + path.Join("/", c.Dir) }

// openDir opens the working directory, so that a rename cannot change it meanwhile. It is nil if
// the kernel has to find the directory.
func (c Cmd) openDir() (*safepath.Handle, error) {
	if c.Files == nil || c.Dir == "" {
		return nil, nil
	}
	d, err := c.Files.Directory(path.Join("/", c.Dir))
	if safepath.IsMissing(err) {
		return nil, diag.Missing(fmt.Sprintf("working directory %s", c.Dir), "")
	}
	return d, safepath.PathError("chdir", c.Dir, err)
}

// String formats c for a shell.
func (c Cmd) String() string { return shellquote.Join(c.Argv...) }

// A Result is the result of a command.
type Result struct {
	// Stdout and Stderr have at most OutputLimit bytes each. A longer output keeps its beginning
	// and its end.
	Stdout, Stderr []byte
	Code           int // exit code, 128+n if signal n ended it
	// Signal is the signal that ended the command, 0 if it exited.
	Signal syscall.Signal
}

// Status describes how the command ended, as in "exit status 1" or "killed by SIGKILL".
func (r Result) Status() string {
	if r.Signal == 0 {
		return fmt.Sprintf("exit status %d", r.Code)
	}
	return "killed by " + cmp.Or(unix.SignalName(r.Signal), fmt.Sprintf("signal %d", int(r.Signal)))
}

// OutputLimit is the number of bytes of each output that are kept.
const OutputLimit = 8 << 20

// Err returns nil if the command exited 0, and otherwise an error with the last lines of its
// outputs.
func (r Result) Err(c Cmd) error {
	if r.Code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s%s", c, r.Status(), r.LastOutputs())
}

// LastWords returns ": " and the last lines of standard error or, without these, of standard
// output; or "".
func (r Result) LastWords() string {
	out := lastLines(r.Stderr, 5)
	if out == "" {
		out = lastLines(r.Stdout, 5)
	}
	if out == "" {
		return ""
	}
	return ": " + out
}

// LastOutputs returns ": " and the last lines of both outputs, or "". It is for commands of the
// user, whose reason may be in either.
func (r Result) LastOutputs() string {
	stderr, stdout := lastLines(r.Stderr, 10), lastLines(r.Stdout, 10)
	switch {
	case stderr == "" && stdout == "":
		return ""
	case stdout == "":
		return ": " + stderr
	case stderr == "":
		return ": " + stdout
	}
	return ": " + stderr + "\nstandard output: " + stdout
}

// lastBytes is the number of bytes of an output in a message.
const lastBytes = 4 << 10

// lastLines returns the last n lines of out, without the space around them.
func lastLines(out []byte, n int) string {
	text := strings.TrimSpace(string(out[max(0, len(out)-2*lastBytes):]))
	lines := strings.Split(text, "\n")
	last := strings.Join(lines[max(0, len(lines)-n):], "\n")
	if cut := len(last) - lastBytes; cut > 0 {
		return "..." + strings.ToValidUTF8(last[cut:], "")
	}
	return last
}

// A Runner runs commands. Its error means that the command did not start or
// did not run to its end; an exit code other than 0 is a Result.
type Runner interface {
	Run(ctx context.Context, c Cmd) (Result, error)
}

// ErrTimeout means that a command was ended because it took too long.
var ErrTimeout = errors.New("timed out")

// LookPath finds a command in path, a colon-separated list of directories, or in the PATH of this
// process if path is empty. A name with a slash is returned as it is.
func LookPath(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	if path == "" {
		path = os.Getenv("PATH")
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &NotFoundError{name, filepath.SplitList(path)}
}

// DefaultPath is where commands are if PATH is not set, and for root where sudo has no secure_path. It has no
// directories of a user.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// A NotFoundError reports that a command was not found.
type NotFoundError struct {
	Name string
	Dirs []string // the directories searched
}

// Error names the command, and some of the directories.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("command %q not found in %s", e.Name, someOf(e.Dirs))
}

// someOf lists the first of several directories and the number of the others.
func someOf(dirs []string) string {
	const few = 3
	if len(dirs) <= few+1 {
		return strings.Join(dirs, ", ")
	}
	return fmt.Sprintf("%s and %d more directories", strings.Join(dirs[:few], ", "), len(dirs)-few)
}
