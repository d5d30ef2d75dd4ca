package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// The documents that a node keeps, by file name.
const (
	releaseFile = "release.signed"
	rolloutFile = "rollout.signed"
	signersFile = "signers.signed"
	memoryFile  = "fleet.json"
	lastFile    = "last.json"
)

// A memory is what a node remembers on disk. Everything is durable before it counts (fsync(2)).
type memory struct {
	dir    string
	mu     sync.Mutex
	closed bool
	x      memoryContent
	// The accepted documents; nil for none.
	release *signed.Release
	rollout *signed.Rollout
	signers *signed.Signers
}

// A memoryContent is the content of the file.
type memoryContent struct {
	// Newest is the newest signed time seen.
	Newest time.Time `json:"newest,omitzero"`
	// Documents are the documents accepted last, by file name.
	Documents map[string]documentVersion `json:"documents,omitempty"`
	// Sequence is the version of the release whose bundle is run, and Stage the stage in which the
	// node began with it.
	Sequence int64 `json:"taken,omitempty"`
	Stage    int   `json:"stage,omitempty"`
	// Jobs are the known jobs, by ID.
	Jobs map[string]job `json:"jobs,omitempty"`
	// Boots are the IDs of the last processes, the newest last. Their heartbeats are the node's
	// own.
	Boots []string `json:"boots,omitempty"`
	// RevokedAt is when the servers stopped to admit the node.
	RevokedAt time.Time `json:"revoked,omitzero"`
}

// A documentVersion is the highest version seen of a document.
type documentVersion struct {
	Version int64  `json:"version"`
	Digest  string `json:"digest"`
}

// A job is a job that the node knows.
type job struct {
	Digest string    `json:"digest"`
	Forget time.Time `json:"forget"`
	Open   bool      `json:"open,omitempty"` // it was begun, and its end not reported
}

// openMemory reads the memory of a node.
func openMemory(dir string) (*memory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	m := &memory{dir: dir, x: memoryContent{Documents: map[string]documentVersion{}, Jobs: map[string]job{}}}
	text, err := os.ReadFile(filepath.Join(dir, memoryFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		if err := json.Unmarshal(text, &m.x); err != nil {
			return nil, diag.Damaged(filepath.Join(dir, memoryFile), err)
		}
	}
	release, rollout, who := new(signed.Release), new(signed.Rollout), new(signed.Signers)
	for file, doc := range map[string]signed.Document{releaseFile: release, rolloutFile: rollout, signersFile: who} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = signed.Read(text, doc)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
		}
		m.set(doc)
	}
	return m, nil
}

func (m *memory) set(doc signed.Document) {
	switch doc := doc.(type) {
	case *signed.Release:
		m.release = doc
	case *signed.Rollout:
		m.rollout = doc
	case *signed.Signers:
		m.signers = doc
	}
}

// errClosed refuses changes after the end: NATS does not wait for the handlers of its messages.
var errClosed = errors.New("the node has stopped")

// close ends all writing, so that another process may use the directory.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}

// addBoot records a process, and returns the earlier ones.
func (m *memory) addBoot(boot string) (before []string, err error) {
	const most = 20
	before = m.x.Boots
	return before, m.update(func(x *memoryContent) {
		x.Boots = append(slices.Clone(before), boot)
		x.Boots = x.Boots[max(0, len(x.Boots)-most):]
	})
}

// save writes the memory. The caller has locked m.mu.
func (m *memory) save() error {
	text, err := json.MarshalIndent(&m.x, "", "  ")
	if err != nil {
		return err
	}
	return host.New(host.Options{}).Save(filepath.Join(m.dir, memoryFile), text, 0o600)
}

// update changes the memory durably. If it cannot be written, nothing changes.
func (m *memory) update(change func(x *memoryContent)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.updateLocked(change)
}

func (m *memory) updateLocked(change func(x *memoryContent)) error {
	if m.closed {
		return errClosed
	}
	before, err := json.Marshal(&m.x)
	if err != nil {
		return err
	}
	change(&m.x)
	if err := m.save(); err != nil {
		m.x = memoryContent{}
		return errors.Join(err, json.Unmarshal(before, &m.x))
	}
	return nil
}

// keep records an accepted document, unless a newer one is recorded: messages and reads come
// concurrently.
func (m *memory) keep(file string, doc signed.Document, version int64, digest string, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	if m.x.Documents[file].Digest == digest {
		return nil
	}
	if err := signed.Newer(version, m.x.Documents[file].Version); err != nil {
		return err
	}
	// The document is written before its version counts. In the reverse order it could be lost.
	if err := host.New(host.Options{}).Save(filepath.Join(m.dir, file), text, 0o600); err != nil {
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	err := m.updateLocked(func(x *memoryContent) {
		if x.Documents == nil {
			x.Documents = map[string]documentVersion{}
		}
		x.Documents[file] = documentVersion{version, digest}
		if created := doc.Head().CreateTime; created.After(x.Newest) {
			x.Newest = created
		}
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	m.set(doc)
	return nil
}

// saveLast saves the state after a run, so that the next process reports it until its own first
// run.
func (m *memory) saveLast(s *record.State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return host.New(host.Options{}).Save(filepath.Join(m.dir, lastFile), text, 0o600)
}

// last returns the state after the last run; nil if unknown.
func (m *memory) last() *record.State {
	text, err := os.ReadFile(filepath.Join(m.dir, lastFile))
	if err != nil {
		return nil
	}
	s := new(record.State)
	if json.Unmarshal(text, s) != nil {
		return nil
	}
	return s
}

func (m *memory) newest() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.x.Newest
}

func (m *memory) highest(file string) documentVersion {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.x.Documents[file]
}

// documents returns the accepted documents.
func (m *memory) documents() (*signed.Release, *signed.Rollout, *signed.Signers) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.release, m.rollout, m.signers
}

// taken returns the version of the present release, and the stage in which the node began with
// it.
func (m *memory) taken() (release int64, stage int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.x.Sequence, m.x.Stage
}

// revoked returns when the servers stopped to admit the node; zero if they admit it.
func (m *memory) revoked() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.x.RevokedAt
}
