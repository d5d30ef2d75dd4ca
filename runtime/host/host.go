// Package host is the machine that is being converged, and the one place with
// effects on it. A [View] can look at it, a [Host] can also change it: which of
// the two a function is given says what it may do.
//
// Paths are absolute as the machine sees them. A host whose root is not "/"
// keeps everything below that directory, following links inside it as chroot
// would; commands are not confined.
//
// Begin with [New].
package host

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"

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
	plan    *overlay.View // what a plan assumes to have been done, nil outside plans
	lastDir *string       // the last directory that IsDirectory has found, nil unless Brief
}

// machine is what all views of one machine share.
type machine struct {
	root         string
	files        *safepath.Resolver // of the machine
	sources      *safepath.Resolver // of the user, below / always
	runner       Runner
	bus          systembus.Bus
	clock        Clock
	log          *slog.Logger
	accounts     *accounts.Accounts
	effect       func(op, path string) error
	beforeChange func(v *View, d PreImage) error
	refuse       func(argv []string) error

	transport       func() http.RoundTripper
	progress        func(Progress)
	output          func(of any, line string)
	recordTemporary func(path string) (Temporary, error)
	texts           *sources.Texts
	decrypt         func(name string, text []byte) ([]byte, error)
	sums            *sources.Sums
	scratches       *sync.Map // the directories of Scratch that are in use
	sweeps          *target.Sweeps
}

// A Host is a View that can also change the machine.
type Host struct {
	View
	edit       *Edit        // collects what WriteFile is given instead of writing it, or nil
	batchEntry *batchEntry  // takes the file that WriteFile writes until its batch is committed, or nil
	onCommand  func(Result) // what Run tells of commands that ran to their end, or nil
	onBehalfOf any          // on whose behalf things are done
	conflict   bool         // see AfterConflict
}

// Options describe a host. The zero Options are the real machine.
type Options struct {
	Root   string        // the directory that stands for /, "" for / itself
	Runner Runner        // runs commands; nil for real ones
	Bus    systembus.Bus // the system bus; nil for the real one, which there is below / only
	Clock  Clock         // nil for the time of day
	Log    *slog.Logger  // nil for none
	// Effect is called before each single effect, and the effect fails with its
	// error. Op is the system call or command, path what it is about. Tests use
	// it to fail and to kill at every point of a run.
	Effect func(op, path string) error
	// BeforeChange is called before what stands at a path is changed, replaced or
	// removed, and before something is made where nothing stands. If it fails, the
	// effect fails with its error and what stands there is untouched. May be nil.
	BeforeChange func(v *View, d PreImage) error
	// Refuse is asked before a command is run, which is not if it fails: see
	// secret.Keeper.RefuseArgv. Nil refuses none.
	Refuse func(argv []string) error
	// Decrypt returns what an encrypted source holds; see [Encrypted]. Nil refuses them.
	Decrypt func(name string, text []byte) ([]byte, error)
	// Transport carries downloads; nil for one that asks the environment for a
	// proxy.
	Transport http.RoundTripper
	// Progress is called with how far a download is, ten times a second at most; nil if
	// nobody wants to know.
	Progress func(Progress)
	// Output is called with each line that a command of [Host.Run] writes, as it comes, and on
	// whose behalf the command runs ([Host.OnBehalfOf]). A line that the command's own
	// OnLine takes is not told. Nil if nobody wants to know.
	Output func(of any, line string)
	// RecordTemporary records a directory that would be left behind if this process died, by
	// its path for the operating system, before it is made. Nil records nothing.
	RecordTemporary func(path string) (Temporary, error)
}

// New returns a host.
func New(o Options) *Host {
	m := &machine{root: filepath.Clean("/" + o.Root), runner: o.Runner, bus: o.Bus, clock: o.Clock, log: o.Log, effect: o.Effect, beforeChange: o.BeforeChange, refuse: o.Refuse}
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
		m.bus = systembus.NoBus{Reason: "there is no system bus below " + m.root}
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
	m.recordTemporary, m.decrypt = o.RecordTemporary, o.Decrypt
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

// ErrTimeout means that something was ended because it took too long.
var ErrTimeout = command.ErrTimeout

// Resolver returns what finds the paths of the machine.
func (m *machine) Resolver() *safepath.Resolver { return m.files }

// Root returns the directory that stands for /.
func (m *machine) Root() string { return m.root }

// Log returns where the story of a run is told.
func (m *machine) Log() *slog.Logger { return m.log }

// Real returns where the named path is for a command. Links in its directory are
// followed inside the root, its last element is not followed.
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

// AfterConflict returns a copy of h for doing what a batch could not do, because something
// else stood there than what was announced: that is announced again.
func (h *Host) AfterConflict() *Host {
	c := *h
	c.conflict = true
	return &c
}

// Effect asks whether an effect may happen and makes it happen.
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

// SyncDirectory makes what happened to the names in the directory of a path durable.
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

// OnBehalfOf returns a copy of h that gives the reason for its effects to BeforeChange
// ([PreImage.For]).
func (h *Host) OnBehalfOf(who any) *Host {
	c := *h
	c.onBehalfOf = who
	return &c
}

// WithRecord returns a copy of h that tells how each command of Run has ended.
func (h *Host) WithRecord(ran func(Result)) *Host {
	c := *h
	c.onCommand = ran
	return &c
}

// refused returns why a command is not run.
func (m *machine) refused(c Cmd) error {
	if m.refuse == nil {
		return nil
	}
	return m.refuse(c.Argv)
}

// getent runs a command that looks a user or a group up. It is not run if everybody could
// read something secret then.
func (m *machine) getent(ctx context.Context, argv []string) ([]byte, bool) {
	c := Cmd{Argv: argv}
	if m.refused(c) != nil {
		return nil, false
	}
	res, err := m.runner.Run(ctx, c)
	return res.Stdout, err == nil && res.Code == 0
}

// Run runs a command that changes the machine.
func (h *Host) Run(ctx context.Context, c Cmd) (Result, error) {
	var res Result
	if err := h.refused(c); err != nil {
		return res, err
	}
	c.Files = h.files
	if c.OnLine == nil && h.output != nil {
		c.OnLine = func(line string) { h.output(h.onBehalfOf, line) }
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

// QueryBus makes calls on the system bus that only ask. Below another root than
// / there is no bus: it would be that of the machine itself.
func (v *View) QueryBus(ctx context.Context, calls []systembus.Call) ([]systembus.Reply, error) {
	return v.bus.Call(ctx, calls)
}

// A Temporary is something that is on the disk while it is worked on, and that nobody
// would remove if this process died. It is told of before it is made, see
// [Options].
type Temporary interface {
	// Made tells what it is, once it is there.
	Made(dev, ino uint64)
	// Gone tells that it is not there any more.
	Gone()
}

type noTemporary struct{}

func (noTemporary) Made(dev, ino uint64) {}

func (noTemporary) Gone() {}

// TrackTemporary tells of a directory that is about to be made, by its path for the
// operating system.
func (h *Host) TrackTemporary(path string) (Temporary, error) {
	if h.recordTemporary == nil {
		return noTemporary{}, nil
	}
	return h.recordTemporary(path)
}
