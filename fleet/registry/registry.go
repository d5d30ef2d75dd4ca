// Package registry keeps the entries of services in a stream of NATS, and finds them there. The
// stream, its subjects and its messages are those of Choria CCM, see [registration.Entry].
//
// Begin with [Registry]. It connects at the first use.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/registration"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Mode is the way in which entries are published.
type Mode string

// The modes.
const (
	// Core sends entries to subscribers, if there are any.
	Core Mode = "nats"
	// Stored waits until the stream has stored an entry.
	Stored Mode = "jetstream"
)

// Headers of messages: how long the server keeps the message (ADR-43 of NATS), the stream in which
// it has to arrive, and why the server replaced another message by this one.
const (
	headerTTL    = "Nats-TTL"
	headerStream = "Nats-Expected-Stream"
	headerMarker = "Nats-Marker-Reason"
)

// A Registry is one stream of entries.
type Registry struct {
	Client *nats.Client
	// Stream is the name of the stream.
	Stream string
}

// Publish publishes an entry, which has to be valid (registration.Entry.Check).
func (r *Registry) Publish(ctx context.Context, e *registration.Entry, mode Mode) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(text) > registration.MaxSize {
		return diag.With("the entry", diag.MustBe("at most %d bytes", registration.MaxSize).Got("%d", len(text)))
	}
	msg := natsio.NewMsg(e.Subject())
	msg.Data = text
	if mode == Core {
		return r.Client.Send(ctx, msg)
	}
	if e.TTL != nil {
		msg.Header.Set(headerTTL, e.TTL.String())
	}
	msg.Header.Set(headerStream, r.Stream)
	switch err := r.Client.Store(ctx, msg); {
	case errors.Is(err, nats.ErrOtherStream):
		return diag.OfAnother("the subject", "stream than "+r.Stream)
	case errors.Is(err, nats.ErrNoStream):
		return fmt.Errorf("%w (create it with: ccm registration init)", diag.NotFound("stream", r.Stream, nil))
	default:
		return err
	}
}

// Remove removes an entry from the stream. It reports whether the entry was there.
func (r *Registry) Remove(ctx context.Context, e *registration.Entry) (bool, error) {
	js, err := r.Client.JetStream()
	if err != nil {
		return false, err
	}
	stream, err := js.Stream(ctx, r.Stream)
	if err != nil {
		return false, r.Client.Explain(ctx, err, "stream "+r.Stream)
	}
	there := false
	err = r.each(ctx, e.Subject(), func(m *direct.Message) { there = !m.Deleted() })
	if err != nil || !there {
		return false, err
	}
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(e.Subject())); err != nil {
		return false, r.Client.Explain(ctx, err, "stream "+r.Stream)
	}
	return true, nil
}

// Find returns the entries that match a query, by address and port. It leaves out stored messages
// that are no entries, and calls refused with the reason.
func (r *Registry) Find(ctx context.Context, q registration.Query, refused func(error)) (registration.Entries, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	latest := make(map[string]*registration.Entry) // by subject: a foreign stream may keep several
	err := r.each(ctx, q.Filter(), func(m *direct.Message) {
		delete(latest, m.Subject)
		if m.Deleted() {
			return
		}
		e, err := registration.Decode(m.Subject, m.Data)
		if err != nil {
			refused(err)
			return
		}
		latest[m.Subject] = e
	})
	if err != nil {
		return nil, err
	}
	list := make(registration.Entries, 0, len(latest))
	for _, e := range latest {
		list = append(list, e)
	}
	list.Sort()
	return list, nil
}

// readBytes is the most bytes of one request: a server buffers so much for each reader.
const readBytes = 256 << 10

// each calls do for each message on subjects that match a filter. It makes no consumer, and needs
// only the permission of direct get.
func (r *Registry) each(ctx context.Context, filter string, do func(*direct.Message)) error {
	js, err := r.Client.JetStream()
	if err != nil {
		return err
	}
	request := direct.Request{Stream: r.Stream, Filter: filter, MaxBytes: readBytes}
	if o := js.Options(); o.Domain != "" {
		request.Prefix = "$JS." + o.Domain + ".API"
	} else if o.APIPrefix != "" {
		request.Prefix = strings.TrimSuffix(o.APIPrefix, ".")
	}
	err = direct.All(ctx, js.Conn(), request, func(m *direct.Message) error {
		do(m)
		return nil
	})
	if errors.Is(err, direct.ErrNoStream) {
		return diag.None("stream %s with direct get (create or update it with: ccm registration init)", r.Stream)
	}
	return err
}
