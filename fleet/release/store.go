package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// chunkSize is the size of the parts of a bundle: a node requests two at a time.
const chunkSize = 128 << 10

// A Store stores the documents and bundles of an environment.
type Store struct {
	NC          *nats.Conn
	Environment string
}

// An Entry is a stored document.
type Entry struct {
	Text     []byte // nil if there is none
	Sequence uint64 // 0 if there never was one
	Stored   time.Time
}

// A Control has the documents for the nodes of an environment.
type Control struct {
	Release *signed.Release // nil if there is none
	Rollout *signed.Rollout
	Signers *signed.Signers
	// The documents themselves.
	ReleaseEntry, RolloutEntry, SignersEntry Entry
}

// Read reads the documents without a check of their signatures, which only nodes make.
func (s *Store) Read(ctx context.Context) (*Control, error) {
	c := &Control{}
	release, rollout, who := new(signed.Release), new(signed.Rollout), new(signed.Signers)
	for _, x := range []struct {
		key   string
		entry *Entry
		doc   signed.Document
	}{
		{subject.ReleaseKey(s.Environment), &c.ReleaseEntry, release},
		{subject.RolloutKey(s.Environment), &c.RolloutEntry, rollout},
		{subject.SignersKey(s.Environment), &c.SignersEntry, who},
	} {
		m, err := direct.Last(ctx, s.NC, subject.KVStream(subject.Control), subject.KV(subject.Control, x.key))
		if errors.Is(err, direct.ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		x.entry.Sequence, x.entry.Stored = m.Sequence, m.Time
		if m.Deleted() {
			continue
		}
		x.entry.Text = m.Data
		if err := signed.Read(m.Data, x.doc); err != nil {
			return nil, fmt.Errorf("%s: %w", x.key, err)
		}
	}
	if c.ReleaseEntry.Text != nil {
		c.Release = release
	}
	if c.RolloutEntry.Text != nil {
		c.Rollout = rollout
	}
	if c.SignersEntry.Text != nil {
		c.Signers = who
	}
	return c, nil
}

// ErrConflict says that somebody else has stored a document meanwhile.
var ErrConflict = errors.New("somebody else has changed it meanwhile")

// PutRelease stores a release, unless there is a newer document than last, a sequence.
func (s *Store) PutRelease(ctx context.Context, text []byte, last uint64) error {
	return s.put(ctx, subject.ReleaseKey(s.Environment), text, last)
}

// PutRollout stores a rollout, unless there is a newer document than last, a sequence.
func (s *Store) PutRollout(ctx context.Context, text []byte, last uint64) error {
	return s.put(ctx, subject.RolloutKey(s.Environment), text, last)
}

// PutSigners stores allowed signers, unless there is a newer document than last, a sequence.
func (s *Store) PutSigners(ctx context.Context, text []byte, last uint64) error {
	return s.put(ctx, subject.SignersKey(s.Environment), text, last)
}

func (s *Store) put(ctx context.Context, key string, text []byte, last uint64) error {
	_, err := direct.Publish(ctx, s.NC, subject.KV(subject.Control, key), text, direct.Expect(last))
	if direct.IsConflict(err) {
		return fmt.Errorf("%s: %w", key, ErrConflict)
	}
	return err
}

// ObjectName returns the name of a bundle in the object store.
func ObjectName(digest string) string { return "sha256-" + digest + ".tar.gz" }

// HasBundle reports whether a bundle is stored.
func (s *Store) HasBundle(ctx context.Context, digest string) (bool, error) {
	store, err := s.objects(ctx)
	if err != nil {
		return false, err
	}
	_, err = store.GetInfo(ctx, ObjectName(digest))
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// PutBundle stores a bundle, unless it is stored already.
func (s *Store) PutBundle(ctx context.Context, digest string, r io.Reader) error {
	if has, err := s.HasBundle(ctx, digest); err != nil || has {
		return err
	}
	store, err := s.objects(ctx)
	if err != nil {
		return err
	}
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: ObjectName(digest), Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}}, r)
	if err != nil {
		return fmt.Errorf("%s: %w (ccm fleet check)", subject.Sites(s.Environment), err)
	}
	return nil
}

func (s *Store) objects(ctx context.Context) (jetstream.ObjectStore, error) {
	js, err := jetstream.New(s.NC)
	if err != nil {
		return nil, err
	}
	store, err := js.ObjectStore(ctx, subject.Sites(s.Environment))
	if errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("there is no store %s: ccm fleet init DIR --apply --environment %s makes it", subject.Sites(s.Environment), s.Environment)
	}
	return store, err
}
