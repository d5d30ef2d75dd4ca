package nats

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// JetStream connects, if that was not done yet, and returns what works with streams.
func (c *Client) JetStream() (jetstream.JetStream, error) { return c.connect() }

// Send publishes a message without waiting for anybody to store it, and returns when the server
// has it.
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
	if err := conn.LastError(); err != nil { // of the permissions of who publishes
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
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
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
	// ErrOtherStream says that a message arrived in another stream than its header says.
	ErrOtherStream = errors.New("the subject belongs to another stream")
	// ErrNoStream says that no stream stores messages of a subject.
	ErrNoStream = errors.New("no stream stores it")
)

// codeOtherStream is what a server answers then (server/errors.json of nats-server).
const codeOtherStream = 10060

// Explain returns an error of the library about something, such as a stream, in words that help,
// and without what authorizes.
func (c *Client) Explain(ctx context.Context, err error, what string) error {
	return c.failed(ctx, err, what)
}
