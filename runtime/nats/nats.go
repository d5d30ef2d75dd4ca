// Package nats reads values of key-value buckets and objects of object stores from NATS JetStream. The servers and
// the credentials come from a context of the nats tool.
//
// Begin with [New]. A Client connects at the first request.
package nats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/natscontext"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// ContextVariable is the variable with the name of the context, and DefaultContext the name without it.
const (
	ContextVariable = "NATS_CONTEXT"
	DefaultContext  = "CCM"
)

// Timeouts of the connection, of an answer, and of the next part of an object.
const (
	connectPatience = 10 * time.Second
	answerPatience  = 30 * time.Second
	partPatience    = 15 * time.Second
)

// Options are the options of a Client.
type Options struct {
	// Context is the name of the context, or the absolute path of its file; "" means ContextVariable, then
	// DefaultContext.
	Context string
	// Check, if not nil, returns an error if the file of a context is not trusted.
	Check func(path string) error
	// Plain allows connections without TLS, on which anybody on the network can change the data.
	Plain bool
}

// A Client reads from the servers of one context. It connects at the first request. It is safe for use by several
// goroutines.
type Client struct {
	options Options
	name    string // name of the context

	mu     sync.Mutex
	conn   *nats.Conn
	js     jetstream.JetStream
	err    error // error of connecting
	closed chan struct{}
	// waiters are the pending requests: the server reports a denied request as an error of the connection.
	waiters map[*waiter]bool
}

// New returns a client. It does not connect yet.
func New(o Options) *Client {
	name := o.Context
	for _, other := range []string{os.Getenv(ContextVariable), DefaultContext} {
		if name == "" {
			name = other
		}
	}
	return &Client{options: o, name: name, closed: make(chan struct{}), waiters: make(map[*waiter]bool)}
}

// Close closes the connection, if there is one.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
	}
}

// errPlain is returned for a connection without TLS.
var errPlain = diag.Not("connection without TLS", "protected against tampering")

// IsPlain reports whether an error is caused by a connection without TLS.
func IsPlain(err error) bool { return errors.Is(err, errPlain) }

// connect returns the connection. It connects once, and again after a server has closed the connection.
func (c *Client) connect() (jetstream.JetStream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && c.conn.IsClosed() { // a later request may find another server
		c.conn, c.js, c.err, c.closed = nil, nil, nil, make(chan struct{})
	}
	if c.js == nil && c.err == nil {
		if c.err = c.reconnect(); c.err != nil {
			c.err = fmt.Errorf("NATS context %q: %w", c.name, c.err)
		}
	}
	return c.js, c.err
}

func (c *Client) reconnect() error {
	path, err := contextFile(c.name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return &UnknownContextError{path}
	}
	if c.options.Check != nil {
		if err := c.options.Check(path); err != nil {
			return err
		}
	}
	gone := c.closed
	conn, settings, err := natscontext.Connect(c.name, nats.Name("ccm"), nats.Timeout(connectPatience), nats.NoReconnect(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.refused(err) }), nats.ClosedHandler(func(*nats.Conn) { close(gone) }))
	if err != nil {
		return connectError(err, settings)
	}
	if _, err := conn.TLSConnectionState(); err != nil && !c.options.Plain {
		conn.Close()
		return errPlain
	}
	switch {
	case settings.JSDomain != "":
		c.js, err = jetstream.NewWithDomain(conn, settings.JSDomain)
	case settings.JSAPIPrefix != "":
		c.js, err = jetstream.NewWithAPIPrefix(conn, settings.JSAPIPrefix)
	default:
		c.js, err = jetstream.New(conn)
	}
	c.conn = conn
	return err
}

// An UnknownContextError reports that a context has no file.
type UnknownContextError struct{ Path string }

// Error names the missing file.
func (e *UnknownContextError) Error() string { return "file does not exist: " + e.Path }

// contextFile returns the path of a context's file, as the nats tool does.
func contextFile(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsAny(name, "/\\") || strings.Contains(name, "..") {
		return "", diag.Expected("the name of a context, or the absolute path of its file")
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		u, err := user.Current()
		if err != nil {
			return "", err
		}
		config = filepath.Join(u.HomeDir, ".config")
	}
	return filepath.Join(config, "nats", "context", name+".json"), nil
}

// connectError returns an error of connecting in words for users, without credentials.
func connectError(err error, s natscontext.Settings) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return diag.Rejected("server", "the credentials of the context")
	case errors.Is(err, nats.ErrNoServers):
		return diag.None("server answered")
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return errors.New("only one side uses TLS")
	}
	return withoutURLs(err)
}

// withoutURLs removes the users and passwords of URLs from an error.
func withoutURLs(err error) error {
	words := strings.Fields(err.Error())
	for i, word := range words {
		if u, e := url.Parse(strings.Trim(word, `"':,`)); e == nil && u.User != nil {
			words[i] = u.Redacted()
		}
	}
	return errors.New(strings.Join(words, " "))
}

// Value returns the value of a key in a key-value bucket. More than limit bytes are an error.
func (c *Client) Value(ctx context.Context, bucket, key string, limit int64) ([]byte, error) {
	js, err := c.connect()
	if err != nil {
		return nil, err
	}
	ctx, done := c.wait(ctx, asks("KV_"+bucket))
	defer done()
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return nil, c.failed(ctx, err, "bucket "+bucket)
	}
	entry, err := kv.Get(ctx, key)
	if err != nil {
		return nil, c.failed(ctx, err, fmt.Sprintf("key %s in bucket %s", key, bucket))
	}
	if int64(len(entry.Value())) > limit {
		return nil, diag.Exceeds("value", "%s", bytesize.Format(limit))
	}
	return entry.Value(), nil
}

// ObjectRevision returns a text that identifies the present content of an object: its digest, or the id of its upload
// if there is no digest.
func (c *Client) ObjectRevision(ctx context.Context, bucket, key string) (string, error) {
	js, err := c.connect()
	if err != nil {
		return "", err
	}
	ctx, done := c.wait(ctx, asks("OBJ_"+bucket))
	defer done()
	store, err := js.ObjectStore(ctx, bucket)
	if err != nil {
		return "", c.failed(ctx, err, "bucket "+bucket)
	}
	info, err := store.GetInfo(ctx, key)
	if err != nil {
		return "", c.failed(ctx, err, fmt.Sprintf("object %s in bucket %s", key, bucket))
	}
	if info.Digest == "" {
		return info.NUID, nil
	}
	return info.Digest, nil
}

// Object returns a reader of an object in an object store. At its end it checks the digest. An object of more than
// limit bytes is an error.
func (c *Client) Object(ctx context.Context, bucket, key string, limit int64) (io.ReadCloser, error) {
	js, err := c.connect()
	if err != nil {
		return nil, err
	}
	short, done := c.wait(ctx, asks("OBJ_"+bucket))
	defer done()
	store, err := js.ObjectStore(short, bucket)
	if err != nil {
		return nil, c.failed(short, err, "bucket "+bucket)
	}
	info, err := store.GetInfo(short, key)
	if err != nil {
		return nil, c.failed(short, err, fmt.Sprintf("object %s in bucket %s", key, bucket))
	}
	if info.Size > uint64(limit) {
		return nil, diag.Exceeds(fmt.Sprintf("object of %s", bytesize.Format(int64(min(info.Size, 1<<62)))), "%s",
			bytesize.Format(limit))
	}
	ctx, stop := context.WithCancelCause(ctx)
	r, err := store.Get(ctx, key)
	if err != nil {
		stop(nil)
		return nil, c.failed(ctx, err, fmt.Sprintf("object %s in bucket %s", key, bucket))
	}
	o := &object{r: r, client: c, ctx: ctx, stop: stop, remaining: limit, limit: limit, noun: fmt.Sprintf("object %s in bucket %s", key, bucket)}
	o.stall = time.AfterFunc(partPatience, func() { stop(errStalled) })
	c.mu.Lock()
	gone := c.closed
	c.mu.Unlock()
	go func() {
		select {
		case <-gone:
			stop(errGone)
		case <-ctx.Done():
		}
	}()
	return o, nil
}

var (
	errStalled = diag.None("data received for %s; part of the object may be lost", partPatience)
	errGone    = errors.New("server closed the connection")
)

// An object is the reader of an object in an object store.
type object struct {
	r                io.ReadCloser
	client           *Client
	ctx              context.Context
	stop             context.CancelCauseFunc
	stall            *time.Timer
	remaining, limit int64
	noun             string
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	for n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && context.Cause(o.ctx) == nil {
		n, err = o.r.Read(p) // the library ends each wait with its own deadline
	}
	if n > 0 {
		o.stall.Reset(partPatience)
	}
	if o.remaining -= int64(n); o.remaining < 0 {
		return 0, diag.Exceeds("object", "%s", bytesize.Format(o.limit))
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, o.client.failed(o.ctx, err, o.noun)
}

// Close implements io.Closer.
func (o *object) Close() error {
	o.stall.Stop()
	o.stop(nil)
	return o.r.Close()
}

// failed returns an error of a request in words for users, without credentials. what is the subject of the request.
func (c *Client) failed(ctx context.Context, err error, what string) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, errRefused), errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("%s: %w", what, errRefused)
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrStreamNotFound),
		errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted), errors.Is(err, jetstream.ErrObjectNotFound):
		return diag.None("%s", what)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return diag.Not("JetStream", "enabled for this account")
	case errors.Is(err, jetstream.ErrInvalidBucketName), errors.Is(err, jetstream.ErrInvalidStoreName), errors.Is(err, jetstream.ErrInvalidKey), errors.Is(err, jetstream.ErrNameRequired):
		return fmt.Errorf("%s: %w", what, diag.Invalid("name", nil))
	case errors.Is(err, jetstream.ErrDigestMismatch):
		return fmt.Errorf("%s: %w", what, diag.Mismatch("digest", "the content"))
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected), errors.Is(err, errGone):
		return fmt.Errorf("%s: %w", what, errGone)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("%s: %w", what, diag.NoResponse(words.Duration(answerPatience)))
	}
	return fmt.Errorf("%s: %w", what, withoutURLs(err))
}
