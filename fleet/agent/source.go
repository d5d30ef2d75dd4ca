package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/trust"
)

// A Site is what a source has on this machine to be run.
type Site struct {
	// Path is the script, manifest or bundle.
	Path string
	// Digest names its content: sha256: or commit: and hexadecimal digits. It is "" for a file
	// of the machine, which is read again in each run.
	Digest string
	// Signer is who has signed it; "" if no signature was asked for.
	Signer string
	// Arguments are further ones of the command that runs it. May be nil.
	Arguments []string
}

// A Source says what is run, and brings it to this machine. Its methods may be called by several
// goroutines at a time, Poll by one.
type Source interface {
	// Name is how people know it, without what authorizes. No two sources share one.
	Name() string
	// Take returns what is to be run: the last good one. Its files stay as they are until release
	// is called. Without one ok is false.
	Take() (site Site, release func(), ok bool)
	// Poll asks whether there is something newer, and brings it here. It reports whether Take
	// returns something else than before. After an error Take returns what it did.
	Poll(ctx context.Context) (changed bool, err error)
}

// A Notifier is a source that is told of changes. What comes from the channel has it polled at
// once.
type Notifier interface{ Changed() <-chan struct{} }

// A Patience is a source that wants to be polled less often than others. PollInterval is asked after
// each poll.
type Patience interface{ PollInterval() time.Duration }

// access is how sources reach what is elsewhere.
type access struct {
	policy   *trust.Policy // nil believes everything
	insecure bool
	context  string // of NATS
	store    *storeRoot
	now      func() time.Time
}

// newSource returns the source that a configuration describes.
func (x *access) newSource(c SourceConfig) (Source, error) {
	switch {
	case c.Git != "":
		return x.newGitSource(c)
	case isHTTP(c.URL):
		return x.newHTTPSource(c)
	case strings.HasPrefix(c.URL, objectScheme):
		return x.newObjectSource(c)
	}
	return newFileSource(c), nil
}

// newSources returns those of a configuration.
func (x *access) newSources(list []SourceConfig) (sources []Source, err error) {
	seen := make(map[string]bool)
	for _, c := range list {
		s, err := x.newSource(c)
		if err != nil {
			return nil, err
		}
		if seen[s.Name()] {
			return nil, fmt.Errorf("%s: %s stands here twice", c.Pos, s.Name())
		}
		seen[s.Name()] = true
		sources = append(sources, s)
	}
	return sources, nil
}

// A natsClient is a connection that is made again after an error: a client remembers why it could
// not connect. It is for one goroutine.
type natsClient struct {
	options nats.Options
	client  *nats.Client
}

// nats returns a connection, which is made when it is first used. Checked says that what comes is
// checked by other means than TLS.
func (x *access) nats(checked bool) *natsClient {
	return &natsClient{options: nats.Options{Context: x.context, Check: x.policy.Check, Plain: checked || x.insecure || x.policy == nil}}
}

// use calls do with a connection.
func (c *natsClient) use(do func(*nats.Client) error) error {
	if c.client == nil {
		c.client = nats.New(c.options)
	}
	err := do(c.client)
	if err != nil {
		c.close()
	}
	return err
}

func (c *natsClient) close() {
	if c.client != nil {
		c.client.Close()
		c.client = nil
	}
}
