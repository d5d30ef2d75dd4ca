// Package host is the machine that is being converged, and the only place with effects on it. A
// [View] can look at it, a [Host] can also change it. A function's argument shows which of the
// two it may do.
//
// Paths are absolute as the machine sees them. A host whose root is not "/"
// keeps everything below that directory, following links inside it as chroot
// would. Commands have it as their root (Chroot of [Cmd]), except those that
// say that they keep to it by themselves (BelowRoot).
//
// Begin with [New].
package host

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host/accounts"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/host/sources"
	"github.com/luaccm/ccm/runtime/host/systembus"
	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A View looks at a machine without changing it. It is safe for use by several
// goroutines at once.
type View struct {
	*machine
	overlay *overlay.View // nil outside plans
	lastDir *string       // the last directory that IsDirectory found; nil unless Brief
}

// machine is shared by all views of one machine.
type machine struct {
	root         string
	files        *safepath.Resolver // of the machine
	sources      *safepath.Resolver // of the user, always below /
	runner       Runner
	bus          systembus.Bus
	clock        Clock
	log          *slog.Logger
	accounts     *accounts.Accounts
	effect       func(op, path string) error
	beforeChange func(v *View, d PreImage) error
	refuse       func(argv []string) error
	foreign      bool
	offline      string

	transport       func() http.RoundTripper
	progress        func(Progress)
	output          func(of any, line string)
	recordTemporary func(path string) (Temporary, error)
	hold            func(path string) (Held, error)
	extractions     Extractions
	texts           *sources.Texts
	decrypt         func(name string, text []byte) ([]byte, error)
	sums            *sources.Sums
	scratches       *sync.Map // the Scratch directories in use
	sweeps          *target.Sweeps
	servers         *servers
}

// A Host is a View that can also change the machine.
type Host struct {
	View
	edited     *editedFile           // collects the writes of a file, or nil
	batchEntry *batchEntry           // receives the file of WriteFile for a batch, or nil
	onCommand  func(Result)          // called with the result of each finished command of Run, or nil
	onBehalfOf any                   // the reason of effects, see OnBehalfOf
	conflict   bool                  // see AfterConflict
	xattrs     Xattrs                // see WithXattrs
	caps       *filecap.Capabilities // see WithCapabilities
	keepLinks  bool                  // see KeepHardLinks
	keep       keepFunc              // see Keeping
}

// Options describe a host. The zero Options are the real machine.
type Options struct {
	Root   string        // the directory used as /, "" for / itself
	Runner Runner        // runs commands; nil for real ones, which implies Foreign
	Bus    systembus.Bus // the system bus; nil for the real one, which exists only below /
	Clock  Clock         // nil for the time of day
	Log    *slog.Logger  // nil for none
	// Effect is called before each single effect. If it fails, the effect fails with its error. Op
	// is the system call or command, path its object. Tests use it to fail or to kill a run at
	// every point.
	Effect func(op, path string) error
	// BeforeChange is called before an entry is changed, replaced, removed, or made. If it fails,
	// the effect fails with its error and the entry is untouched. May be nil.
	BeforeChange func(v *View, d PreImage) error
	// Refuse is asked before a command is run; if it fails, the command is not run: see
	// secret.Keeper.RefuseArgv. Nil refuses none.
	Refuse func(argv []string) error
	// Foreign is set if the Runner runs commands on this machine. With a root other than /, they
	// then have to enter it: Chroot of [Cmd].
	Foreign bool
	// Offline is the reason why no services run on this machine, see [View.Offline]; "" if they do.
	Offline string
	// Decrypt returns the plain text of an encrypted source; see [Encrypted]. Nil refuses such
	// sources.
	Decrypt func(name string, text []byte) ([]byte, error)
	// Transport carries downloads; nil for one that takes its proxy from the environment.
	Transport http.RoundTripper
	// Lookup returns the addresses of the name of a server, for plans; nil asks the resolver of the operating system.
	Lookup func(ctx context.Context, name string) ([]string, error)
	// AskNoServers is set if plans ask neither the resolver nor servers.
	AskNoServers bool
	// Progress is called with the progress of a download, at most ten times a second. May be nil.
	Progress func(Progress)
	// Output is called with each line that a command of [Host.Run] prints, at once. Of is the
	// value of [Host.OnBehalfOf]. Lines that the command's own OnLine takes are left out. May be
	// nil.
	Output func(of any, line string)
	// RecordTemporary records a directory, by its path for the operating system, before it is
	// made: if this process died, the directory would be left behind. Nil records nothing.
	RecordTemporary func(path string) (Temporary, error)
	// Hold begins the new content of a file that is written in place, by its path on the machine.
	// Nil holds it where a dying process loses it.
	Hold func(path string) (Held, error)
	// Extractions remembers archives beyond the run; nil remembers none.
	Extractions Extractions
}

// New returns a host.
func New(o Options) *Host {
	m := &machine{
		root: filepath.Clean("/" + o.Root), runner: o.Runner, bus: o.Bus, clock: o.Clock, log: o.Log, servers: newServers(o),
		effect: o.Effect, beforeChange: o.BeforeChange, refuse: o.Refuse, foreign: o.Foreign || o.Runner == nil, offline: o.Offline,
	}
	if o.Root != "" && !filepath.IsAbs(o.Root) {
		if abs, err := filepath.Abs(o.Root); err == nil {
			m.root = abs
		}
	}
	if m.runner == nil {
		m.runner = command.Exec{}
	}
	switch {
	case m.bus == nil && m.root == "/":
		m.bus = systembus.New()
	case m.bus == nil:
		m.bus = systembus.NoBus{Reason: "system bus not available below " + m.root}
	}
	if m.clock == nil {
		m.clock = RealClock{}
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.scratches = new(sync.Map)
	m.files = &safepath.Resolver{Root: m.root, UserName: func(uid uint32) string { return m.accounts.Users.NameOf(uid) }}
	m.sources = &safepath.Resolver{Root: "/", UserName: m.files.UserName}
	m.accounts, m.texts, m.sums, m.sweeps = accounts.New(m.root, m.getent), new(sources.Texts), new(sources.Sums), new(target.Sweeps)
	m.recordTemporary, m.decrypt, m.hold, m.extractions = o.RecordTemporary, o.Decrypt, o.Hold, o.Extractions
	if m.extractions == nil {
		m.extractions = noExtractions{}
	}
	if m.hold == nil {
		m.hold = HoldUnrecorded
	}
	m.progress, m.output, m.transport = o.Progress, o.Output, sync.OnceValue(fetch.NewTransport)
	if o.Transport != nil {
		m.transport = func() http.RoundTripper { return o.Transport }
	}
	return &Host{View: View{machine: m}}
}

// Commands, as package command runs them.
type (
	Cmd    = command.Cmd
	Result = command.Result
	Runner = command.Runner
	Login  = command.Login
)

// ErrTimeout means that a time limit was reached.
var ErrTimeout = command.ErrTimeout

// Resolver returns the resolver of paths of the machine.
func (m *machine) Resolver() *safepath.Resolver { return m.files }

// Root returns the directory used as /.
func (m *machine) Root() string { return m.root }

// Log returns the log of the run.
func (m *machine) Log() *slog.Logger { return m.log }

// Real returns the path under which a command finds name. Links in its directory are resolved
// inside the root; the last element is not.
func (m *machine) Real(name string) (string, error) {
	if m.root == "/" {
		return name, nil
	}
	p, err := m.files.At(name)
	if err != nil {
		return "", safepath.PathError("open", name, err)
	}
	defer p.Close()
	return filepath.Join(m.root, p.Path()), nil
}

// AfterConflict returns a copy of h that performs again what a batch could not do because of a
// conflict. The entry at the path is announced again.
func (h *Host) AfterConflict() *Host {
	c := *h
	c.conflict = true
	return &c
}

// Effect asks whether an effect may happen, and performs it.
func (h *Host) Effect(op, path string, effect func() error) error {
	if err := h.batchEntry.refuseOther(); err != nil {
		return err
	}
	if h.effect != nil {
		if err := h.effect(op, path); err != nil {
			return err
		}
	}
	return effect()
}

// SyncDirectory makes the names in the directory of a path durable.
func (h *Host) SyncDirectory(name string, d *safepath.Handle) error {
	return target.SyncDirectory(h, name, d)
}

// WithLog returns a copy of h that logs to log.
func (h *Host) WithLog(log *slog.Logger) *Host {
	c, m := *h, *h.machine
	m.log = log
	c.machine = &m
	return &c
}

// OnBehalfOf returns a copy of h whose effects carry who as their reason in BeforeChange
// ([PreImage.For]).
func (h *Host) OnBehalfOf(who any) *Host {
	c := *h
	c.onBehalfOf = who
	return &c
}

// WithRecord returns a copy of h that calls ran with the result of each command of Run.
func (h *Host) WithRecord(ran func(Result)) *Host {
	c := *h
	c.onCommand = ran
	return &c
}

// A RootError is the error of what would act on this machine instead of the one below a root other
// than /: commands, on an operating system on which they cannot enter a root.
type RootError struct {
	Refused string // such as "cannot run touch"
	Root    string // the directory used as /
}

// Error reports what is refused, and what to do instead.
func (e *RootError) Error() string {
	return fmt.Sprintf("%s below --root: it would act on this machine (run ccm inside, with chroot %s)", e.Refused, shellquote.Join(e.Root))
}

// ActsBelowRoot reports whether commands act on the machine of v: not if its root is a directory
// that they cannot enter.
func (v *View) ActsBelowRoot() bool { return v.root == "/" || !v.foreign || command.CanChroot }

// MayRun returns the reason why a command must not run, nil if it may. It is asked before each
// command of [View.Query] and [Host.Run], and predicts in a plan that a command is going to be
// refused.
func (v *View) MayRun(c Cmd) error { return v.refused(c) }

// refused is [View.MayRun].
func (m *machine) refused(c Cmd) error {
	if m.root != "/" && m.foreign && !command.CanChroot && !c.BelowRoot && len(c.Argv) > 0 {
		return &RootError{"cannot run " + c.Argv[0], m.root}
	}
	if m.refuse == nil {
		return nil
	}
	return m.refuse(c.Argv)
}

// CommandRoot returns the directory that commands have as their root, / unless they enter another
// one.
func (m *machine) CommandRoot() string {
	if m.foreign {
		return m.root
	}
	return "/"
}

// Offline returns the reason why the machine is not running, so that no service of it can be started and no setting of
// its kernel be made: it is a directory that commands enter, or a container without an init system. It is "" for a
// running machine.
func (m *machine) Offline() string {
	if m.offline == "" && m.CommandRoot() != "/" {
		return "nothing runs below " + m.root
	}
	return m.offline
}

// prepared returns c for the runner. A command that enters a root sees the scratch directories of
// this process that its words name in its /tmp.
func (m *machine) prepared(c Cmd) Cmd {
	c.Files = m.files
	if m.CommandRoot() == "/" || c.BelowRoot {
		return c
	}
	c.Chroot, c.Argv, c.Binds = m.root, slices.Clone(c.Argv), make(map[string]string)
	m.scratches.Range(func(dir, _ any) bool {
		from, to := dir.(string), filepath.Join("/tmp", filepath.Base(dir.(string)))
		for i, word := range c.Argv {
			if strings.Contains(word, from) {
				c.Argv[i] = strings.ReplaceAll(word, from, to)
				c.Binds[from] = to
			}
		}
		return true
	})
	return c
}

// CommandPath returns the path by which a command finds a file of the operating system.
func (v *View) CommandPath(file string) string {
	if rest, below := strings.CutPrefix(file, v.CommandRoot()+"/"); below {
		return "/" + rest
	}
	return file
}

// getent runs a command that looks a user or a group up, unless its arguments would reveal a
// secret.
func (m *machine) getent(ctx context.Context, argv []string) ([]byte, bool) {
	c := Cmd{Argv: argv}
	if m.refused(c) != nil {
		return nil, false
	}
	res, err := m.runner.Run(ctx, m.prepared(c))
	return res.Stdout, err == nil && res.Code == 0
}

// Run runs a command that changes the machine.
func (h *Host) Run(ctx context.Context, c Cmd) (Result, error) {
	var res Result
	if err := h.refused(c); err != nil {
		return res, err
	}
	c = h.prepared(c)
	c.NoDaemons = c.Chroot != ""
	if c.OnLine == nil && h.output != nil {
		c.OnLine = func(line string) { h.output(h.onBehalfOf, line) }
	}
	for _, path := range c.Changes {
		if err := h.BeforeChange(PreImage{Path: path, Noted: true}); err != nil {
			return res, err
		}
	}
	h.log.Debug("run", "command", c.String())
	err := h.Effect("run", c.String(), func() (err error) {
		res, err = h.runner.Run(ctx, c)
		return err
	})
	if h.onCommand != nil && err == nil {
		h.onCommand(res)
	}
	return res, err
}

// QueryBus makes calls on the system bus that only look. With a root other than / there is no
// bus: it would be that of another machine.
func (v *View) QueryBus(ctx context.Context, calls []systembus.Call) ([]systembus.Reply, error) {
	return v.bus.Call(ctx, calls)
}

// A Temporary is something on disk that nobody would remove if this process died. It is recorded
// before it is made, see [Options].
type Temporary interface {
	// Made records its device and inode, once it is made.
	Made(dev, ino uint64)
	// Gone records that it was removed.
	Gone()
}

type noTemporary struct{}

func (noTemporary) Made(dev, ino uint64) {}

func (noTemporary) Gone() {}

// TrackTemporary records a directory that is about to be made, by its path for the operating
// system.
func (h *Host) TrackTemporary(path string) (Temporary, error) {
	if h.recordTemporary == nil {
		return noTemporary{}, nil
	}
	return h.recordTemporary(path)
}
