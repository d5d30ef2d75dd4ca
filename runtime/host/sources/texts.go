package sources

import (
	"context"
	"sync"
)

// Texts caches the contents of URLs: each is fetched once a run.
type Texts struct {
	mu      sync.Mutex
	sources map[string]*text
}

// of returns the cache entry of a URL.
func (f *Texts) of(name string) *text {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.sources[name]
	if x == nil {
		if f.sources == nil {
			f.sources = make(map[string]*text)
		}
		x = &text{turn: make(chan struct{}, 1)}
		f.sources[name] = x
	}
	return x
}

// Get returns the content of a URL from the cache or from fetch. Other callers for the same URL
// wait until fetch or their own context has ended.
func (f *Texts) Get(ctx context.Context, name string, fetch func() ([]byte, error)) ([]byte, error) {
	x := f.of(name)
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if x.done {
		return x.text, nil
	}
	text, err := fetch()
	if err != nil {
		return nil, err
	}
	x.text, x.done = text, true
	return text, nil
}

// A text is the content of one URL. Turn has one token: the goroutine that holds it may look and
// fetch.
type text struct {
	turn chan struct{}
	text []byte
	done bool
}
