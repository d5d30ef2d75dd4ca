package agent

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/safepath"
)

const (
	statusFile    = "status.json"
	largestStatus = 16 << 20 // bytes
)

// A Status is an agent's status. It is in the cache directory, for ccm agent status.
type Status struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Config  string    `json:"config"`
	Since   time.Time `json:"since"`
	// State is waiting, running or stopped.
	State string `json:"state"`
	// ActiveRun is the present run; nil for none.
	ActiveRun *ActiveRun `json:"running,omitempty"`
	Noop      bool       `json:"noop,omitempty"`
	// NextRun and NextCheck are the times of the next ones; nil for none.
	NextRun   *time.Time     `json:"next_run,omitempty"`
	NextCheck *time.Time     `json:"next_health_check,omitempty"`
	Sources   []SourceStatus `json:"sources"`
	Data      *DataStatus    `json:"data,omitempty"`
	// Unmanaged is what no source describes; nil if it was not listed.
	Unmanaged *Unmanaged `json:"unmanaged,omitempty"`
	// Fleet is the status in a fleet; nil if there is none.
	Fleet *FleetStatus `json:"fleet,omitempty"`
	// ConfigError is the mistake in a configuration that was not applied.
	ConfigError string `json:"config_error,omitempty"`
}

// ActiveRun is the present run.
type ActiveRun struct {
	Source string    `json:"source"`
	Mode   Mode      `json:"mode"`
	Reason string    `json:"reason"`
	Began  time.Time `json:"began"`
}

// A SourceStatus is the status of one source.
type SourceStatus struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty"`
	Signer string `json:"signer,omitempty"`
	Path   string `json:"path,omitempty"`
	// LastPoll is the time of the last poll, Error its error, and FailingSince the time of the
	// first of such errors in a row.
	LastPoll     time.Time  `json:"asked"`
	Error        string     `json:"error,omitempty"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	// Unregistered lists its services that are not registered, with reasons.
	Unregistered []string `json:"not_registered,omitempty"`
	LastRun      *Result  `json:"last_run,omitempty"`
	LastCheck    *Result  `json:"last_health_check,omitempty"`
}

// A DataStatus is the status of external data.
type DataStatus struct {
	URL string `json:"url"`
	// Stale is since when it could not be fetched; nil if it could.
	Stale *time.Time `json:"data_stale,omitempty"`
	Error string     `json:"error,omitempty"`
}

func (d *dataSource) status(err error) *DataStatus {
	s := &DataStatus{URL: d.shownURL}
	if err != nil {
		s.Error = message(err)
	}
	if !d.stale.IsZero() {
		stale := d.stale
		s.Stale = &stale
	}
	return s
}

// OK reports whether everything that the agent does succeeds.
func (s *Status) OK() bool {
	for _, x := range s.Sources {
		if x.Error != "" || x.LastRun != nil && !x.LastRun.OK() || x.LastCheck != nil && !x.LastCheck.OK() {
			return false
		}
	}
	return s.ConfigError == "" && (s.Data == nil || s.Data.Error == "") && (s.Unmanaged == nil || s.Unmanaged.Error == "") && (s.Fleet == nil || s.Fleet.OK())
}

// A statusKeeper keeps the status, and writes it when it changes.
type statusKeeper struct {
	mu      sync.Mutex
	now     Status
	store   *cacheDir
	onError func(error) // called if it cannot be written; may be nil
	fleet   Fleet       // may be nil
	text    string      // written last
	ended   bool
}

// end writes the last status: another agent may write its own after it.
func (k *statusKeeper) end() {
	k.update(func(s *Status) { s.State, s.ActiveRun, s.NextRun, s.NextCheck = "stopped", nil, nil, nil })
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
}

// follow makes the status of a fleet part of the agent's status.
func (k *statusKeeper) follow(f Fleet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fleet = f
}

// update changes the status and writes it. A failure to write stops nothing.
func (k *statusKeeper) update(change func(*Status)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return
	}
	change(&k.now)
	if k.fleet != nil {
		s := k.fleet.Status()
		k.now.Fleet = &s
	}
	text, err := json.MarshalIndent(&k.now, "", "  ")
	if err == nil && string(text) == k.text {
		return
	}
	if err == nil {
		err = k.store.writeFile(statusFile, append(slices.Clip(text), '\n'), false)
	}
	if k.text = ""; err == nil {
		k.text = string(text)
	}
	if k.onError != nil {
		k.onError(err)
	}
}

// source returns the status of a source, which is added if it is missing.
func (s *Status) source(name string) *SourceStatus {
	for i := range s.Sources {
		if s.Sources[i].Name == name {
			return &s.Sources[i]
		}
	}
	s.Sources = append(s.Sources, SourceStatus{Name: name})
	return &s.Sources[len(s.Sources)-1]
}

// ErrNotRunning says that no agent uses a cache directory.
var ErrNotRunning = diag.None("agent is running")

// ReadStatus returns the status of the agent with a cache directory. If that agent no longer
// runs, it returns the last status, and ErrNotRunning.
func ReadStatus(dir string) (*Status, error) {
	text, err := (&safepath.Resolver{Root: "/"}).ReadRegular(filepath.Join(dir, statusFile), largestStatus)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, err
	}
	s := new(Status)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, diag.Damaged("the status file", nil)
	}
	if !isHeld(dir) {
		s.State = "stopped"
		return s, ErrNotRunning
	}
	return s, nil
}

const lockName = "agent.lock"

// An AlreadyRunningError reports that an agent uses the cache directory.
type AlreadyRunningError struct {
	Dir string
	PID int // 0 if unknown
}

// Error names the process.
func (e *AlreadyRunningError) Error() string {
	if e.PID == 0 {
		return "another agent is using the cache directory " + e.Dir
	}
	return "another agent is using the cache directory " + e.Dir + ": pid " + strconv.Itoa(e.PID)
}

// lock makes this the only agent with a cache directory.
func (s *cacheDir) lock() (*os.File, error) {
	f, err := s.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(f, filelock.Exclusive); err != nil {
		f.Close()
		if !errors.Is(err, filelock.ErrLocked) {
			return nil, err
		}
		e := &AlreadyRunningError{Dir: s.path}
		if other, err := ReadStatus(s.path); err == nil {
			e.PID = other.PID
		}
		return nil, e
	}
	return f, nil
}

// isHeld reports whether an agent uses a cache directory.
func isHeld(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false
	}
	defer filelock.Close(f)
	return errors.Is(filelock.TryLock(f, filelock.Shared), filelock.ErrLocked)
}
