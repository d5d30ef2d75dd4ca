package site

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// RecordOptions say where runs are recorded, and how.
type RecordOptions struct {
	// StateDir is the state directory; "" for the usual one.
	StateDir string
	// Limits are those of what is kept; nothing that is 0 is limited.
	Limits state.Limits
	// LockTimeout is how long to wait for another run to end.
	LockTimeout time.Duration
	// Timeout ends a run after this long; 0 never.
	Timeout time.Duration
	// Root is the directory below which the file system is converged.
	Root string
}

// Store returns a state directory. It is trusted: restore brings back what it holds,
// drift asks the guards that it names.
func (p *Process) Store(dir string, limits state.Limits) (*state.Store, error) {
	dir = state.Dir(dir)
	if err := p.Files.CheckState(dir); err != nil {
		return nil, diag.About("state directory", err)
	}
	return state.Open(state.Options{Dir: dir, Clock: p.Clock, Limits: limits, Effect: p.Effect, Warn: p.Messages.Warn, Secrets: p.Secrets}), nil
}

// A Recorder records runs in a state directory, one after the other, and makes the
// hosts whose changes are recorded.
type Recorder struct {
	process *Process
	options RecordOptions
	writer  *state.RecordWriter // of the run that is recorded; nil if none is
	// work records what would be left over if the process died: commands, temporary
	// directories. It is nil while the lock is not held.
	work *state.Work
	lock *state.LockHandle // taken before the site was read; nil once a run has it
	// exclusive says that no other run has changed anything since the site was read.
	exclusive bool
}

// NewRecorder returns what records runs as the options say.
func (p *Process) NewRecorder(o RecordOptions) *Recorder { return &Recorder{process: p, options: o} }

// HostOptions are those of a host whose changes are recorded.
type HostOptions struct {
	// Log takes what commands say; nil drops it.
	Log *slog.Logger
	// Progress takes how far downloads are. May be nil.
	Progress func(host.Progress)
	// Output takes the lines that commands write, without secrets, and whose they are. May
	// be nil.
	Output func(of *resource.Resource, line string)

	runner host.Runner // nil for any
}

// host returns the machine.
func (r *Recorder) host(o HostOptions) *host.Host {
	p := r.process
	if o.runner == nil {
		o.runner = p.Exec()
	}
	var output func(of any, line string)
	if o.Output != nil {
		output = func(of any, line string) {
			if r, ok := of.(*resource.Resource); ok {
				o.Output(r, p.Secrets.Redact(line))
			}
		}
	}
	return p.newHost(host.Options{
		Output: output, Root: r.options.Root, Runner: o.runner, Log: o.Log, Effect: p.Effect,
		BeforeChange: r.beforeChange, RecordTemporary: r.temporary, Progress: o.Progress,
	})
}

// beforeChange backs up what a host is about to change.
func (r *Recorder) beforeChange(v *host.View, d host.PreImage) error {
	if r.writer == nil {
		return nil
	}
	return r.writer.BeforeChange(v, d)
}

// temporary records a directory that would be left behind if this process died.
func (r *Recorder) temporary(path string) (host.Temporary, error) {
	if r.work == nil {
		return unrecordedTemporary{}, nil
	}
	return r.work.Directory(path)
}

// unrecordedTemporary is a directory that belongs to no run.
type unrecordedTemporary struct{}

// Made implements host.Temporary.
func (unrecordedTemporary) Made(_, _ uint64) {}

// Gone implements host.Temporary.
func (unrecordedTemporary) Gone() {}

// beginWork ends the commands and removes the temporary directories that earlier runs have
// left over, and records those of this run from now on, until endWork. The lock of the state
// directory is held.
func (r *Recorder) beginWork(store *state.Store, run string) {
	if r.work != nil {
		return
	}
	store.CleanUp()
	r.work = store.Work(run)
	r.process.Commands.Begin(run, r.work.Command)
}

// endWork ends what beginWork has begun, before the lock is given back.
func (r *Recorder) endWork() {
	if r.work == nil {
		return
	}
	r.process.Commands.Begin("", nil)
	_ = r.work.Close()
	r.work = nil
}

// lockEarly takes the lock of the state directory before the site is read, if that
// can be done at once, so that no other run changes what is looked at meanwhile. A
// state directory that is not there is not made for that: the site may have
// mistakes.
func (r *Recorder) lockEarly(ctx context.Context, run string) {
	p := r.process
	store, err := p.Store(r.options.StateDir, r.options.Limits)
	if err != nil {
		return // it will be said
	}
	if _, err := os.Stat(filepath.Join(store.Dir(), "lock")); err != nil {
		return
	}
	held, err := state.Lock(ctx, store.Dir(), commandLine(p.Secrets), 0, p.Clock.Now())
	if err != nil {
		return // the run will wait for it, or say who has it
	}
	r.exclusive, r.lock = true, held
	r.beginWork(store, run)
}

// unlockEarly gives the lock back, if the run did not come to hold it.
func (r *Recorder) unlockEarly() {
	if r.lock != nil {
		r.endWork()
		_ = r.lock.Unlock()
		r.lock = nil
	}
}

// commandLine returns how the lock names this process.
func commandLine(secrets *secret.Keeper) string { return secrets.Redact(strings.Join(os.Args, " ")) }

// waitForLock takes the lock of a state directory. A signal ends the wait for it.
func (r *Recorder) waitForLock(ctx context.Context, dir string, now time.Time) (*state.LockHandle, error) {
	p := r.process
	within, cancel := p.UntilStopped(ctx)
	defer cancel()
	held, err := state.Lock(within, dir, commandLine(p.Secrets), r.options.LockTimeout, now)
	if err == nil {
		// It may have been made by somebody else meanwhile.
		if err = p.Files.CheckState(dir); err != nil {
			_ = held.Unlock()
			held, err = nil, diag.About("state directory", err)
		}
	}
	if err != nil && p.Stop.isSet() {
		return nil, ErrLockInterrupted
	}
	return held, err
}

// begin takes the lock of the state directory and begins the record of a run.
func (r *Recorder) begin(ctx context.Context, info state.Info) (*runRecord, error) {
	rec, err := r.openRecord(info.Site, info.File)
	if err != nil {
		return nil, err
	}
	p := r.process
	now := p.Clock.Now()
	if rec.lock = r.lock; rec.lock != nil {
		r.lock = nil
	} else if rec.lock, err = r.waitForLock(ctx, rec.store.Dir(), now); err != nil {
		return nil, err
	} else {
		r.exclusive = rec.lock.First
	}
	r.beginWork(rec.store, info.ID)
	info.Host, info.Root = HostName(rec.root), rec.root
	info.Version, info.PID, info.Start = p.Version, os.Getpid(), now.UTC()
	if info.Command = info.Kind; info.Site != "" {
		info.Command += " " + info.Site
	}
	rec.writer, err = rec.store.Begin(info)
	if err != nil {
		r.endWork()
		return nil, errors.Join(diag.About("state directory", err), rec.lock.Unlock())
	}
	r.writer = rec.writer
	return rec, nil
}

// HostName returns the name of the machine that has root as its /, "" if it cannot be found.
func HostName(root string) string {
	name, _ := facts.NodeName(&host.New(host.Options{Root: root}).View)
	return name
}

// openRecord returns what is remembered of earlier runs of a site. That is all that a plan
// needs; begin adds the record of this run.
func (r *Recorder) openRecord(site, file string) (*runRecord, error) {
	root, err := filepath.Abs(filepath.Join("/", r.options.Root))
	if !filepath.IsAbs(r.options.Root) && r.options.Root != "" {
		root, err = filepath.Abs(r.options.Root)
	}
	if err != nil {
		return nil, err
	}
	store, err := r.process.Store(r.options.StateDir, r.options.Limits)
	if err != nil {
		return nil, err
	}
	return &runRecord{recorder: r, store: store, site: site, file: file, root: root}, nil
}

// errRunTimeout says that a run took longer than it may.
type errRunTimeout struct{ limit time.Duration }

// Error says how long it may take.
func (e errRunTimeout) Error() string { return "the run took longer than " + e.limit.String() }

// limited returns ctx with the time limit of a run.
func (o *RecordOptions) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, o.Timeout, errRunTimeout{o.Timeout})
}
