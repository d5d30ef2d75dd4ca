package nats

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/runtime/diag"
)

// JetStream returns the JetStream of the connection, and connects if necessary.
func (c *Client) JetStream() (jetstream.JetStream, error) { return c.connect() }

// Send publishes a message and returns once the server has received it. It does not wait for a stream to store it.
func (c *Client) Send(ctx context.Context, msg *nats.Msg) error {
	js, err := c.connect()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	conn := js.Conn()
	if err := conn.PublishMsg(msg); err != nil {
		return c.failed(ctx, err, "subject "+msg.Subject)
	}
	if err := conn.FlushWithContext(ctx); err != nil {
		return c.failed(ctx, err, "subject "+msg.Subject)
	}
	// The connection keeps its last error, which may be about the subject of an earlier message.
	if err := conn.LastError(); err != nil && (!errors.Is(err, nats.ErrPermissionViolation) || strings.Contains(err.Error(), strconv.Quote(msg.Subject))) {
		return c.failed(ctx, err, "subject "+msg.Subject)
	}
	return nil
}

// Store publishes a message and waits until a stream has stored it.
func (c *Client) Store(ctx context.Context, msg *nats.Msg) error {
	js, err := c.connect()
	if err != nil {
		return err
	}
	ctx, done := c.wait(ctx, func(subject string) bool { return subject == msg.Subject })
	defer done()
	_, err = js.PublishMsg(ctx, msg)
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == codeOtherStream {
		return ErrOtherStream
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return ErrNoStream
	}
	return c.failed(ctx, err, "subject "+msg.Subject)
}

var (
	// ErrOtherStream is returned if another stream stores the subject than the header of the message says.
	ErrOtherStream = diag.OfAnother("subject", "stream")
	// ErrNoStream is returned if no stream stores the subject.
	ErrNoStream = diag.None("stream for this subject")
)

// codeOtherStream is the server's error code for ErrOtherStream (server/errors.json of nats-server).
const codeOtherStream = 10060

// Explain returns an error of the NATS library in words for users, without credentials. what is the subject of the
// request, such as a stream.
func (c *Client) Explain(ctx context.Context, err error, what string) error {
	return c.failed(ctx, err, what)
}
