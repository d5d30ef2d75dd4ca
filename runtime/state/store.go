package state

import (
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state/backup"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// Limits bound what is kept of the past.
type Limits struct {
	// Bytes is the space that all backups take on disk together.
	Bytes int64
	// Object is the size of the largest content that is backed up.
	Object int64
	// Age is the time for which runs and their backups are kept.
	Age time.Duration
}

// DefaultLimits apply unless the user sets others.
var DefaultLimits = Limits{Bytes: 1 << 30, Object: 128 << 20, Age: 90 * 24 * time.Hour}

// Options describe a store.
type Options struct {
	Dir string
	// Image is the root of the image that the directory belongs to; "" for none. What an image brings names neither
	// processes of this machine nor paths outside of the image.
	Image  string
	Clock  host.Clock // nil for the time of day
	Limits Limits     // zero for the default
	// Warn gets mistakes in the state directory that do not stop a run. May be nil.
	Warn func(message string)
	// Effect is the Effect of host.Options.
	Effect func(op, path string) error
	// Secrets are masked or sealed in files. May be nil.
	Secrets *secret.Keeper
}

// A Store is a state directory. Readers need no lock, and find a missing directory empty. Writers
// must hold its lock ([Lock]).
//
// Its files:
//
//	lock             who runs
//	pending.ndjson   pending refreshes
//	unfinished.ndjson  running commands and directories of extractions
//	history.ndjson   one line for each run
//	runs/RUN.ndjson  changes and events of a run
//	objects/ab/...   contents that were overwritten or removed, by SHA-256
//	objects/packs/...  small ones of earlier runs, many in a file
//	identity         the key of age to which those of them with secrets are encrypted
//	applied/...      last applied catalog of each site, and resources that are no longer declared
//	sensitive.ndjson properties and paths that have held secrets
//	key              seals properties with secrets, and makes digests of secrets
//	extracted.ndjson which archives were extracted
//	held/...         contents of files that are being written in place
//	broken/...       copies of damaged files
type Store struct {
	dir     *statedir.Dir
	image   string // Options.Image
	clock   host.Clock
	age     time.Duration // Limits.Age
	backups backup.Store

	secrets *secret.Keeper
	keyed   bool // the keeper of secrets has the key of the directory

	orphans []OpenWork // work that CleanUp could not end or remove
}

// Open returns the store in a directory. It touches nothing.
func Open(o Options) *Store {
	s := &Store{dir: statedir.New(o.Dir, o.Effect, o.Warn), image: o.Image, clock: o.Clock, secrets: o.Secrets}
	if s.clock == nil {
		s.clock = host.RealClock{}
	}
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits
	}
	if s.secrets == nil {
		s.secrets = secret.New(func() ([]byte, error) { return ReadKey(o.Dir) })
	}
	s.age = o.Limits.Age
	s.backups = backup.Store{
		Dir: s.dir, Secrets: s.secrets, NeedKey: s.needKey, Bytes: o.Limits.Bytes, Object: o.Limits.Object,
		Runs: s.runs, Now: s.clock.Now,
	}
	return s
}

// Dir returns the directory of s.
func (s *Store) Dir() string { return s.dir.Root }
