// Package direct reads messages of JetStream streams without a consumer: direct get of NATS (ADR-31,
// "JetStream Direct Get"). Any replica answers, nothing is kept on the servers, and one permission is
// enough. A replica may lag behind, so what comes may be older than what was stored.
//
// Begin with [Last], [Read] and [All]; [Publish] stores a message, and [Listen] hears what is published.
package direct

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/subject"
)

// ErrNone says that there is no such message, ErrNoStream that nobody answers for the stream, ErrNoAnswer that
// nothing came in time, and ErrBroken that some of what was asked for was lost.
var (
	ErrNone     = errors.New("there is none")
	ErrNoStream = errors.New("no server has this stream now (ccm fleet check)")
	ErrNoAnswer = errors.New("no answer")
	ErrBroken   = errors.New("the connection broke while the answer came")
)

// IsPassing reports whether an error may be none at the next try: servers choose a leader, or a connection is made anew.
func IsPassing(err error) bool {
	for _, passing := range []error{ErrNoAnswer, ErrNoStream, ErrBroken, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrReconnectBufExceeded, nats.ErrDisconnected} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// usualPrefix begins the subjects of JetStream unless something else is said.
const usualPrefix = "$JS.API"

// Patience is how long a server may take to send the next message, unless a request says otherwise.
const Patience = 10 * time.Second

// A Message is one of a stream.
type Message struct {
	Subject  string
	Data     []byte
	Header   nats.Header
	Sequence uint64    // in the stream
	Time     time.Time // when the server stored it
}

// Deleted reports whether the message says that the value of a key is gone.
func (m *Message) Deleted() bool {
	op := m.Header.Get("KV-Operation")
	return op == "DEL" || op == "PURGE" || m.Header.Get("Nats-Marker-Reason") != ""
}

// Last returns the last message of a subject.
func Last(ctx context.Context, nc *nats.Conn, stream, of string) (*Message, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, subject.DirectGet(stream, of), nil)
	if err != nil {
		return nil, plain(err, stream, Patience)
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
	From   uint64 // the first sequence that is wanted; 0 for the first
	// Since asks for what was stored from then on, if From is 0. May be zero.
	Since time.Time
	// Prefix begins the subjects of JetStream, as $JS.hub.API for the domain hub; "" for the usual one.
	Prefix   string
	Batch    int // messages at most
	MaxBytes int // bytes at most, but at least one message; 0 for no limit
	// Patience is how long the next message may take; 0 for the usual one. Large messages need more on slow networks.
	Patience time.Duration
}

// body is a request as servers read it.
type body struct {
	Seq       uint64     `json:"seq,omitempty"`
	StartTime *time.Time `json:"start_time,omitempty"`
	Filter    string     `json:"next_by_subj"`
	Batch     int        `json:"batch"`
	MaxBytes  int        `json:"max_bytes,omitempty"`
}

// Read asks once, and calls do for each message that comes. It returns the sequence to go on from, and
// how many messages were there that did not come. After an error next is still where to go on.
func Read(ctx context.Context, nc *nats.Conn, r Request, do func(*Message) error) (next uint64, pending int, err error) {
	next = max(r.From, 1)
	b := body{Seq: next, Filter: r.Filter, Batch: r.Batch, MaxBytes: r.MaxBytes}
	if r.From == 0 && !r.Since.IsZero() {
		since := r.Since.UTC()
		b.Seq, b.StartTime = 0, &since
	}
	request, err := json.Marshal(b)
	if err != nil {
		return next, 0, err
	}
	inbox := nc.NewInbox()
	answers, stop, err := Listen(nc, inbox)
	if err != nil {
		return next, 0, err
	}
	defer stop()
	to := subject.DirectGet(r.Stream, "")
	if r.Prefix != "" {
		to = r.Prefix + strings.TrimPrefix(to, usualPrefix)
	}
	if r.Patience <= 0 {
		r.Patience = Patience
	}
	connection := nc.Stats().Reconnects
	if err := nc.PublishRequest(to, inbox, request); err != nil {
		return next, 0, plain(err, r.Stream, r.Patience)
	}
	look := time.NewTicker(min(time.Second, r.Patience))
	defer look.Stop()
	var last uint64 // the message before, if there was one
	for {
		raw, err := receive(ctx, nc, answers, look.C, connection, r.Patience)
		if err != nil {
			return next, 0, plain(err, r.Stream, r.Patience)
		}
		switch raw.Header.Get("Status") {
		case "":
		case "204": // the end of the batch
			pending, err = strconv.Atoi(raw.Header.Get("Nats-Num-Pending"))
			return next, pending, err
		case "404":
			return next, 0, nil
		default:
			return next, 0, status(raw, r.Stream)
		}
		m, err := newMessage(raw)
		if err != nil {
			return next, 0, err
		}
		if before := raw.Header.Get("Nats-Last-Sequence"); last > 0 && before != "" && before != strconv.FormatUint(last, 10) {
			return next, 0, fmt.Errorf("%s: %w", r.Stream, ErrBroken)
		}
		last = m.Sequence
		if err := do(m); err != nil {
			return next, 0, err
		}
		next = m.Sequence + 1
	}
}

// mostPending is how many bytes of messages may wait for who listens.
const mostPending = 512 << 20

// Listen returns what is published to a subject from now on. Messages that come faster than they are taken wait in
// memory: a channel of a subscription would lose those that it has no room for, and SubscribeSync makes room for
// 65,536 each time. Stop has to be called.
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

// receive waits for the next message of what was asked for. When the connection that asked is gone nothing comes any
// more, or not all of it: at each tick of look it is seen whether it is there.
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

// allBytes is how much one request of All asks for.
const allBytes = 8 << 20

// All calls do for all messages of subjects, in as many requests as it takes. What is stored meanwhile
// may come too.
func All(ctx context.Context, nc *nats.Conn, r Request, do func(*Message) error) error {
	r.Batch, r.MaxBytes = 100_000, allBytes
	for {
		next, pending, err := Read(ctx, nc, r, do)
		if err != nil || pending == 0 {
			return err
		}
		r.From = next
	}
}

// newMessage reads what a server sends of a stored message.
func newMessage(m *nats.Msg) (*Message, error) {
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return nil, errors.New("the server sent a message without its sequence")
	}
	stored, _ := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	return &Message{Subject: m.Header.Get("Nats-Subject"), Data: m.Data, Header: m.Header, Sequence: seq, Time: stored}, nil
}

// status returns what an answer says that is no message.
func status(m *nats.Msg, stream string) error {
	switch code := m.Header.Get("Status"); code {
	case "":
		return nil
	case "404":
		return ErrNone
	case "503":
		return fmt.Errorf("%s: %w", stream, ErrNoStream)
	default:
		return fmt.Errorf("%s: the server answers %s %s", stream, code, m.Header.Get("Description"))
	}
}

// plain says what became of a request.
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

// An Ack says where a message was stored.
type Ack struct {
	Stream    string `json:"stream"`
	Sequence  uint64 `json:"seq"`
	Duplicate bool   `json:"duplicate"`
}

// A StoreError says why a server did not store a message.
type StoreError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

// Error returns what the server says.
func (e *StoreError) Error() string {
	return fmt.Sprintf("the server does not store it: %s (%d)", e.Description, e.ErrCode)
}

// wrongLastSequence is how servers say that somebody else has stored something meanwhile: to the
// subject, or because of another limit of the stream (server/errors.json of nats-server).
const wrongLastSequence = 10071

// IsConflict reports whether a message was not stored because of one that somebody else has stored.
func IsConflict(err error) bool {
	e, ok := errors.AsType[*StoreError](err)
	return ok && (e.ErrCode == wrongLastSequence || e.ErrCode == 10164)
}

// Publish stores a message and waits until it is. Options are headers of the message: see [Expect] and
// [ID].
func Publish(ctx context.Context, nc *nats.Conn, to string, data []byte, options ...Option) (Ack, error) {
	m := &nats.Msg{Subject: to, Data: data, Header: nats.Header{}}
	for _, o := range options {
		m.Header.Set(o.name, o.value)
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	answer, err := nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return Ack{}, plain(err, to, Patience)
	}
	var x struct {
		Ack
		Error *StoreError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &x); err != nil {
		return Ack{}, fmt.Errorf("%s: the server's answer cannot be read", to)
	}
	if x.Error != nil {
		return Ack{}, fmt.Errorf("%s: %w", to, x.Error)
	}
	return x.Ack, nil
}

// An Option is a header of a message.
type Option struct{ name, value string }

// ID names a message, so that it is stored once although it is sent again.
func ID(id string) Option { return Option{"Nats-Msg-Id", id} }

// Expect has a message stored only if the last one of its subject has this sequence; 0 if there is none.
func Expect(sequence uint64) Option {
	return Option{"Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(sequence, 10)}
}

// Header is any other header of a message.
func Header(name, value string) Option { return Option{name, value} }
