package sources

import (
	"context"
	"sync"
)

// Texts remember the sources that came from URLs: each is fetched once a run.
type Texts struct {
	mu      sync.Mutex
	sources map[string]*text
}

// of returns what is remembered of a URL.
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

// Get returns what is behind a URL, which fetch gets if it is not known. Others that want it
// wait until fetch has ended, or their context has.
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

// A text is what is behind one URL. Turn holds one token: the goroutine that has it
// may look and fetch.
type text struct {
	turn chan struct{}
	text []byte
	done bool
}
