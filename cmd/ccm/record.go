package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
)

// recordFlags are the flags of commands that change the machine and record it.
type recordFlags struct {
	timeout    time.Duration
	backupSize resources.Size
	backupAge  time.Duration
}

func (f *recordFlags) add(fs *pflag.FlagSet) {
	f.backupSize = resources.Size(state.DefaultLimits.Bytes)
	fs.DurationVar(&f.timeout, "timeout", 0, "end the run after this long; 0 means never")
	fs.Func("backup-size", "how much the backups of all runs may take, as a `SIZE` such as 500MiB (default "+f.backupSize.String()+")",
		func(text string) error { return f.backupSize.UnmarshalText([]byte(text)) })
	fs.DurationVar(&f.backupAge, "backup-age", state.DefaultLimits.Age, "how long runs and their backups are kept")
}

func (f *recordFlags) limits() state.Limits {
	limits := state.DefaultLimits
	if f.backupSize > 0 {
		limits.Bytes = int64(f.backupSize)
	}
	if f.backupAge > 0 {
		limits.Age = f.backupAge
	}
	return limits
}

// store returns the state directory that the flag names. What it says is believed:
// restore brings back what it holds, drift asks the guards that it names.
func (e *env) store(dir string, limits state.Limits) (*state.Store, error) {
	dir = state.Dir(dir)
	if err := e.checkState(dir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return state.Open(state.Options{Dir: dir, Clock: e.clock, Limits: limits, Effect: e.effect, Warn: e.warn, Secrets: e.secrets}), nil
}

// warn tells of what is wrong and does not keep ccm from its work.
func (e *env) warn(message string) {
	terminal.Fprintf(e.stderr, "ccm: warning: %s\n", terminal.IndentedText(message, "    "))
}

// keep is what hosts tell of what they are about to change.
func (e *env) keep(v *host.View, d host.PreImage) error {
	if e.recording == nil {
		return nil
	}
	return e.recording.BeforeChange(v, d)
}

// exec returns what runs commands.
func (e *env) exec() command.Exec { return command.Exec{Commands: e.commands} }

// leaves is what hosts tell of directories that would be left behind.
func (e *env) leaves(path string) (host.Temporary, error) {
	if e.work == nil {
		return nothingLeft{}, nil
	}
	return e.work.Directory(path)
}

// nothingLeft is what is not recorded, because no run goes on.
type nothingLeft struct{}

// Made implements host.Temporary.
func (nothingLeft) Made(_, _ uint64) {}

// Gone implements host.Temporary.
func (nothingLeft) Gone() {}

// beginWork finishes off what earlier runs have left behind, and records what this
// one begins. The lock of the state directory is held.
func (e *env) beginWork(store *state.Store, run string) {
	if e.work != nil {
		return
	}
	store.FinishOff()
	e.work = store.Work(run)
	e.commands.Begin(run, e.work.Command)
}

// endWork ends that, before the lock is given back.
func (e *env) endWork() {
	if e.work == nil {
		return
	}
	e.commands.Begin("", nil)
	_ = e.work.Close()
	e.work = nil
}

// A record is what is remembered of earlier runs and, unless it is a plan, the
// record of this one.
type record struct {
	env   *env
	store *state.Store
	site  string
	root  string
	run   *state.Run  // nil in a plan
	lock  *state.Held // nil in a plan
}

// record takes the lock of the state directory and begins the record of a run,
// or for a plan only looks. Kind is what the run is, site what it applies. End
// must be called.
func (e *env) record(ctx context.Context, f *runFlags, id, kind, site string) (*record, error) {
	root, err := filepath.Abs(filepath.Join("/", f.root))
	if !filepath.IsAbs(f.root) && f.root != "" {
		root, err = filepath.Abs(f.root)
	}
	if err != nil {
		return nil, err
	}
	store, err := e.store(f.stateDir, f.limits())
	if err != nil {
		return nil, err
	}
	r := &record{env: e, store: store, site: site, root: root}
	if f.noop {
		return r, nil
	}
	now := e.clock.Now()
	if r.lock = e.held; r.lock != nil {
		e.held = nil
	} else if r.lock, err = e.lock(ctx, r.store.Dir(), f.lockTimeout, now); err != nil {
		return nil, err
	} else {
		e.alone = r.lock.First
	}
	e.beginWork(r.store, id)
	r.run, err = r.store.Begin(state.Info{
		ID: id, Kind: kind, Site: site, Root: root, Command: commandOf(kind, site), Version: readBuildInfo().Version,
		PID: os.Getpid(), Start: now.UTC(), Inputs: e.recorded(e.inputs),
	})
	if err != nil {
		e.endWork()
		return nil, errors.Join(fmt.Errorf("state directory: %w", err), r.lock.Unlock())
	}
	e.recording = r.run
	return r, nil
}

func commandOf(kind, site string) string {
	if site == "" {
		return kind
	}
	return kind + " " + site
}

// lock takes the lock of a state directory. A signal ends the wait for it.
func (e *env) lock(ctx context.Context, dir string, wait time.Duration, now time.Time) (*state.Held, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	held, err := state.Lock(ctx, dir, e.secrets.Redact(strings.Join(os.Args, " ")), wait, now)
	if err == nil {
		// It may have been made by somebody else meanwhile.
		if err = e.checkState(dir); err != nil {
			_ = held.Unlock()
			held, err = nil, fmt.Errorf("state directory: %w", err)
		}
	}
	select {
	case <-e.stop:
		if err != nil {
			return nil, status(exitInterrupted)
		}
	default:
	}
	return held, err
}

// attach has an engine make up for what earlier runs have left over, and record
// what it does.
func (r *record) attach(engine *converge.Engine, c *catalog.Catalog) error {
	if err := r.env.conceal(engine, r.store); err != nil {
		return err
	}
	if r.run == nil {
		pending, damaged, err := r.store.Pending()
		if err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
		if damaged > 0 {
			r.env.warn(fmt.Sprintf("%d damaged lines in the list of refreshes that are owed", damaged))
		}
		engine.LeftOver = state.LeftOver(pending, r.site, r.root, c)
		engine.Cause = r.store.Cause(r.site, r.root)
		return nil
	}
	r.run.Converges(c)
	engine.Journal, engine.LeftOver, engine.Cause = r.run, r.run.LeftOver(r.site, c), r.run.Cause
	// The record comes first, so that it is there even if the report cannot be
	// written.
	engine.Reporter = converge.Reporters{r.run, engine.Reporter}
	return nil
}

// end ends the record and gives the lock back. That the record could not be
// written does not undo the run.
func (r *record) end(s converge.Summary) {
	if r.run == nil {
		return
	}
	r.env.recording = nil
	if err := r.run.End(s); err != nil {
		r.env.warn("the record of this run is not complete: " + err.Error())
	}
	r.env.endWork()
	_ = r.lock.Unlock()
}

// siteName returns the name under which the state directory knows a script or
// manifest: its absolute path, "" for standard input.
func siteName(file string) (string, error) {
	if file == "-" {
		return "", nil
	}
	return filepath.Abs(file)
}

// errRunTimeout says that a run took longer than it may.
type errRunTimeout struct{ limit time.Duration }

// Error says how long it may take.
func (e errRunTimeout) Error() string { return "the run took longer than " + e.limit.String() }

// limited returns ctx with the time limit of a run.
func (f *recordFlags) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, f.timeout, errRunTimeout{f.timeout})
}
