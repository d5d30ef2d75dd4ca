package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/trust"
)

// A Site is the installed site of a source.
type Site struct {
	// Path is the script, manifest or bundle.
	Path string
	// Digest identifies its content: sha256: or commit: and hexadecimal digits. It is "" for a
	// local file, which is read again in each run.
	Digest string
	// Signer is the signer; "" if no signature was required.
	Signer string
	// Arguments are further arguments of the command that runs it. May be nil.
	Arguments []string
}

// A Source installs a site on this machine. Its methods may be called by several goroutines at
// once, but Poll only by one.
type Source interface {
	// Name is the name for people, without credentials. No two sources have the same name.
	Name() string
	// Take returns the last good site. Its files stay unchanged until release is called. If there
	// is none, ok is false.
	Take() (site Site, release func(), ok bool)
	// Poll looks for a newer site, and installs it. It reports whether the result of Take changed.
	// After an error Take returns the same as before.
	Poll(ctx context.Context) (changed bool, err error)
}

// A Notifier is a source that learns of changes. A value from the channel causes a poll at once.
type Notifier interface{ Changed() <-chan struct{} }

// A Patience is a source with its own poll interval. PollInterval is called after each poll.
type Patience interface{ PollInterval() time.Duration }

// access is what sources need to reach remote content.
type access struct {
	policy   *trust.Policy // nil trusts everything
	insecure bool
	context  string // of NATS
	store    *cacheDir
	now      func() time.Time
}

// newSource returns the source for a configuration.
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

// newSources returns the sources of a configuration.
func (x *access) newSources(list []SourceConfig) (sources []Source, err error) {
	seen := make(map[string]bool)
	for _, c := range list {
		s, err := x.newSource(c)
		if err != nil {
			return nil, err
		}
		if seen[s.Name()] {
			return nil, fmt.Errorf("%s: %w", c.Pos, diag.Duplicate("source %s", s.Name()))
		}
		seen[s.Name()] = true
		sources = append(sources, s)
	}
	return sources, nil
}

// A natsClient is a connection that is made anew after an error, because a client remembers why
// it could not connect. It is for one goroutine.
type natsClient struct {
	options nats.Options
	client  *nats.Client
}

// nats returns a connection, which is made on first use. Checked says that the content is
// verified by other means than TLS.
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
