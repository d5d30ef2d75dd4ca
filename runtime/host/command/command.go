// Package command runs commands, ends them with all that they have started, and ends what
// a run that died has left.
//
// Begin with [Exec].
package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kballard/go-shellquote"

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
	// Path is a colon-separated list of directories in which the command is
	// looked up, and its PATH. If empty, it is the PATH of this process.
	Path string
	// Timeout ends the command and everything it started; 0 means never.
	Timeout time.Duration
	// KeepLocale leaves the language settings as they are. Otherwise LC_ALL is
	// C.UTF-8, so that output can be parsed.
	KeepLocale bool
	// Stdin is the standard input.
	Stdin []byte
	// As is who the command runs as; nil for the user of this process.
	As *Login
	// Umask is the file mode creation mask in octal; "" for that of this process.
	Umask string
	// OnLine is called for each line of output as it comes; may be nil. A carriage return
	// ends a line too, and 64 KiB without an end are one.
	OnLine func(line string)

	// Files finds Dir without following the links of other users; a host sets it. Nil is for
	// the kernel, which follows them.
	Files *safepath.Resolver
}

// A Login is a user with what a login gives him, according to login(1).
type Login struct {
	UID, GID uint32
	// Groups is the supplementary groups.
	Groups []uint32
	// Name, Home and Shell become USER and LOGNAME, HOME and SHELL; "" for one that is
	// not known.
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
	if c.Files == nil || c.Files.Root == "/" {
		return ""
	}
	return c.Files.Root
}

// workingDir is the path of the working directory in this process.
func (c Cmd) workingDir() string { return c.root() + path.Join("/", c.Dir) }

// openDir opens the working directory, so that the command works in the one that was found,
// whatever gets its name meanwhile. It is nil if the kernel is to find it.
func (c Cmd) openDir() (*safepath.Handle, error) {
	if c.Files == nil || c.Dir == "" {
		return nil, nil
	}
	d, err := c.Files.Directory(path.Join("/", c.Dir))
	if safepath.IsMissing(err) {
		return nil, fmt.Errorf("there is no directory %s to run it in", c.Dir)
	}
	return d, safepath.PathError("chdir", c.Dir, err)
}

// underUmask has a shell set the mask and become the command. Go can set only that of the
// whole process.
const underUmask = `umask "$1" && shift && exec "$@"`

// String formats c so that a shell would read it.
func (c Cmd) String() string { return shellquote.Join(c.Argv...) }

// A Result is how a command ended.
type Result struct {
	// Stdout and Stderr hold at most OutputLimit bytes each: the first half and
	// the last.
	Stdout, Stderr []byte
	Code           int // exit code, 128+n if signal n ended it
}

// OutputLimit is how many bytes of each output of a command are kept.
const OutputLimit = 8 << 20

// Err returns nil if the command exited 0, and otherwise an error with the last
// lines of both its outputs.
func (r Result) Err(c Cmd) error {
	if r.Code == 0 {
		return nil
	}
	return fmt.Errorf("%s: exit status %d%s", c, r.Code, r.LastOutputs())
}

// LastWords returns ": " and the last lines that the command said, or "".
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

// LastOutputs returns ": " and the last lines of both outputs, or "". It is for
// commands of the user, of which either output may hold the reason.
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

// lastBytes is how much of an output goes into a message.
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

// LookPath finds a command in path, a colon-separated list of directories, or
// in the PATH of this process if path is empty. A name with a slash is itself.
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

// A NotFoundError says that there is no command of a name.
type NotFoundError struct {
	Name string
	Dirs []string // in which it was looked up
}

// Error names the command, and some of the directories.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("command %q not found in %s", e.Name, someOf(e.Dirs))
}

// someOf names the first of several directories and says how many more there are.
func someOf(dirs []string) string {
	const few = 3
	if len(dirs) <= few+1 {
		return strings.Join(dirs, ", ")
	}
	return fmt.Sprintf("%s and %d more directories", strings.Join(dirs[:few], ", "), len(dirs)-few)
}

// Exec is the Runner of a real machine.
type Exec struct {
	// Commands is told of what runs; may be nil.
	Commands *Commands
}

// grace is how long a command that is told to end may take to tidy up, and how
// long its outputs may stay open after it has ended. It is hurried if nobody wants
// to wait for it any more, which is so after a second interrupt.
const (
	grace   = 2 * time.Second
	hurried = 300 * time.Millisecond
)

// Run implements Runner.
func (e Exec) Run(ctx context.Context, c Cmd) (Result, error) {
	if len(c.Argv) == 0 {
		return Result{}, errors.New("no command specified")
	}
	file, err := LookPath(c.Argv[0], c.Path)
	if err != nil {
		return Result{}, err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%w after %s", ErrTimeout, c.Timeout))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, file)
	cmd.Args = c.Argv
	dir, err := c.openDir()
	if err != nil {
		return Result{}, err
	}
	defer dir.Close()
	cmd.Dir = cmp.Or(dir.ProcPath(), c.workingDir())
	other := c.As != nil && os.Geteuid() == 0
	running, environ := e.Commands.begin(c.String(), other)
	cmd.Env = append(c.environ(), environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !other, Setsid: other}
	if other {
		// In the session of root it could open the terminal, and type there as root (TIOCSTI).
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.As.UID, Gid: c.As.GID, Groups: c.As.Groups}
	}
	if c.Umask != "" {
		const shell = "/bin/sh"
		cmd.Path, cmd.Args = shell, append([]string{shell, "-c", underUmask, "sh", c.Umask, file}, c.Argv[1:]...)
	}
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	var stdout, stderr capture
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.OnLine != nil {
		lines := newLineWriter(c.OnLine)
		defer lines.Close()
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, lines), io.MultiWriter(&stderr, lines)
	}
	cmd.WaitDelay = grace + time.Second
	cmd.Cancel = func() error {
		group, patience := -cmd.Process.Pid, grace
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			patience, cmd.WaitDelay = hurried, hurried+100*time.Millisecond
		}
		time.AfterFunc(patience, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		return syscall.Kill(group, syscall.SIGTERM)
	}
	if err = cmd.Start(); err == nil {
		running.started(cmd.Process.Pid)
		err = cmd.Wait()
	}
	running.ended()
	res := Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	if cmd.ProcessState == nil {
		return res, err
	}
	res.Code = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Code = 128 + int(ws.Signal())
	}
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return res, fmt.Errorf("%s: %w", c, context.Cause(ctx))
	}
	// A command that leaves a daemon behind leaves its outputs open too.
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return res, err
}

func (c Cmd) environ() []string {
	env := append(os.Environ(), "PWD="+c.workingDir())
	if c.Path != "" {
		env = append(env, "PATH="+c.Path)
	}
	if !c.KeepLocale {
		env = append(env, "LC_ALL=C.UTF-8", "LANGUAGE=")
	}
	if c.As != nil {
		env = append(env, c.As.environ()...)
	}
	return append(env, c.Env...)
}

// capture keeps the beginning and the end of what is written to it.
type capture struct {
	head, tail bytes.Buffer
	left       int
}

// Write implements io.Writer. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if room := OutputLimit/2 - c.head.Len(); room > 0 {
		k := min(room, len(p))
		c.head.Write(p[:k])
		p = p[k:]
	}
	c.tail.Write(p)
	if c.tail.Len() > OutputLimit {
		cut := c.tail.Len() - OutputLimit/2
		c.left += cut
		c.tail.Next(cut)
	}
	return n, nil
}

// Bytes returns what was kept.
func (c *capture) Bytes() []byte {
	if cut := c.tail.Len() - OutputLimit/2; cut > 0 {
		c.left += cut
		c.tail.Next(cut)
	}
	out := c.head.Bytes()
	if c.left > 0 {
		out = append(out, fmt.Sprintf("\n[%d bytes left out]\n", c.left)...)
	}
	return append(out, c.tail.Bytes()...)
}

// lineWriter calls a function for each line.
type lineWriter struct {
	pw   *io.PipeWriter
	done sync.WaitGroup
}

func newLineWriter(onLine func(string)) *lineWriter {
	pr, pw := io.Pipe()
	w := &lineWriter{pw: pw}
	w.done.Go(func() {
		sc := bufio.NewScanner(pr)
		sc.Buffer(nil, 2*longestLine)
		sc.Split(splitLine)
		for sc.Scan() {
			onLine(sc.Text())
		}
		_, _ = io.Copy(io.Discard, pr)
	})
	return w
}

// longestLine is how many bytes a line of output has at most.
const longestLine = 64 << 10

// splitLine is a bufio.SplitFunc. What a command writes over its last line, such as how far
// it is, is a line of its own.
func splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i >= 0 && data[i] == '\r' && i+1 == len(data) && !atEOF:
		return 0, nil, nil // a line feed may follow
	case i >= 0 && bytes.HasPrefix(data[i:], []byte("\r\n")):
		return i + 2, data[:i], nil
	case i >= 0:
		return i + 1, data[:i], nil
	case len(data) >= longestLine || atEOF && len(data) > 0:
		return len(data), data, nil
	}
	return 0, nil, nil
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) { return w.pw.Write(p) }

// Close waits until the last line has been told.
func (w *lineWriter) Close() error {
	err := w.pw.Close()
	w.done.Wait()
	return err
}
