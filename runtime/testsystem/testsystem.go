// Package testsystem makes throw-away systems on which a site is tested: containers with an init system, copies of a
// directory, and machines that are there.
//
// Begin with [Pool.Start].
package testsystem

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// A Driver makes systems of one kind.
type Driver interface {
	// Name is the word of the driver, as in --driver and in the record of a system.
	Name() string
	// Check returns why the driver does not work here.
	Check() error
	// Make makes a system and starts it. It writes what [Driver.Reclaim] needs to the record before it makes
	// anything else.
	Make(ctx context.Context, r *Record) (System, error)
	// Attach returns the system of a record that another process has kept.
	Attach(ctx context.Context, r *Record) (System, error)
	// Reclaim removes what is left of a system whose process has ended.
	Reclaim(r *Record) error
}

// A System is a machine that is thrown away after a test. Its methods are not called at the same time, but for Exec.
type System interface {
	// Exec runs a command as root, and returns its exit status. The error means that it did not run to its end.
	Exec(ctx context.Context, c Cmd) (int, error)
	// Snapshot remembers the files for Restore. It may reboot the system.
	Snapshot(ctx context.Context) error
	// Restore brings the files of the last snapshot back, or those that the system was made with. Processes end.
	Restore(ctx context.Context) error
	// Reboot shuts the system down and boots it. It returns [ErrNoInit] if the system does not boot.
	Reboot(ctx context.Context) error
	// Keep makes the system outlive this process.
	Keep(ctx context.Context) error
	// Remove ends the system, and removes what it left on this machine. The context may not be over.
	Remove(ctx context.Context) error
}

// ErrNoInit means that a system has no init system, so it has no services and cannot reboot.
var ErrNoInit = diag.Lacks("the system", "an init system")

// A Cmd is a command in a system. It has a clean environment: root's HOME, the usual PATH, LANG=C.UTF-8.
type Cmd struct {
	Argv []string
	// Env is added to the environment, as KEY=value.
	Env []string
	// Stdin, Stdout and Stderr may be nil.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal gives the command a terminal: that of this process, which the streams above must be.
	Terminal bool
}

// Output runs a command and returns what it printed to standard output. An exit status other than 0 is an error
// with the last line that the command printed.
func Output(ctx context.Context, s System, argv ...string) (string, error) {
	var out, problem bytes.Buffer
	code, err := s.Exec(ctx, Cmd{Argv: argv, Stdout: &out, Stderr: &problem})
	if err != nil {
		return "", err
	}
	if code != 0 {
		return out.String(), fmt.Errorf("%s: %w%s", argv[0], diag.ExitStatus(code), lastLine(problem.String()))
	}
	return out.String(), nil
}

// lastLine returns ": " and the last line of a text, or "".
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// Copy writes a file in a system. The mode is in octal, as for chmod. Missing directories are made.
func Copy(ctx context.Context, s System, from io.Reader, to, mode string) error {
	const script = `mkdir -p "${1%/*}/" && cat > "$1.new" && chmod "$2" "$1.new" && mv -f "$1.new" "$1"`
	var problem bytes.Buffer
	code, err := s.Exec(ctx, Cmd{Argv: []string{"sh", "-c", script, "sh", to, mode}, Stdin: from, Stderr: &problem})
	if err == nil && code != 0 {
		err = fmt.Errorf("%w%s", diag.ExitStatus(code), lastLine(problem.String()))
	}
	if err != nil {
		return diag.Cannot("copy", to, err)
	}
	return nil
}

// A Target is a system that a test asks for.
type Target struct {
	// Name is the text of the user, such as "debian:12" or "ssh:web1".
	Name string
	// Driver is the driver that the name requires, "" for any that knows the distribution.
	Driver string
	// Arg is the part of the name behind the driver, such as a directory or a host.
	Arg string
	// Distribution and Release are of a system without a Driver, such as debian and 12.
	Distribution, Release string
}

// prefixes are the drivers that a name may begin with. A system of "image" is booted by systemd-nspawn.
var prefixes = map[string]string{"image": nspawnName, "qemu": qemuName, "root": rootName, "ssh": sshName}

// alias matches a name of the user before a system.
var alias = lazyregexp.New(`^([a-z0-9][a-z0-9.:-]*)=(.+)$`)

// ParseTarget reads the name of a system: DISTRIBUTION:RELEASE, image:PATH, qemu:IMAGE, root:DIR or ssh:HOST. Another name for
// reports may be before it, as in web=image:/srv/web.
func ParseTarget(name string) (Target, error) {
	if m := alias().FindStringSubmatch(name); m != nil {
		t, err := ParseTarget(m[2])
		t.Name = m[1]
		return t, err
	}
	kind, arg, ok := strings.Cut(name, ":")
	if driver := prefixes[kind]; driver != "" && arg != "" {
		return Target{Name: name, Driver: driver, Arg: arg}, nil
	}
	var known []string
	for _, d := range distributions {
		known = append(known, d.name)
	}
	if !ok || arg == "" {
		err := diag.Expected("DISTRIBUTION:RELEASE such as debian:12, image:PATH, qemu:IMAGE, root:DIR or ssh:HOST").Got("%q", name)
		return Target{}, diag.At(diag.Pos{}, err)
	}
	if !slices.Contains(known, kind) {
		others := strings.Join(known, ", ") + ", or a system of your own with image:PATH"
		return Target{}, unknown("distribution", kind, append(known, slices.Sorted(maps.Keys(prefixes))...), others)
	}
	if strings.ContainsFunc(arg, func(c rune) bool {
		return c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	}) {
		return Target{}, diag.At(diag.Pos{}, diag.Expected("a release of %s such as %s", kind, exampleOf(kind)).Got("%q", arg))
	}
	return Target{Name: name, Distribution: kind, Release: arg}, nil
}

// unknown returns the error for a name that is not known, with the nearest one or a text about all.
func unknown(kind, name string, known []string, all string) error {
	err := diag.Unknown(kind, name, known)
	if diag.HintOf(err) != "" {
		return diag.At(diag.Pos{}, err)
	}
	return diag.At(diag.Pos{}, err).WithHint("use one of %s", all)
}

// environ is the environment of commands in a system.
func environ(c Cmd, term string) []string {
	env := []string{
		"HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/sh", "LANG=C.UTF-8", "SYSTEMD_PAGER=",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	}
	if c.Terminal && term != "" {
		env = append(env, "TERM="+term)
	}
	return append(env, c.Env...)
}
