package agent

import (
	"context"
	"io"
	"strings"
	"sync"
)

// A BundleStore keeps the bundles that a fleet brings here, as those of sources are kept: the one that
// is run, whole and on the disk, and two before it. It has the methods of a Source but for Poll.
type BundleStore struct {
	name  string
	x     *access
	store *store
	mu    sync.Mutex // one install at a time
}

// BundleStore opens the store of a name, in the cache directory of the agent.
func (a *Agent) BundleStore(name string) (*BundleStore, error) {
	s, err := a.store.openStore(name)
	if err != nil {
		return nil, err
	}
	return &BundleStore{name: name, x: &access{policy: a.options.Policy, store: a.store, now: a.now}, store: s}, nil
}

// Name returns the name.
func (b *BundleStore) Name() string { return b.name }

// Take implements Source.
func (b *BundleStore) Take() (Site, func(), bool) { return b.store.take() }

// Digest returns the SHA-256 of the bundle that is run, in hexadecimal; "" if there is none.
func (b *BundleStore) Digest() string {
	if v := b.store.current(); v != nil {
		return strings.TrimPrefix(v.Digest, "sha256:")
	}
	return ""
}

// Install brings a bundle here that has a SHA-256, unless it is here already. It waits for a run that has the
// files of the one before. After an error that one is still there.
func (b *BundleStore) Install(ctx context.Context, body io.Reader, digest string) (changed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := bundleSource{x: b.x, config: SourceConfig{SHA256: digest}, store: b.store}
	return p.install(ctx, &remote{body: body})
}
