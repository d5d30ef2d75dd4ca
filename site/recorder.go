package site

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// RecordOptions describe where and how runs are recorded.
type RecordOptions struct {
	// StateDir is the state directory; "" for the default.
	StateDir string
	// Limits bound the kept records; 0 means no bound.
	Limits state.Limits
	// LockTimeout is the time to wait for another run.
	LockTimeout time.Duration
	// Timeout is the time limit of a run; 0 means none.
	Timeout time.Duration
	// Root is the directory below which the file system is converged.
	Root string
	// Offline is that of [Options].
	Offline bool
}

// Store returns the store of a state directory, after checking that the directory is trusted:
// restore writes its contents, drift runs the guards in it.
func (p *Process) Store(dir string, limits state.Limits) (*state.Store, error) {
	dir = state.Dir(dir)
	if err := p.Files.CheckState(dir); err != nil {
		return nil, diag.About("state directory", err)
	}
	return state.Open(state.Options{Dir: dir, Image: p.State.imageOf(dir), Clock: p.Clock, Limits: limits, Effect: p.Effect, Warn: p.Messages.Warn, Secrets: p.Secrets}), nil
}

// A Recorder records runs in a state directory, one after the other, and makes hosts whose
// changes are recorded.
type Recorder struct {
	process *Process
	options RecordOptions
	writer  *state.RecordWriter // of the present run; nil for none
	// changed are the paths in an image that the run changed.
	changed   changedPaths
	changedMu sync.Mutex
	// work records commands and temporary directories that would be left behind if the process
	// died. It is nil while the lock is not held.
	work *state.Work
	lock *state.LockHandle // taken before the site was read; nil once the run has it
	// exclusive says that no other run can have changed anything since the site was read.
	exclusive bool
}

// NewRecorder returns a recorder with these options.
func (p *Process) NewRecorder(o RecordOptions) *Recorder { return &Recorder{process: p, options: o} }

// Load reads the script or manifest of a run that is recorded, but is not a run of the catalog.
func (r *Recorder) Load(ctx context.Context, file string, args []string, o *RunOptions) (*Site, error) {
	p := r.process
	p.Commands.SetRun(o.ID, nil)
	p.Files.setLimit(o.Site.EvalTimeout, o.Record.Timeout)
	return p.load(ctx, r.Host(o.Host), file, args, o.Site, loadOptions{})
}

// HostOptions are the options of a host whose changes are recorded.
type HostOptions struct {
	// Log takes the output of commands; nil drops it.
	Log *slog.Logger
	// Progress takes the progress of downloads. May be nil.
	Progress func(host.Progress)
	// Output takes the lines of output of commands, without secrets, with their resource. May be
	// nil.
	Output func(of *resource.Resource, line string)

	runner host.Runner // nil for the default
}

// Host returns the host.
func (r *Recorder) Host(o HostOptions) *host.Host {
	p := r.process
	if o.runner == nil {
		o.runner = p.runner()
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
		Offline: offline(r.options.Offline), Output: output, Root: r.options.Root, Runner: o.runner, Log: o.Log, Effect: p.Effect,
		BeforeChange: r.beforeChange, RecordTemporary: r.recordTemporary, Progress: o.Progress,
		Hold: r.hold, Extractions: &recordedExtractions{recorder: r},
	})
}

// hold begins the new content of a file that is written in place.
func (r *Recorder) hold(path string) (host.Held, error) {
	if r.work == nil {
		return host.HoldUnrecorded(path)
	}
	return r.work.Hold(path)
}

// beforeChange backs up an entry that is about to be changed.
func (r *Recorder) beforeChange(v *host.View, d host.PreImage) error {
	r.changedMu.Lock()
	if r.changed == nil {
		r.changed = make(changedPaths)
	}
	if v.Offline() != "" {
		r.changed[d.Path] = true
	}
	r.changedMu.Unlock()
	if r.writer == nil {
		return nil
	}
	return r.writer.BeforeChange(v, d)
}

// recordTemporary records a directory that would be left behind if this process died.
func (r *Recorder) recordTemporary(path string) (host.Temporary, error) {
	if r.work == nil {
		return unrecordedTemporary{}, nil
	}
	return r.work.RecordDirectory(path)
}

// unrecordedTemporary is a directory of no run.
type unrecordedTemporary struct{}

// Made implements host.Temporary.
func (unrecordedTemporary) Made(_, _ uint64) {}

// Gone implements host.Temporary.
func (unrecordedTemporary) Gone() {}

// beginWork ends the commands and removes the temporary directories of dead runs. From then on it
// records those of this run, until endWork. The lock of the state directory must be held.
func (r *Recorder) beginWork(store *state.Store, run string) {
	if r.work != nil {
		return
	}
	store.CleanUp()
	r.work = store.Work(run)
	r.process.Commands.SetRun(run, r.work.RecordCommand)
}

// endWork ends the record that beginWork began, before the lock is released.
func (r *Recorder) endWork() {
	if r.work == nil {
		return
	}
	r.process.Commands.SetRun("", nil)
	_ = r.work.Close()
	r.work = nil
}

// lockEarly takes the lock of the state directory before the site is read, if it is free, so that
// no other run changes what is looked at meanwhile. It does not make a missing state directory,
// because the site may have mistakes.
func (r *Recorder) lockEarly(ctx context.Context, run string) {
	p := r.process
	store, err := p.Store(r.options.StateDir, r.options.Limits)
	if err != nil {
		return // the run will report it
	}
	if _, err := os.Stat(filepath.Join(store.Dir(), "lock")); err != nil {
		return
	}
	held, err := state.Lock(ctx, store.Dir(), commandLine(p.Secrets), 0, p.Clock.Now())
	if err != nil {
		return // the run will wait for the lock, or name its holder
	}
	r.exclusive, r.lock = true, held
	r.beginWork(store, run)
}

// unlockIfUnused releases the lock, if the run has not taken it over.
func (r *Recorder) unlockIfUnused() {
	if r.lock != nil {
		r.endWork()
		_ = r.lock.Unlock()
		r.lock = nil
	}
}

// commandLine returns the name of this process in the lock.
func commandLine(secrets *secret.Keeper) string { return secrets.Redact(strings.Join(os.Args, " ")) }

// waitForLock takes the lock of a state directory. A signal ends the wait.
func (r *Recorder) waitForLock(ctx context.Context, dir string, now time.Time) (*state.LockHandle, error) {
	p := r.process
	within, cancel := p.Stop.Context(ctx)
	defer cancel()
	held, err := state.Lock(within, dir, commandLine(p.Secrets), r.options.LockTimeout, now)
	if err == nil {
		// Somebody else may have made the directory meanwhile.
		if err = p.Files.CheckState(dir); err != nil {
			_ = held.Unlock()
			held, err = nil, diag.About("state directory", err)
		}
	}
	if err != nil && p.Stop.IsSet() {
		return nil, ErrLockInterrupted
	}
	return held, err
}

// Begin takes the lock of the state directory and begins the record of a run.
func (r *Recorder) Begin(ctx context.Context, info state.RunInfo) (*RunState, error) {
	st, err := r.Open(info.Site, info.File)
	if err != nil {
		return nil, err
	}
	p := r.process
	now := p.Clock.Now()
	if st.lock = r.lock; st.lock != nil {
		r.lock = nil
	} else if st.lock, err = r.waitForLock(ctx, st.Store.Dir(), now); err != nil {
		return nil, err
	} else {
		// There was no lock file before, so no other run has begun since the site was read.
		r.exclusive = st.lock.First
	}
	r.beginWork(st.Store, info.ID)
	info.Host, info.Root = HostName(st.Root), st.Root
	info.Version, info.PID, info.Start = p.Version, os.Getpid(), now.UTC()
	if info.Command = info.Kind; info.Site != "" {
		info.Command += " " + info.Site
	}
	st.Writer, err = st.Store.BeginRecord(info)
	if err != nil {
		r.endWork()
		return nil, errors.Join(diag.About("state directory", err), st.lock.Unlock())
	}
	r.writer = st.Writer
	return st, nil
}

// HostName returns the name of the machine whose / is root, "" if unknown.
func HostName(root string) string {
	name, _ := facts.NodeName(&host.New(host.Options{Root: root}).View)
	return name
}

// Open opens the state directory for a plan, which needs only the records of earlier runs;
// Begin adds the record of this run.
func (r *Recorder) Open(site, file string) (*RunState, error) {
	root, err := absoluteRoot(r.options.Root)
	if err != nil {
		return nil, err
	}
	store, err := r.process.Store(r.options.StateDir, r.options.Limits)
	if err != nil {
		return nil, err
	}
	return &RunState{recorder: r, Store: store, Site: site, file: file, Root: root}, nil
}

// A RunTimeoutError is the end of a run that exceeded its time limit.
type RunTimeoutError struct{ limit time.Duration }

// Error names the limit.
func (e RunTimeoutError) Error() string { return "run exceeded the time limit of " + e.limit.String() }

// Limited returns ctx with the time limit of a run.
func (o *RecordOptions) Limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, o.Timeout, RunTimeoutError{o.Timeout})
}
