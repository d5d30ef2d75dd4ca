package agent

import (
	"context"
	"io"
	"strings"
	"sync"
)

// A BundleStore keeps the bundles of a fleet like those of other sources: the present one,
// complete and durable, and two earlier ones. It has the methods of a Source except Poll.
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

// Digest returns the SHA-256 of the present bundle in hexadecimal; "" if there is none.
func (b *BundleStore) Digest() string {
	if v := b.store.current(); v != nil {
		return strings.TrimPrefix(v.Digest, "sha256:")
	}
	return ""
}

// Install installs a bundle with a SHA-256, unless it is installed already. It waits for a run
// that uses the present bundle. After an error the present bundle stays.
func (b *BundleStore) Install(ctx context.Context, body io.Reader, digest string) (changed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := bundleSource{x: b.x, config: SourceConfig{SHA256: digest}, store: b.store}
	return p.install(ctx, &remote{body: body})
}
