// Package direct reads messages of JetStream streams without a consumer: direct get of NATS
// (ADR-31, "JetStream Direct Get"). Any replica answers, the servers keep no state for the reader,
// and one permission is enough. A replica may lag behind, so the messages may be older than the
// newest stored ones.
//
// Begin with [Last], [All] and [Reader]; [Publish] stores a message, and [Listen] receives published
// messages.
package direct

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// Errors of reads. ErrNone says that there is no such message, ErrNoStream that nobody answers for
// the stream, ErrNoAnswer that the time limit was reached, and ErrBroken that some of the requested
// messages were lost.
var (
	ErrNone     = diag.NotFound("message", "", nil)
	ErrNoStream = diag.None("server has this stream at the moment (see ccm fleet check)")
	ErrNoAnswer = diag.None("answer")
	ErrBroken   = errors.New("connection lost while reading the response")
)

// IsPassing reports whether another try may succeed: servers choose a leader, or a connection is
// made again.
func IsPassing(err error) bool {
	for _, passing := range []error{ErrNoAnswer, ErrNoStream, ErrBroken, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrReconnectBufExceeded, nats.ErrDisconnected} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// usualPrefix is the beginning of the subjects of JetStream without a domain.
const usualPrefix = "$JS.API"

// Patience is the usual time limit for the next message from a server; a request may have another
// one.
const Patience = 10 * time.Second

// A Message is one message of a stream.
type Message struct {
	Subject  string
	Data     []byte
	Header   nats.Header
	Sequence uint64    // in the stream
	Time     time.Time // when the server stored it
}

// Deleted reports whether the message marks the value of a key as deleted.
func (m *Message) Deleted() bool {
	op := m.Header.Get("KV-Operation")
	return op == "DEL" || op == "PURGE" || m.Header.Get("Nats-Marker-Reason") != ""
}

// Last returns the last message of a subject.
func Last(ctx context.Context, nc *nats.Conn, stream, of string) (*Message, error) {
	return LastWithin(ctx, nc, Patience, stream, of)
}

// LastWithin is like Last with another time limit.
func LastWithin(ctx context.Context, nc *nats.Conn, patience time.Duration, stream, of string) (*Message, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, subject.DirectGet(stream, of), nil)
	if err != nil {
		return nil, plain(err, stream, patience)
	}
	if err := status(m, stream); err != nil {
		return nil, err
	}
	return newMessage(m)
}

// A Request asks for some messages of a stream in their order.
type Request struct {
	Stream string
	Filter string // the subjects, which may have wildcards
	From   uint64 // the first sequence to read; 0 for the first of the stream
	// Since limits the request to messages stored at that time or later, if From is 0. May be zero.
	Since time.Time
	// Prefix is the beginning of the subjects of JetStream, as $JS.hub.API for the domain hub; ""
	// for the usual one.
	Prefix   string
	Batch    int // most messages
	MaxBytes int // most bytes, but at least one message is read; 0 for no limit of Read, and the usual one of All
	// Patience is the time limit for the next message; 0 for the usual one. Large messages need
	// more on slow networks.
	Patience time.Duration
}

// body is a request in the JSON of the servers.
type body struct {
	Seq       uint64     `json:"seq,omitempty"`
	StartTime *time.Time `json:"start_time,omitempty"`
	Filter    string     `json:"next_by_subj"`
	Batch     int        `json:"batch"`
	MaxBytes  int        `json:"max_bytes,omitempty"`
}

// A Reader sends requests one after another, and receives the answers with one subscription: the
// servers of a cluster notify each other of each new one, which takes them longer than a short
// answer. The caller has to close it.
type Reader struct {
	Conn    *nats.Conn
	inbox   string
	answers <-chan *nats.Msg
	stop    func() // nil if there is no subscription
}

// Close ends the subscription. The Reader may be used again.
func (r *Reader) Close() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// Read sends a request, and calls do for each message of the answer. It returns the sequence to
// go on from, and the number of matching messages after the answer. next is valid after an error
// too.
func (r *Reader) Read(ctx context.Context, q Request, do func(*Message) error) (next uint64, pending int, err error) {
	next = max(q.From, 1)
	b := body{Seq: next, Filter: q.Filter, Batch: q.Batch, MaxBytes: q.MaxBytes}
	if q.From == 0 && !q.Since.IsZero() {
		since := q.Since.UTC()
		b.Seq, b.StartTime = 0, &since
	}
	request, err := json.Marshal(b)
	if err != nil {
		return next, 0, err
	}
	to := subject.DirectGet(q.Stream, "")
	if q.Prefix != "" {
		to = q.Prefix + strings.TrimPrefix(to, usualPrefix)
	}
	if q.Patience <= 0 {
		q.Patience = Patience
	}
	if r.stop == nil {
		r.inbox = r.Conn.NewInbox()
		if r.answers, r.stop, err = Listen(r.Conn, r.inbox); err != nil {
			return next, 0, err
		}
	}
	defer func() {
		if err != nil { // messages of this answer may still come
			r.Close()
		}
	}()
	connection := r.Conn.Stats().Reconnects
	if err := r.Conn.PublishRequest(to, r.inbox, request); err != nil {
		return next, 0, plain(err, q.Stream, q.Patience)
	}
	look := time.NewTicker(min(time.Second, q.Patience))
	defer look.Stop()
	var last uint64 // sequence of the message before, 0 if there is none
	for {
		raw, err := receive(ctx, r.Conn, r.answers, look.C, connection, q.Patience)
		if err != nil {
			return next, 0, plain(err, q.Stream, q.Patience)
		}
		switch raw.Header.Get("Status") {
		case "":
		case "204": // the end of the batch
			pending, err = strconv.Atoi(raw.Header.Get("Nats-Num-Pending"))
			return next, pending, err
		case "404":
			return next, 0, nil
		default:
			return next, 0, status(raw, q.Stream)
		}
		m, err := newMessage(raw)
		if err != nil {
			return next, 0, err
		}
		if before := raw.Header.Get("Nats-Last-Sequence"); last > 0 && before != "" && before != strconv.FormatUint(last, 10) {
			return next, 0, fmt.Errorf("%s: %w", q.Stream, ErrBroken)
		}
		last = m.Sequence
		if err := do(m); err != nil {
			return next, 0, err
		}
		next = m.Sequence + 1
	}
}

// mostPending is the most messages in bytes that wait for a reader.
const mostPending = 512 << 20

// Listen returns the messages published to a subject from now on. Messages that arrive faster than
// the caller takes them wait in memory: a subscription with a channel would lose messages if that
// is full, and SubscribeSync allocates room for 65,536 each time. The caller has to call stop.
func Listen(nc *nats.Conn, to string) (messages <-chan *nats.Msg, stop func(), err error) {
	queue, done := make(chan *nats.Msg, 64), make(chan struct{})
	sub, err := nc.Subscribe(to, func(m *nats.Msg) {
		select {
		case queue <- m:
		case <-done:
		}
	})
	if err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = sub.Unsubscribe()
		close(done)
	}
	if err := sub.SetPendingLimits(-1, mostPending); err != nil {
		stop()
		return nil, nil, err
	}
	return queue, stop, nil
}

// receive waits for the next message of an answer. If the connection of the request is gone, no
// more or not all messages arrive; so each tick of look checks the connection.
func receive(ctx context.Context, nc *nats.Conn, answers <-chan *nats.Msg, look <-chan time.Time, connection uint64, patience time.Duration) (*nats.Msg, error) {
	for end := time.Now().Add(patience); ; {
		select {
		case m := <-answers:
			if nc.Stats().Reconnects != connection {
				return nil, ErrBroken
			}
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-look:
			if nc.Stats().Reconnects != connection || !nc.IsConnected() {
				return nil, ErrBroken
			}
			if !time.Now().Before(end) {
				return nil, context.DeadlineExceeded
			}
		}
	}
}

// allBytes is the most bytes of one request of All, if it has no other limit.
const allBytes = 8 << 20

// All calls do for all messages of subjects, in as many requests as necessary. It may include
// messages that are stored meanwhile.
func All(ctx context.Context, nc *nats.Conn, q Request, do func(*Message) error) error {
	r := Reader{Conn: nc}
	defer r.Close()
	q.Batch = 100_000
	if q.MaxBytes == 0 {
		q.MaxBytes = allBytes
	}
	for {
		next, pending, err := r.Read(ctx, q, do)
		if err != nil || pending == 0 {
			return err
		}
		q.From = next
	}
}

// newMessage decodes a server's answer with a stored message.
func newMessage(m *nats.Msg) (*Message, error) {
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return nil, diag.Lacks("message from the server", "a sequence number")
	}
	stored, _ := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	return &Message{Subject: m.Header.Get("Nats-Subject"), Data: m.Data, Header: m.Header, Sequence: seq, Time: stored}, nil
}

// status returns the error of an answer without a message.
func status(m *nats.Msg, stream string) error {
	switch code := m.Header.Get("Status"); code {
	case "":
		return nil
	case "404":
		return ErrNone
	case "503":
		return fmt.Errorf("%s: %w", stream, ErrNoStream)
	default:
		return fmt.Errorf("%s: server returned %s %s", stream, code, m.Header.Get("Description"))
	}
}

// plain returns the error of a request in the words of this package.
func plain(err error, stream string, patience time.Duration) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%s: %w", stream, ErrNoStream)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("%s: %w within %s", stream, ErrNoAnswer, patience)
	case errors.Is(err, ErrBroken):
		return fmt.Errorf("%s: %w", stream, err)
	}
	return err
}

// An Ack is a server's confirmation that it stored a message.
type Ack struct {
	Stream    string `json:"stream"`
	Sequence  uint64 `json:"seq"`
	Duplicate bool   `json:"duplicate"`
}

// A StoreError is a server's refusal to store a message.
type StoreError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

// Error returns the server's description and its number.
func (e *StoreError) Error() string {
	return fmt.Sprintf("server refused the message: %s (%d)", e.Description, e.ErrCode)
}

// wrongLastSequence is the number of the servers' error that another message was stored meanwhile:
// to the subject, or because of another limit of the stream (server/errors.json of nats-server).
const wrongLastSequence = 10071

// IsConflict reports whether a server refused a message because another one was stored meanwhile.
func IsConflict(err error) bool {
	e, ok := errors.AsType[*StoreError](err)
	return ok && (e.ErrCode == wrongLastSequence || e.ErrCode == 10164)
}

// elections are the pauses before a message is sent again to a stream that had no leader.
var elections = retry.Backoff{Min: 200 * time.Millisecond, Max: 2 * time.Second}

// Publish stores a message and waits for the server's confirmation, for Patience at most. While the
// servers choose a leader for the stream, which they do for a moment after it was made and after one
// of them was lost, it sends the message again: nobody has taken it. Options are headers of the
// message: see [Expect] and [ID].
func Publish(ctx context.Context, nc *nats.Conn, to string, data []byte, options ...Option) (Ack, error) {
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for failures := 1; ; failures++ {
		ack, err := PublishWithin(ctx, nc, Patience, to, data, options...)
		if !errors.Is(err, ErrNoStream) || !retry.Sleep(within, elections.Delay(failures, rand.Float64)) {
			return ack, err
		}
	}
}

// PublishWithin sends a message once, with another time limit than Publish.
func PublishWithin(ctx context.Context, nc *nats.Conn, patience time.Duration, to string, data []byte, options ...Option) (Ack, error) {
	m := &nats.Msg{Subject: to, Data: data, Header: nats.Header{}}
	for _, o := range options {
		m.Header.Set(o.name, o.value)
	}
	if end, ok := ctx.Deadline(); ok {
		patience = max(0, min(patience, time.Until(end).Round(time.Millisecond)))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return Ack{}, plain(err, to, patience)
	}
	var x struct {
		Ack
		Error *StoreError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &x); err != nil {
		return Ack{}, fmt.Errorf("%s: %w", to, diag.Invalid("response from the server", nil))
	}
	if x.Error != nil {
		return Ack{}, fmt.Errorf("%s: %w", to, x.Error)
	}
	return x.Ack, nil
}

// An Option is a header of a message.
type Option struct{ name, value string }

// ID names a message, so that a message that is sent twice is stored once.
func ID(id string) Option { return Option{"Nats-Msg-Id", id} }

// Expect makes the server store a message only if the last message of its subject has this
// sequence; 0 if there is none.
func Expect(sequence uint64) Option {
	return Option{"Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(sequence, 10)}
}

// Header is any other header of a message.
func Header(name, value string) Option { return Option{name, value} }
