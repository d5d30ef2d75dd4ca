package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/test/fleet/crowd"
)

// A floor does the same work without ccm: the servers have the same configuration without accounts and permissions,
// and nodes are connections that decode, check and keep nothing. What it takes, the machine and NATS take.
type floor struct {
	*bench
	nodes    []*nats.Conn
	operator *nats.Conn
	messages atomic.Int64 // number of those that came to nodes
}

// Sizes of its messages in bytes, about those of ccm.
const (
	orderBytes   = 2 << 10
	resultBytes  = 500
	chunkBytes   = 128 << 10
	requestBytes = 256 << 10
)

// measureFloor measures the floor on the servers of a fleet, whose data are not needed any more. ca is the file of their
// certificate authority.
func (b *bench) measureFloor(ctx context.Context, ca string) error {
	if err := b.s.restartWithoutAccounts(); err != nil {
		return err
	}
	f := &floor{bench: b}
	dial := func(i int) (*nats.Conn, error) {
		return nats.Connect("tls://127.0.0.1:"+b.s.ports[i%len(b.s.ports)], nats.RootCAs(ca),
			nats.Timeout(time.Minute), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1))
	}
	var err error
	if f.operator, err = dial(0); err != nil {
		return err
	}
	defer f.operator.Close()
	if err := f.streams(ctx); err != nil {
		return err
	}
	began := time.Now()
	f.nodes = make([]*nats.Conn, b.measurement.nodes)
	defer func() {
		for _, nc := range f.nodes {
			if nc != nil {
				nc.Close()
			}
		}
	}()
	if err := f.each(len(f.nodes), atOnce, func(i int) error {
		nc, err := dial(i)
		if err != nil {
			return err
		}
		f.nodes[i] = nc
		if _, err := nc.Subscribe("published.release", func(*nats.Msg) { f.messages.Add(1) }); err != nil {
			return err
		}
		if _, err := nc.Subscribe("order", func(*nats.Msg) { go func() { _ = f.store(ctx, nc, fmt.Sprintf("result.%d", i), resultBytes) }() }); err != nil {
			return err
		}
		return nc.FlushTimeout(time.Minute)
	}); err != nil {
		return err
	}
	f.record(rowConnect, began)
	for _, work := range []func(context.Context) error{f.facts, f.release, f.job, f.bundle} {
		if err := work(ctx); err != nil {
			return fmt.Errorf("NATS alone: %w", err)
		}
	}
	return nil
}

// streams makes the streams as soon as the servers have a leader.
func (f *floor) streams(ctx context.Context) error {
	js, err := jetstream.New(f.operator)
	if err != nil {
		return err
	}
	for _, c := range []jetstream.StreamConfig{
		{Name: "FACTS", Subjects: []string{"facts.*"}, MaxMsgsPerSubject: 1},
		{Name: "CONTROL", Subjects: []string{"control.*"}, MaxMsgsPerSubject: 1, RePublish: &jetstream.RePublish{Source: "control.*", Destination: "published.{{wildcard(1)}}"}},
		{Name: "RESULTS", Subjects: []string{"result.*"}},
		{Name: "CHUNKS", Subjects: []string{"chunk"}},
	} {
		c.Replicas, c.AllowDirect = 3, true
		var err error
		if !succeeds(ctx, func() bool { _, err = js.CreateStream(ctx, c); return err == nil }) {
			return err
		}
	}
	return nil
}

// succeeds calls do until it succeeds, for a minute at most.
func succeeds(ctx context.Context, do func() bool) bool {
	for end := time.Now().Add(time.Minute); !do(); time.Sleep(200 * time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
	}
	return true
}

// each calls do for the numbers below count, limit of them at a time, and returns an error of them.
func (f *floor) each(count, limit int, do func(i int) error) error {
	var (
		wg     sync.WaitGroup
		failed = make(chan error, 1)
		free   = make(chan struct{}, limit)
	)
	for i := range count {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if err := do(i); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// record records the time of a row since its beginning.
func (f *floor) record(row string, began time.Time) {
	f.floor[row] = inSeconds(time.Since(began))
	fmt.Fprintf(os.Stderr, "%6d nodes: NATS alone: %s: %s\n", f.measurement.nodes, row, f.floor[row].text)
}

// store stores a message of some bytes.
func (f *floor) store(ctx context.Context, nc *nats.Conn, to string, size int) error {
	_, err := direct.PublishWithin(ctx, nc, time.Minute, to, bytes.Repeat([]byte("x"), size))
	return err
}

func (f *floor) facts(ctx context.Context) error {
	began := time.Now()
	if err := f.each(len(f.nodes), len(f.nodes), func(i int) error { return f.store(ctx, f.nodes[i], fmt.Sprintf("facts.%d", i), crowd.FactBytes) }); err != nil {
		return err
	}
	f.record(rowFacts, began)
	for count := 0; count < len(f.nodes); { // the replica that answers may lack some at first
		count, began = 0, time.Now()
		if err := direct.All(ctx, f.operator, direct.Request{Stream: "FACTS", Filter: "facts.*"}, func(*direct.Message) error { count++; return nil }); err != nil {
			return err
		}
	}
	f.record(rowReadFacts, began)
	f.floor[rowQueryFacts] = f.floor[rowReadFacts] // the query also begins a process, and decodes
	return nil
}

func (f *floor) release(ctx context.Context) error {
	f.messages.Store(0)
	began := time.Now()
	if err := f.store(ctx, f.operator, "control.release", orderBytes); err != nil {
		return err
	}
	if err := f.until(ctx, "the release", func() bool { return f.messages.Load() == int64(len(f.nodes)) }); err != nil {
		return err
	}
	f.record(rowRelease, began)
	return nil
}

func (f *floor) job(ctx context.Context) error {
	results, stop, err := direct.Listen(f.operator, "result.*")
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	if err := f.operator.Publish("order", bytes.Repeat([]byte("x"), orderBytes)); err != nil {
		return err
	}
	for range f.nodes {
		select {
		case <-results:
		case <-time.After(patience):
			return errors.New("results of a job are missing")
		}
	}
	f.record(rowJob, began)
	return nil
}

func (f *floor) bundle(ctx context.Context) error {
	const chunks = 5 << 20 / chunkBytes
	random := make([]byte, chunkBytes)
	for range chunks {
		_, _ = rand.Read(random) // never fails
		if _, err := direct.PublishWithin(ctx, f.operator, time.Minute, "chunk", random); err != nil {
			return err
		}
	}
	began := time.Now()
	err := f.each(crowd.Few, crowd.Few, func(i int) error {
		r := direct.Reader{Conn: f.nodes[i]}
		defer r.Close()
		q := direct.Request{Stream: "CHUNKS", Filter: "chunk", MaxBytes: requestBytes, Patience: patience}
		for got := 0; got < chunks; {
			q.Batch = chunks - got
			next, _, err := r.Read(ctx, q, func(*direct.Message) error { got++; return nil })
			if err != nil {
				return err
			}
			q.From = next
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.record(rowBundle, began)
	return nil
}
