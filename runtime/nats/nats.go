// Package nats reads values of key-value buckets and objects of object stores from NATS JetStream.
// Which servers are asked, and as whom, is said by a context of the nats tool.
//
// Begin with [New]. Nothing is connected before something is asked for.
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
)

// ContextVariable names the context if nothing else does, and DefaultContext is the one that is
// taken without it.
const (
	ContextVariable = "NATS_CONTEXT"
	DefaultContext  = "CCM"
)

// How long servers may take to connect, to answer, and to send the next part of an object.
const (
	connectPatience = 10 * time.Second
	answerPatience  = 30 * time.Second
	partPatience    = 15 * time.Second
)

// Options are those of a Client.
type Options struct {
	// Context is its name, or the absolute path of its file; "" for that of the environment, or
	// DefaultContext.
	Context string
	// Check returns why the file of a context is not believed. May be nil.
	Check func(path string) error
	// Plain lets connections without TLS be used: everybody on the way can change what comes.
	Plain bool
}

// A Client reads from the servers of one context. It connects when it is first asked. It is safe for
// use by several goroutines.
type Client struct {
	options Options
	name    string // of the context

	mu     sync.Mutex
	conn   *nats.Conn
	js     jetstream.JetStream
	err    error // of connecting
	closed chan struct{}
	// waiters are those who wait for an answer: the server refuses a request by an error of the connection.
	waiters map[*context.CancelCauseFunc]bool
}

// New returns a client.
func New(o Options) *Client {
	name := o.Context
	for _, other := range []string{os.Getenv(ContextVariable), DefaultContext} {
		if name == "" {
			name = other
		}
	}
	return &Client{options: o, name: name, closed: make(chan struct{}), waiters: make(map[*context.CancelCauseFunc]bool)}
}

// Close ends the connection, if there is one.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
	}
}

// errPlain says that a connection could be listened to and changed.
var errPlain = errors.New("the connection has no TLS, so that everybody on the way can change what comes")

// IsPlain reports whether an error is that a connection has no TLS.
func IsPlain(err error) bool { return errors.Is(err, errPlain) }

// connect connects, once.
func (c *Client) connect() (jetstream.JetStream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && c.conn.IsClosed() { // a server went away; a later request may find another one
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

// An UnknownContextError says that there is no context of a name.
type UnknownContextError struct{ Path string }

// Error says where it would be.
func (e *UnknownContextError) Error() string { return "there is none: no file " + e.Path }

// contextFile returns where the file of a context is, as the nats tool has it.
func contextFile(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsAny(name, "/\\") || strings.Contains(name, "..") {
		return "", errors.New("want the name of a context, or the absolute path of its file")
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

// connectError says why there is no connection, without what authorizes.
func connectError(err error, s natscontext.Settings) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return errors.New("the server does not accept who the context says that this is")
	case errors.Is(err, nats.ErrNoServers):
		return errors.New("no server answers")
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return errors.New("one side wants TLS, and the other has none")
	}
	return withoutURLs(err)
}

// withoutURLs takes users and passwords out of an error.
func withoutURLs(err error) error {
	words := strings.Fields(err.Error())
	for i, word := range words {
		if u, e := url.Parse(strings.Trim(word, `"':,`)); e == nil && u.User != nil {
			words[i] = u.Redacted()
		}
	}
	return errors.New(strings.Join(words, " "))
}

// errRefused says that a user may not do what a request needs.
var errRefused = errors.New("the server does not permit it to who the context says that this is")

// refused ends what waits for an answer if an error of the connection is that something is not permitted.
func (c *Client) refused(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := range c.waiters {
		(*end)(errRefused)
	}
}

// wait returns a context for a request, which ends with the patience for an answer.
func (c *Client) wait(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	c.mu.Lock()
	c.waiters[&end] = true
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	return ctx, func() {
		c.mu.Lock()
		delete(c.waiters, &end)
		c.mu.Unlock()
		cancel()
		end(nil)
	}
}

// Value returns the value of a key in a key-value bucket. More than limit bytes are an error.
func (c *Client) Value(ctx context.Context, bucket, key string, limit int64) ([]byte, error) {
	js, err := c.connect()
	if err != nil {
		return nil, err
	}
	ctx, done := c.wait(ctx)
	defer done()
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return nil, c.failed(ctx, err, "bucket "+bucket)
	}
	entry, err := kv.Get(ctx, key)
	if err != nil {
		return nil, c.failed(ctx, err, fmt.Sprintf("key %s in the bucket %s", key, bucket))
	}
	if int64(len(entry.Value())) > limit {
		return nil, fmt.Errorf("the value has more than %s, which is the limit", bytesize.Format(limit))
	}
	return entry.Value(), nil
}

// ObjectRevision returns what an object store calls the present content of an object: its digest, or
// another text that is a different one for each content.
func (c *Client) ObjectRevision(ctx context.Context, bucket, key string) (string, error) {
	js, err := c.connect()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	store, err := js.ObjectStore(ctx, bucket)
	if err != nil {
		return "", c.failed(ctx, err, "bucket "+bucket)
	}
	info, err := store.GetInfo(ctx, key)
	if err != nil {
		return "", c.failed(ctx, err, fmt.Sprintf("object %s in the bucket %s", key, bucket))
	}
	if info.Digest == "" {
		return info.NUID, nil
	}
	return info.Digest, nil
}

// Object returns an object of an object store, whose digest is checked at its end. More than
// limit bytes are an error.
func (c *Client) Object(ctx context.Context, bucket, key string, limit int64) (io.ReadCloser, error) {
	js, err := c.connect()
	if err != nil {
		return nil, err
	}
	short, done := c.wait(ctx)
	defer done()
	store, err := js.ObjectStore(short, bucket)
	if err != nil {
		return nil, c.failed(short, err, "bucket "+bucket)
	}
	info, err := store.GetInfo(short, key)
	if err != nil {
		return nil, c.failed(short, err, fmt.Sprintf("object %s in the bucket %s", key, bucket))
	}
	if info.Size > uint64(limit) {
		return nil, fmt.Errorf("the object has %s, and the limit is %s", bytesize.Format(int64(min(info.Size, 1<<62))), bytesize.Format(limit))
	}
	ctx, stop := context.WithCancelCause(ctx)
	r, err := store.Get(ctx, key)
	if err != nil {
		stop(nil)
		return nil, c.failed(ctx, err, fmt.Sprintf("object %s in the bucket %s", key, bucket))
	}
	o := &object{r: r, client: c, ctx: ctx, stop: stop, remaining: limit, limit: limit, noun: fmt.Sprintf("object %s in the bucket %s", key, bucket)}
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
	errStalled = fmt.Errorf("nothing came for %s; a part of it may be lost", partPatience)
	errGone    = errors.New("the server ended the connection")
)

// An object is read as it comes.
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
		n, err = o.r.Read(p) // the library has a deadline of its own
	}
	if n > 0 {
		o.stall.Reset(partPatience)
	}
	if o.remaining -= int64(n); o.remaining < 0 {
		return 0, fmt.Errorf("the object has more than %s, which is the limit", bytesize.Format(o.limit))
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

// failed says what became of a request for something.
func (c *Client) failed(ctx context.Context, err error, what string) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, errRefused):
		return fmt.Errorf("%s: %w", what, err)
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrStreamNotFound),
		errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted), errors.Is(err, jetstream.ErrObjectNotFound):
		return fmt.Errorf("no %s", what)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return errors.New("the server has no JetStream for this account")
	case errors.Is(err, jetstream.ErrInvalidBucketName), errors.Is(err, jetstream.ErrInvalidStoreName), errors.Is(err, jetstream.ErrInvalidKey), errors.Is(err, jetstream.ErrNameRequired):
		return fmt.Errorf("%s: no such name can be", what)
	case errors.Is(err, jetstream.ErrDigestMismatch):
		return fmt.Errorf("%s: its digest is not that of what came", what)
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected), errors.Is(err, errGone):
		return fmt.Errorf("%s: %w", what, errGone)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("%s: no answer within %s", what, answerPatience)
	}
	return fmt.Errorf("%s: %w", what, withoutURLs(err))
}
