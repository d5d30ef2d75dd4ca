// Package remote reads data and sites at URLs, and in NATS: kv://BUCKET/KEY is a value, obj://BUCKET/NAME an object.
//
// Begin with [New].
package remote

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/trust"
)

// Schemes of names in NATS: a key of a bucket, and an object of a store.
const (
	KeyScheme    = "kv://"
	ObjectScheme = "obj://"
)

// IsName reports whether a name is a URL or a name in NATS, rather than a file.
func IsName(name string) bool {
	return fetch.IsURL(name) || strings.HasPrefix(name, KeyScheme) || strings.HasPrefix(name, ObjectScheme)
}

// WithoutCredentials returns a URL without its user and password. It is not ok if the name is a file.
func WithoutCredentials(name string) (shown string, ok bool) {
	if !IsName(name) {
		return "", false
	}
	u, err := url.Parse(name)
	if err != nil {
		return "", false
	}
	return fetch.RedactURL(u), true
}

// Parts returns the parts of a name such as kv://BUCKET/KEY.
func Parts(name, scheme string) (bucket, key string, err error) {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(name, scheme), "/")
	if !ok || bucket == "" || key == "" {
		return "", "", diag.At(diag.Pos{}, diag.Expected("%sBUCKET/KEY", scheme).Got("%q", name))
	}
	return bucket, key, nil
}

// A Client reads from servers.
type Client struct {
	trust func() *trust.Policy
	// nats has the clients by context and by whether connections without TLS are allowed.
	nats map[string]*nats.Client
}

// New returns a client. Trust returns the policy for its configuration and its connections.
func New(trust func() *trust.Policy) *Client {
	return &Client{trust: trust, nats: make(map[string]*nats.Client)}
}

// Close ends the connections.
func (c *Client) Close() {
	for _, n := range c.nats {
		n.Close()
	}
	clear(c.nats)
}

// NATS returns the client for a context of the nats CLI. Plain allows connections without TLS.
func (c *Client) NATS(context string, plain bool) *nats.Client {
	key := fmt.Sprint(context, " ", plain)
	if c.nats[key] == nil {
		policy := c.trust()
		c.nats[key] = nats.New(nats.Options{Context: context, Check: policy.Check, Plain: plain || policy == nil})
	}
	return c.nats[key]
}

// ExplainNATS adds hints to the error of a request to NATS.
func ExplainNATS(err error) error {
	if nats.IsPlain(err) {
		return (&diag.Error{Err: diag.Not("", "trusted as root: %w", err)}).
			WithHint("use tls:// in the URL of the context, or --allow-insecure")
	}
	return err
}

// Read reads data. Shown is its name in messages.
func (c *Client) Read(ctx context.Context, name, natsContext string) (shown string, text []byte, err error) {
	switch {
	case strings.HasPrefix(name, KeyScheme):
		bucket, key, err := Parts(name, KeyScheme)
		if err != nil {
			return name, nil, err
		}
		text, err := c.NATS(natsContext, false).Value(ctx, bucket, key, safepath.LargestText)
		return name, text, ExplainNATS(err)
	case strings.HasPrefix(name, ObjectScheme):
		bucket, key, err := Parts(name, ObjectScheme)
		if err != nil {
			return name, nil, err
		}
		object, err := c.NATS(natsContext, false).Object(ctx, bucket, key, safepath.LargestText)
		if err != nil {
			return name, nil, ExplainNATS(err)
		}
		defer object.Close()
		text, err := io.ReadAll(object)
		return name, text, err
	}
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return name, nil, diag.Expected("a URL such as https://example.org/data.yaml").Got("%q", name)
	}
	shown = fetch.RedactURL(u)
	if err := c.CheckPlainHTTP(u); err != nil {
		return shown, nil, err
	}
	x, err := Get(ctx, u, "", safepath.LargestText)
	if err != nil {
		return shown, nil, err
	}
	defer x.Close()
	if text, err = io.ReadAll(x); err != nil {
		err = x.Failed(err)
	}
	return shown, text, err
}

// CheckPlainHTTP returns an error if root would use plain http, which anybody on the way can change.
func (c *Client) CheckPlainHTTP(u *url.URL) error {
	return c.trust().CheckPlain(u.String(), fetch.RedactURL(u), "use https, --sha256, --signers or --allow-insecure")
}

// Get downloads a URL. With a checksum, redirects to plain http are allowed.
func Get(ctx context.Context, u *url.URL, checksum string, limit int64) (*fetch.Transfer, error) {
	x := fetch.New(ctx, fetch.Request{URL: u, Checksum: checksum}, limit)
	err := x.Open(fetch.NewTransport())
	if err == nil {
		err = x.CheckSize()
	}
	if err != nil {
		err = x.Failed(err)
		x.Close()
		return nil, err
	}
	return x, nil
}
