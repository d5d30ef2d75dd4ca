package registry

import (
	"context"
	"maps"
	"slices"
	"time"

	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/runtime/registration"
)

// An Event is a change of the registry.
type Event struct {
	// Action is Register or Remove.
	Action Action `json:"action"`
	// Entry is the entry. A removed entry may have only the fields of its subject.
	Entry *registration.Entry `json:"entry"`
	// Reason is the reason of a removal: MaxAge, the server's word, or Gone if the entry is missing
	// and the server gives no reason.
	Reason string `json:"reason,omitempty"`
}

// An Action is a kind of change of an entry.
type Action string

// The actions.
const (
	Register Action = "register" // new, or published again
	Remove   Action = "remove"
)

// reasonGone is the reason of a removal that the server does not report.
const reasonGone = "Gone"

// recheck is the time between two checks of the stream. A server leaves marks only of expired
// entries, and only if the stream asks for marks; it does not report purged entries (seen with
// nats-server 2.15).
const recheck = 2 * time.Second

// Watch passes all entries of a query to report, and then each change, until the context ends or the
// connection is lost for good. It passes messages that are not entries to refused, as errors.
func (r *Registry) Watch(ctx context.Context, q registration.Query, report func(Event), refused func(error)) error {
	if err := q.Check(); err != nil {
		return err
	}
	js, err := r.Client.JetStream()
	if err != nil {
		return err
	}
	consumer, err := js.OrderedConsumer(ctx, r.Stream, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{q.Filter()}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	})
	if err != nil {
		return r.Client.Explain(ctx, err, "stream "+r.Stream)
	}
	messages := make(chan jetstream.Msg, 256)
	lost := make(chan error, 1)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		select {
		case messages <- m:
		case <-ctx.Done():
		}
	}, jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		if js.Conn().IsClosed() {
			select {
			case lost <- err:
			default:
			}
		}
	}))
	if err != nil {
		return r.Client.Explain(ctx, err, "stream "+r.Stream)
	}
	defer consuming.Stop()
	w := &watcher{registry: r, query: q, entries: make(map[string]*registration.Entry), report: report, onRefusal: refused}
	again := time.NewTicker(recheck)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-messages:
			w.message(m)
		case err := <-lost:
			return r.Client.Explain(ctx, err, "stream "+r.Stream)
		case <-consuming.Closed():
			return r.Client.Explain(ctx, natsio.ErrConnectionClosed, "stream "+r.Stream)
		case <-again.C:
			if err := w.recheck(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// A watcher remembers the reported entries.
type watcher struct {
	registry  *Registry
	query     registration.Query
	entries   map[string]*registration.Entry // by subject
	absent    map[string]bool                // known subjects that were missing at the last check
	report    func(Event)
	onRefusal func(error)
}

// message reports one message of the stream.
func (w *watcher) message(m jetstream.Msg) {
	subject := m.Subject()
	if reason := m.Headers().Get(headerMarker); reason != "" {
		w.remove(subject, reason)
		return
	}
	e, err := registration.Decode(subject, m.Data())
	if err != nil {
		w.onRefusal(err)
		return
	}
	w.entries[subject] = e
	w.report(Event{Action: Register, Entry: e})
}

// remove reports that an entry was removed.
func (w *watcher) remove(subject, reason string) {
	e := w.entries[subject]
	if e == nil {
		var err error
		if e, err = registration.OfSubject(subject); err != nil {
			w.onRefusal(err)
			return
		}
	}
	delete(w.entries, subject)
	w.report(Event{Action: Remove, Entry: e, Reason: reason})
}

// recheck reports the removal of entries that are missing in the stream.
func (w *watcher) recheck(ctx context.Context) error {
	there := make(map[string]bool)
	err := w.registry.each(ctx, w.query.Filter(), func(m *direct.Message) { there[m.Subject] = !m.Deleted() })
	if err != nil {
		return err
	}
	before := w.absent
	w.absent = make(map[string]bool)
	for _, subject := range slices.Sorted(maps.Keys(w.entries)) {
		switch {
		case there[subject]:
		case before[subject]:
			w.remove(subject, reasonGone)
		default: // a replica that answers may lag behind
			w.absent[subject] = true
		}
	}
	return nil
}
