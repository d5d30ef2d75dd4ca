// Package agent keeps a machine as its sites describe it. It fetches sites from files, servers,
// repositories and object stores, runs them at intervals and when they change, and runs their
// health checks. Each run is a process of its own. A site that was fetched once is also run
// without a network.
//
// Begin with [ParseConfig] and [New]. The part for a fleet attaches itself by [Options]: it adds
// sources, asks for runs by [Agent.Do], and is told of all runs as an [Observer].
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/trust"
	"github.com/luaccm/ccm/runtime/words"
)

// Timing has the times between repeated steps, and time limits. Tests make them short.
type Timing struct {
	Poll                      time.Duration // between polls of a source
	BackoffLeast, BackoffMost time.Duration // after a failure
	LockWait                  time.Duration // for a run that somebody else began
}

// DefaultTiming is the timing of the agent of Choria CCM.
var DefaultTiming = Timing{Poll: 30 * time.Second, BackoffLeast: 500 * time.Millisecond, BackoffMost: 20 * time.Second, LockWait: 10 * time.Minute}

// Options are the options of an agent. Config, Executable, Log and Clock are required.
type Options struct {
	Config *Config
	// Reload reads the configuration again. Without it a reload only polls and runs all sources.
	Reload func() (*Config, error)
	// Executable is ccm, and Arguments are further arguments of its command run.
	Executable string
	Arguments  []string
	Version    string
	// Policy determines which files are trusted; nil trusts all.
	Policy *trust.Policy
	Log    *slog.Logger
	Clock  host.Clock
	// Node is the name of this machine, "" for its host name. It determines when runs of this node
	// begin.
	Node string
	// Effect is called before each step that changes the cache directory; may be nil.
	Effect func(op, path string) error
	// Observers receive all runs.
	Observers []Observer
	// Fleet makes the part for a fleet, if the configuration has one; nil ignores that part of the
	// configuration.
	Fleet func(c *FleetConfig, a *Agent) (Fleet, error)
	// Timing is DefaultTiming if it is zero.
	Timing Timing
}

// A Fleet is the part of an agent for a fleet.
type Fleet interface {
	Observer
	// Sources are run before those of the configuration.
	Sources() []Source
	// Run works until the context ends, which is after the last run. It may call Agent.Do. It goes
	// on during a reload of the configuration.
	Run(ctx context.Context)
	// Status is part of the agent's status. It is called when that changes, and by
	// Agent.FleetChanged.
	Status() FleetStatus
	// Unmanaged is called with each list of what no source describes.
	Unmanaged(*Unmanaged)
}

// An Agent keeps a machine in order.
type Agent struct {
	options  Options
	config   *Config
	timing   Timing
	log      *slog.Logger
	now      func() time.Time
	random   func() float64
	store    *cacheDir
	metrics  *metrics
	failures failures
	memory   reportedLines
	services unregisteredServices
	outcomes map[string]string // of the last run, by mode and source, for comparison
	status   *statusKeeper
	runner   *runner
	data     *dataSource
	fleet    Fleet
	queue    *queue
	reload   chan struct{}

	sources  []Source // of the present configuration
	pollers  sync.WaitGroup
	endPolls context.CancelFunc
	endServe func()
	endFleet func()

	mu      sync.Mutex
	current *activeRun // nil if there is none
}

// New prepares an agent. It runs nothing before Run.
func New(o Options) (*Agent, error) {
	if o.Timing == (Timing{}) {
		o.Timing = DefaultTiming
	}
	if o.Node == "" {
		o.Node, _ = os.Hostname()
	}
	if err := checkCacheDir(o.Policy, o.Config.CacheDir); err != nil {
		return nil, err
	}
	a := &Agent{
		options: o, config: o.Config, timing: o.Timing, log: o.Log, now: o.Clock.Now, random: rand.Float64,
		metrics: newMetrics(), failures: make(failures), memory: make(reportedLines), services: make(unregisteredServices),
		outcomes: make(map[string]string), queue: newQueue(), reload: make(chan struct{}, 1),
		endServe: func() {}, endPolls: func() {}, endFleet: func() {},
	}
	var err error
	if a.store, err = openStore(o.Config.CacheDir, o.Effect); err != nil {
		return nil, fmt.Errorf("cache_dir: %w", err)
	}
	a.runner = &runner{executable: o.Executable, environ: environment(), lockWait: o.Timing.LockWait}
	return a, nil
}

// checkCacheDir returns an error unless a directory belongs to the user of the agent: files in it
// are run.
func checkCacheDir(policy *trust.Policy, dir string) error {
	for at := dir; ; {
		err := policy.CheckKept(at)
		if errors.Is(err, os.ErrNotExist) && at != parentOf(at) {
			at = parentOf(at)
			continue
		}
		if err != nil {
			return fmt.Errorf("cache_dir: %w", err)
		}
		return nil
	}
}

// Reload makes the agent read its configuration again, and poll and run all sources. It returns
// at once.
func (a *Agent) Reload() {
	select {
	case a.reload <- struct{}{}:
	default: // a reload is pending already
	}
}

// Run keeps the machine in order until stop is closed; then the present run finishes its present
// resource. When the context ends, the run is ended too.
func (a *Agent) Run(ctx context.Context, stop <-chan struct{}) error {
	lock, err := a.store.lock()
	if err != nil {
		return err
	}
	defer filelock.Close(lock)
	a.status = &statusKeeper{store: a.store, onError: a.statusLost(), now: Status{
		PID: os.Getpid(), Version: a.options.Version, Since: a.now(), State: "waiting",
	}}
	a.keepResults()
	if err := a.configure(ctx, a.config, "the agent started"); err != nil {
		return err
	}
	defer func() {
		a.endPolls()
		a.pollers.Wait()
		a.endFleet()
		a.closeSources()
		a.endServe()
		a.status.end()
	}()
	a.log.Info(fmt.Sprintf("agent started, ccm %s: %s", a.options.Version, words.Count(len(a.sources), "source")))
	if len(a.sources) == 0 {
		a.log.Warn(a.config.File + ": sources is empty (add sources: [/etc/ccm/site.lua])")
	}
	notify("READY=1", "STATUS=waiting")
	over := make(chan struct{})
	var asked sync.WaitGroup
	asked.Go(func() {
		select {
		case <-stop:
			a.log.Info("stopping after the current resource; a second signal stops the agent immediately")
		case <-over:
		}
	})
	err = a.loop(ctx, stop)
	close(over)
	asked.Wait()
	a.log.Info("agent stopped")
	return err
}

// keepResults takes over the results of an earlier agent with the same sources.
func (a *Agent) keepResults() {
	old, err := ReadStatus(a.store.path)
	if old == nil || err != nil && !errors.Is(err, ErrNotRunning) {
		return
	}
	a.status.now.Sources = old.Sources
}

// configure applies a configuration: it makes the sources, and polls and runs them, for a reason.
func (a *Agent) configure(ctx context.Context, c *Config, reason string) error {
	x := &access{policy: a.options.Policy, insecure: c.AllowInsecure, context: c.Context, store: a.store, now: a.now}
	sources, err := x.newSources(c.Sources)
	if err != nil {
		return err
	}
	data, err := x.newData(c.Data)
	if err != nil {
		return err
	}
	if c.MonitorPort != a.config.MonitorPort || c.MonitorAddress != a.config.MonitorAddress || a.sources == nil {
		a.endServe()
		a.endServe = func() {}
		if c.MonitorPort > 0 {
			if a.endServe, err = a.metrics.serve(c.MonitorAddress, c.MonitorPort); err != nil {
				a.endServe = func() {}
				return err
			}
		}
	}
	if a.fleet == nil && c.Fleet != nil && a.options.Fleet != nil {
		if a.fleet, err = a.options.Fleet(c.Fleet, a); err != nil {
			return fmt.Errorf("fleet: %w", err)
		}
		a.startFleet(ctx)
	}
	if a.fleet != nil {
		a.status.follow(a.fleet)
		sources = append(a.fleet.Sources(), sources...)
	}
	a.config, a.sources, a.data = c, sources, data
	a.runner.arguments, a.runner.register = a.options.Arguments, c.Registration
	if c.AllowInsecure {
		a.runner.arguments = append([]string{"--allow-insecure"}, a.runner.arguments...)
	}
	here := make([]Site, len(sources)) // known sites, because the first poll may take long
	for i, source := range sources {
		here[i] = siteOf(source)
	}
	a.status.update(func(s *Status) {
		s.Config, s.Noop, s.ConfigError, s.Data = c.File, c.Noop, "", nil
		kept := s.Sources
		s.Sources = nil
		for i, source := range sources {
			now := s.source(source.Name())
			now.Digest, now.Signer, now.Path = here[i].Digest, here[i].Signer, here[i].Path
			for _, old := range kept {
				if old.Name == now.Name {
					now.LastRun, now.LastCheck, now.Unregistered = old.LastRun, old.LastCheck, old.Unregistered
				}
			}
		}
		if data != nil {
			s.Data = data.status(nil)
		}
	})
	polling, cancel := context.WithCancel(ctx)
	a.endPolls = cancel
	for _, source := range sources {
		a.pollers.Go(func() { a.poll(polling, source, reason) })
	}
	return nil
}

// startFleet starts the part for the fleet, which outlives a reload.
func (a *Agent) startFleet(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.fleet.Run(ctx)
	}()
	a.endFleet = func() {
		cancel()
		<-ended
	}
}

// reconfigure reads the configuration again. On a mistake it logs that, and the old configuration
// stays.
func (a *Agent) reconfigure(ctx context.Context) {
	notify("RELOADING=1", "STATUS=reading the configuration")
	defer notify("READY=1", "STATUS=waiting")
	c := a.config
	if a.options.Reload != nil {
		read, err := a.options.Reload()
		if err == nil && read.CacheDir != c.CacheDir {
			err = fmt.Errorf("%s: %w", read.File, diag.Requires("changing cache_dir", "a restart"))
		}
		if err != nil {
			a.log.Error(fmt.Sprintf("keeping the old configuration: %s", message(err)))
			a.status.update(func(s *Status) { s.ConfigError = message(err) })
			return
		}
		c = read
	}
	a.endPolls()
	a.pollers.Wait()
	old, oldSources, oldData := a.config, a.sources, a.data
	closing := a.closer(oldSources, oldData)
	if err := a.configure(ctx, c, "the configuration was reloaded"); err != nil {
		a.log.Error(fmt.Sprintf("keeping the old configuration: %s", message(err)))
		if again := a.configure(ctx, old, "the old configuration was kept"); again != nil {
			a.log.Error(message(again))
		}
		a.status.update(func(s *Status) { s.ConfigError = message(err) })
	} else {
		a.log.Info(fmt.Sprintf("configuration reloaded: %s", words.Count(len(a.sources), "source")))
	}
	closing()
}

// closer returns the function that closes the connections of sources and data, but not those of
// the fleet.
func (a *Agent) closer(sources []Source, data *dataSource) func() {
	return func() {
		for _, s := range sources {
			if c, ok := s.(io.Closer); ok {
				_ = c.Close()
			}
		}
		data.close()
	}
}

func (a *Agent) closeSources() { a.closer(a.sources, a.data)() }

// statusLost returns a function that logs once that the status cannot be written.
func (a *Agent) statusLost() func(error) {
	lastError := ""
	return func(err error) {
		switch {
		case err == nil:
			lastError = ""
		case lastError != message(err):
			lastError = message(err)
			a.log.Error("cannot write the status: " + lastError)
		}
	}
}
