package event

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
)

// A Gap is a place between two messages of a node where the servers have lost messages. Each
// message has a number among the messages of its node.
type Gap struct {
	Node        string `json:"node"`
	Environment string `json:"environment"`
	Messages    int64  `json:"messages"` // number of missing messages
	// After and Before are the times when the messages around the gap were stored; After is zero if
	// there is none.
	After  time.Time `json:"after,omitzero"`
	Before time.Time `json:"before"`
	// Since and Until are the beginnings of the runs around the gap, by the node's clock: missing
	// messages are of these runs, or of runs between them.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until"`
	// Filled is set if the node has sent again the missing messages that it still had.
	Filled bool `json:"filled"`
}

// lookers is the number of nodes that are examined concurrently.
const lookers = 32

// A Looker looks for gaps in the events of nodes.
type Looker struct {
	NC        *nats.Conn
	JetStream jetstream.JetStream
	// Environments are the environments of nodes by name: other nodes are not examined.
	Environments map[string]string
	Nodes        []string // only these; nil for all
}

// Gaps returns the gaps in the events of nodes, by node and time. It reads all messages only of
// nodes whose numbers do not fit, so it is fast where nothing is missing.
func (l *Looker) Gaps(ctx context.Context) ([]Gap, error) {
	stream, err := l.JetStream.Stream(ctx, subject.Events)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subject.AllEvents))
	if err != nil {
		return nil, err
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		gaps []Gap
		errs []error
		work = make(chan string, lookers) // subjects
	)
	places := make(map[string]int) // number of environments of a node
	for on := range info.State.Subjects {
		if _, node, ok := nodeOf(on); ok {
			places[node]++
		}
	}
	for range lookers {
		wg.Go(func() {
			reader := &direct.Reader{Conn: l.NC}
			defer reader.Close()
			for on := range work {
				_, node, _ := nodeOf(on)
				found, err := l.of(ctx, reader, on, info, places[node] > 1)
				mu.Lock()
				gaps = append(gaps, found...)
				if err != nil && len(errs) == 0 {
					errs = append(errs, err)
				}
				mu.Unlock()
			}
		})
	}
	for on := range info.State.Subjects {
		env, node, ok := nodeOf(on)
		if ok && l.Environments[node] == env && (len(l.Nodes) == 0 || slices.Contains(l.Nodes, node)) {
			work <- on
		}
	}
	close(work)
	wg.Wait()
	slices.SortFunc(gaps, func(a, b Gap) int {
		if a.Node != b.Node {
			return strings.Compare(a.Node, b.Node)
		}
		return a.Before.Compare(b.Before)
	})
	return gaps, errors.Join(errs...)
}

// nodeOf returns the node of a subject of events.
func nodeOf(on string) (environment, node string, ok bool) {
	parts := strings.Split(on, ".")
	if len(parts) != 5 {
		return "", "", false
	}
	return parts[3], parts[4], true
}

// of returns the gaps of one node, by the subject of its events. A node that has moved from another
// environment began to count there.
func (l *Looker) of(ctx context.Context, reader *direct.Reader, on string, info *jetstream.StreamInfo, moved bool) ([]Gap, error) {
	w := newWalk(on)
	count := info.State.Subjects[on]
	// Messages that the stream's limits removed are no gap; messages that were lost when the stream
	// was made again are one.
	limit := info.Config.MaxMsgsPerSubject
	w.whole = !moved && (limit <= 0 || count < uint64(limit)) && (info.Config.MaxAge <= 0 || info.TimeStamp.Sub(info.Created) < info.Config.MaxAge)
	w.retention = info.Config.MaxAge
	ends := newWalk(on)
	ends.whole = w.whole
	_, _, err := reader.Read(ctx, direct.Request{Stream: subject.Events, Filter: on, Batch: 1}, ends.message)
	if err == nil {
		var m *direct.Message
		if m, err = direct.Last(ctx, l.NC, subject.Events, on); err == nil {
			err = ends.message(m)
		}
	}
	switch {
	case errors.Is(err, direct.ErrNone):
		return nil, nil // the messages were removed meanwhile
	case err != nil:
		return nil, err
	case uint64(ends.last-ends.first+1) == count && !(ends.whole && ends.first > 1):
		return nil, nil
	}
	if err := direct.All(ctx, l.NC, direct.Request{Stream: subject.Events, Filter: on}, w.message); err != nil {
		return nil, err
	}
	return w.end(), nil
}

// A walk goes through the messages of a node, oldest first.
type walk struct {
	environment, node string
	whole             bool          // the stream's limits have removed no message
	retention         time.Duration // of messages

	first, last int64 // numbers
	stored      time.Time
	run         time.Time // beginning of the last run with a message
	gaps        []Gap
	open        []int // indexes of gaps without a run behind them yet
	results     []record.JobResult
}

func newWalk(on string) *walk {
	env, node, _ := nodeOf(on)
	return &walk{environment: env, node: node}
}

func (w *walk) message(m *direct.Message) error {
	number, err := strconv.ParseInt(m.Header.Get(record.NumberHeader), 10, 64)
	if err != nil || number < 1 {
		return nil // a foreign message, or of somebody who has the key
	}
	missing := number - w.last - 1
	switch {
	case w.first == 0:
		w.first = number
		if missing = number - 1; !w.whole {
			missing = 0
		}
	case number <= w.last: // the node began to count again
		missing = 0
	}
	if missing > 0 {
		w.open = append(w.open, len(w.gaps))
		w.gaps = append(w.gaps, Gap{Node: w.node, Environment: w.environment, Messages: missing, After: w.stored, Before: m.Time, Since: w.run, Until: m.Time})
	}
	w.last, w.stored = number, m.Time
	if began, ok := runOf(w.node, m.Header.Get(nats.MsgIdHdr)); ok {
		for _, i := range w.open {
			w.gaps[i].Until = began
		}
		w.open, w.run = nil, began
	}
	for line := range strings.Lines(string(m.Data)) {
		if !strings.Contains(line, record.JobProtocol) {
			continue
		}
		if r, ok := record.DecodeJobResult([]byte(line)); ok && r.State == record.JobDone && r.Outcome != "failed" && !r.Until.IsZero() {
			w.results = append(w.results, r)
		}
	}
	return nil
}

// runOf returns the beginning of the run in the id of a message: <node>.<run>.<line>.
func runOf(node, id string) (time.Time, bool) {
	rest, ok := strings.CutPrefix(id, node+".")
	if !ok {
		return time.Time{}, false
	}
	return record.RunTime(rest)
}

func (w *walk) end() []Gap {
	for i := range w.gaps {
		g := &w.gaps[i]
		if g.Since.IsZero() && w.retention > 0 { // older messages would have been removed anyway
			g.Since = g.Before.Add(-w.retention)
		}
		if g.Until.Before(g.Since) { // the node's clock was set back
			g.Since, g.Until = g.Until, g.Since
		}
		g.Filled = slices.ContainsFunc(w.results, func(r record.JobResult) bool {
			return !r.Since.After(g.Since) && !r.Until.Before(g.Until)
		})
	}
	return w.gaps
}

// Open returns the gaps that have not been filled.
func Open(gaps []Gap) []Gap {
	return slices.DeleteFunc(slices.Clone(gaps), func(g Gap) bool { return g.Filled })
}
