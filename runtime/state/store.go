package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/secret"
)

// Limits say how much of the past is kept.
type Limits struct {
	// Bytes is how much all backups together take, as they are stored.
	Bytes int64
	// Object is the largest content of which a backup is made.
	Object int64
	// Age is how long runs and their backups are kept.
	Age time.Duration
}

// DefaultLimits are what users get who do not ask for others.
var DefaultLimits = Limits{Bytes: 1 << 30, Object: 128 << 20, Age: 90 * 24 * time.Hour}

// Options describe a store.
type Options struct {
	Dir    string
	Clock  host.Clock // nil for the time of day
	Limits Limits     // zero for the default
	// Warn gets mistakes of the state directory that do not keep a run from its work. May be
	// nil.
	Warn func(message string)
	// Effect is like that of host.Options.
	Effect func(op, path string) error
	// Secrets are what is not written, or only sealed. May be nil.
	Secrets *secret.Keeper
}

// A Store is a state directory. What only looks at one may do so at any time
// and finds nothing in a directory that is not there; what changes one holds its
// lock ([Lock]).
//
// Its files:
//
//	lock             who runs
//	pending.ndjson   pending refreshes
//	unfinished.ndjson  running commands and directories of extractions
//	history.ndjson   one line for each run
//	runs/RUN.ndjson  changes and events of a run
//	objects/ab/...   contents that were overwritten or removed, by SHA-256
//	applied/...      last applied catalog of each site
//	sensitive.ndjson properties and paths that have held secrets
//	key              seals what holds secrets
//	broken/...       copies of damaged files
type Store struct {
	dir    *directory
	clock  host.Clock
	limits Limits
	warn   func(string)
	effect func(op, path string) error

	secrets *secret.Keeper
	keyed   bool // the key is that of the directory

	abandoned []OpenWork // that FinishOff could not finish
}

// Open returns the store in a directory. It touches nothing.
func Open(o Options) *Store {
	s := &Store{dir: &directory{path: o.Dir}, clock: o.Clock, limits: o.Limits, warn: o.Warn, effect: o.Effect, secrets: o.Secrets}
	if s.clock == nil {
		s.clock = host.RealClock{}
	}
	if s.limits == (Limits{}) {
		s.limits = DefaultLimits
	}
	if s.secrets == nil {
		s.secrets = secret.New(func() ([]byte, error) { return ReadKey(o.Dir) })
	}
	if s.warn == nil {
		s.warn = func(string) {}
	}
	return s
}

// Dir returns the directory of s.
func (s *Store) Dir() string { return s.dir.path }

// path returns where a file of the store is, for messages and effects.
func (s *Store) path(name string) string { return s.dir.full(name) }

// do asks whether an effect may happen and makes it happen.
func (s *Store) do(op, path string, effect func() error) error {
	if s.effect != nil {
		if err := s.effect(op, path); err != nil {
			return err
		}
	}
	return effect()
}

// makeDir makes a directory of the store that is missing, durably.
func (s *Store) makeDir(name string) error {
	path := s.path(name)
	err := s.do("mkdir", path, func() error { return s.dir.mkdir(name) })
	switch {
	case errors.Is(err, os.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return s.syncDir(filepath.Dir(name))
}

// syncDir makes what happened to the names in a directory durable.
func (s *Store) syncDir(name string) error {
	return s.do("syncdir", s.path(name), func() error {
		d, err := s.dir.openDir(name)
		if err != nil {
			return err
		}
		return errors.Join(d.Sync(), d.Close())
	})
}

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".new-"

// replace writes a file of the store in one step: it holds the old content or
// the new. If durable is set, the new one survives a loss of power.
func (s *Store) replace(name string, durable bool, write func(w io.Writer) error) (err error) {
	temp := filepath.Join(filepath.Dir(name), tempPrefix+filepath.Base(name))
	var f *os.File
	err = s.do("create", s.path(temp), func() (err error) {
		f, err = s.dir.open(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.remove(temp))
		}
	}()
	err = s.do("write", s.path(temp), func() error { return write(f) })
	if err == nil && durable {
		err = s.do("sync", s.path(temp), f.Sync)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := s.do("rename", s.path(name), func() error { return s.dir.rename(temp, name) }); err != nil || !durable {
		return err
	}
	return s.syncDir(filepath.Dir(name))
}

// writing returns what writes a text.
func writing(text []byte) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// setAside keeps a copy of a damaged file in broken, and warns.
func (s *Store) setAside(name, what string) {
	to := filepath.Join("broken", filepath.Base(name)+"-"+s.clock.Now().UTC().Format("20060102T150405"))
	err := s.makeDir("broken")
	if err == nil {
		err = s.do("link", s.path(to), func() error { return s.dir.link(name, to) })
	}
	if errors.Is(err, os.ErrExist) {
		err = nil
	}
	if err != nil {
		s.warn(fmt.Sprintf("%s: %s, and it could not be set aside: %v", s.path(name), what, err))
		return
	}
	s.warn(fmt.Sprintf("%s: %s; a copy is in %s", s.path(name), what, s.path(to)))
}
