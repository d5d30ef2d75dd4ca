package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"

	"github.com/luaccm/ccm/runtime/diag"
)

// chunkSize is the size of the parts of a bundle: a node requests two at a time.
const chunkSize = 128 << 10

// A Store stores the documents and bundles of an environment.
type Store struct {
	NC          *nats.Conn
	Environment string
	// Book has the signers whom the operator believes. With nil, documents are taken as they are.
	Book *author.Book
}

// Open returns the store of an environment, for the operator of a directory.
func Open(c *cluster.Cluster, environment string, now func() time.Time) (*Store, error) {
	d := c.Directory
	book, err := Archive{d.Path, environment}.Book(d.Signers(), now)
	if err != nil {
		return nil, err
	}
	return &Store{NC: c.Conn, Environment: environment, Book: book}, nil
}

// An Entry is a stored document.
type Entry struct {
	Text     []byte // nil if there is none
	Sequence uint64 // 0 if there never was one
	Author   author.Authorship
	// Older is set if the last document on the servers is not believed, and Text is one before it.
	Older bool
}

// lacks reports whether a version of the document is not what the servers give to nodes. Believed is the
// version of the entry.
func (e *Entry) lacks(version, believed int64) bool {
	return believed < version || e.Older && believed == version
}

// A Control has the documents for the nodes of an environment.
type Control struct {
	Release *signed.Release // nil if there is none
	Rollout *signed.Rollout
	Signers *signed.Signers
	// The documents themselves.
	ReleaseEntry, RolloutEntry, SignersEntry Entry
	// Problems are documents on the servers that are not believed. Those before them are in their
	// place, as on the nodes.
	Problems []string
	// refused are the versions of releases in these. Nodes told that they refused them, so a release
	// of such a version would seem refused too.
	refused []int64
}

// Read reads the documents. One that is not believed is left out.
func (s *Store) Read(ctx context.Context) (*Control, error) {
	c := &Control{}
	release, rollout, who := new(signed.Release), new(signed.Rollout), new(signed.Signers)
	for _, x := range []struct {
		key   string
		entry *Entry
		doc   signed.Document
	}{
		{subject.SignersKey(s.Environment), &c.SignersEntry, who}, // they may have signed the others
		{subject.ReleaseKey(s.Environment), &c.ReleaseEntry, release},
		{subject.RolloutKey(s.Environment), &c.RolloutEntry, rollout},
	} {
		m, err := direct.Last(ctx, s.NC, subject.KVStream(subject.Control), subject.KV(subject.Control, x.key))
		if errors.Is(err, direct.ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		x.entry.Sequence = m.Sequence
		if m.Deleted() {
			continue
		}
		if s.Book == nil {
			if err := signed.Read(m.Data, x.doc); err != nil {
				return nil, fmt.Errorf("%s: %w", x.key, err)
			}
			x.entry.Text = m.Data
			continue
		}
		a := s.look(m.Data, x.doc)
		if s.Book.Believes(a) {
			x.entry.Text, x.entry.Author = m.Data, a
			continue
		}
		c.refuse(m.Data, x.doc)
		c.Problems = append(c.Problems, fmt.Sprintf("%s on the servers is not trusted: %s", x.key, a.Doubt))
		x.entry.Older = true
		if err := s.readOlder(ctx, x.key, x.entry, x.doc); err != nil {
			return nil, err
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

// refuse notes the version in a document that is not believed.
func (c *Control) refuse(text []byte, doc signed.Document) {
	if signed.Read(text, doc) != nil {
		return
	}
	switch d := doc.(type) {
	case *signed.Release:
		c.refused = append(c.refused, d.Version)
	case *signed.Rollout:
		c.refused = append(c.refused, d.Release)
	}
}

// look decodes a document, and checks who has signed it.
func (s *Store) look(text []byte, doc signed.Document) author.Authorship {
	if _, ok := doc.(*signed.Signers); !ok {
		return s.Book.Look(text, doc)
	}
	a := s.Book.Take(text)
	if !a.Forged {
		_ = signed.Read(text, doc) // Take has read it
	}
	return a
}

// readOlder reads the newest document of a key that is believed, below the last one. The sequence of
// the entry stays that of the last one.
func (s *Store) readOlder(ctx context.Context, key string, entry *Entry, doc signed.Document) error {
	list, err := s.history(ctx, key)
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(list) {
		if a := s.look(m.Data, doc); s.Book.Believes(a) {
			entry.Text, entry.Author = m.Data, a
			return nil
		}
	}
	return nil
}

// history returns the stored documents of a key, oldest first.
func (s *Store) history(ctx context.Context, key string) (list []*direct.Message, err error) {
	err = direct.All(ctx, s.NC, direct.Request{Stream: subject.KVStream(subject.Control), Filter: subject.KV(subject.Control, key)}, func(m *direct.Message) error {
		if !m.Deleted() {
			list = append(list, m)
		}
		return nil
	})
	return list, err
}

// Release returns an earlier release, if the servers still have it and it is believed; else nil.
func (s *Store) Release(ctx context.Context, version int64) (*signed.Release, error) {
	list, err := s.history(ctx, subject.ReleaseKey(s.Environment))
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(list) {
		r := new(signed.Release)
		if signed.Read(m.Data, r) != nil || r.Version != version {
			continue
		}
		if s.Book == nil || s.Book.Believes(s.Book.Look(m.Data, r)) {
			return r, nil
		}
	}
	return nil, nil
}

// ErrConflict means that somebody else has stored a document meanwhile.
var ErrConflict = diag.Meanwhile("", "changed")

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

// HasBundle reports whether a bundle is stored.
func (s *Store) HasBundle(ctx context.Context, digest string) (bool, error) {
	store, err := s.objects(ctx)
	if err != nil {
		return false, err
	}
	_, err = store.GetInfo(ctx, subject.BundleObject(digest))
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
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: subject.BundleObject(digest), Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}}, r)
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
		return nil, fmt.Errorf("%w (create it with: ccm fleet init DIR --apply --environment %s)", diag.NotFound("store", subject.Sites(s.Environment), nil), s.Environment)
	}
	return store, err
}
