package direct

import (
	"context"
	"runtime"
	"sync"

	"github.com/nats-io/nats.go"
)

// chunk is the number of messages that one goroutine decodes at a time.
const chunk = 64

// Decoded returns the results of decode for all messages of subjects, in their order. It calls
// decode concurrently: with thousands of nodes decoding takes longer than reading.
func Decoded[T any](ctx context.Context, nc *nats.Conn, r Request, decode func(*Message) T) ([]T, error) {
	type part struct {
		messages []*Message
		results  []T
	}
	var parts []*part
	work := make(chan *part, 64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for p := range work {
				for _, m := range p.messages {
					p.results = append(p.results, decode(m))
				}
				p.messages = nil
			}
		})
	}
	next := &part{}
	flush := func() {
		if len(next.messages) > 0 {
			parts = append(parts, next)
			work <- next
			next = &part{}
		}
	}
	err := All(ctx, nc, r, func(m *Message) error {
		if next.messages = append(next.messages, m); len(next.messages) == chunk {
			flush()
		}
		return nil
	})
	flush()
	close(work)
	workers.Wait()
	var all []T
	for _, p := range parts {
		all = append(all, p.results...)
	}
	return all, err
}
