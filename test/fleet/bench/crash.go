package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/test/fleet/crowd"
)

// crash kills the leader of the stream of events while all nodes publish.
func (b *bench) crash(ctx context.Context) error {
	stream, err := b.c.JetStream.Stream(ctx, subject.Events)
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	first := info.State.LastSeq + 1
	port := info.Cluster.Leader[strings.LastIndexByte(info.Cluster.Leader, '-')+1:]
	var wg sync.WaitGroup
	failed := make(chan error, len(b.members))
	for _, m := range b.members {
		wg.Go(func() {
			for round := range crowd.Rounds {
				time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Second))))
				if err := m.Tell(ctx, round); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	time.Sleep(3 * time.Second)
	killed := time.Now()
	b.s.kill(port)
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	if err := b.until(ctx, "the events", func() bool {
		return !slices.ContainsFunc(b.members, func(m crowd.Member) bool { return !m.HasReported() })
	}); err != nil {
		return err
	}
	return b.count(ctx, first, killed)
}

// lag is how long an answering replica may lack an acknowledged message.
const lag = time.Minute

// count compares the stored messages with those that nodes sent.
func (b *bench) count(ctx context.Context, first uint64, killed time.Time) error {
	want := b.nodes * crowd.Rounds * crowd.Events
	var seen map[string]int
	var stored []time.Time
	for end := time.Now().Add(lag); ; time.Sleep(time.Second) {
		var err error
		if seen, stored, err = b.stored(ctx, first); err != nil {
			return err
		}
		if len(seen) == want || time.Now().After(end) {
			break
		}
	}
	twice := 0
	for _, times := range seen {
		if times > 1 {
			twice++
		}
	}
	// The time without acknowledgements is the longest one in which nothing was stored.
	slices.SortFunc(stored, time.Time.Compare)
	var gap time.Duration
	for i := 1; i < len(stored); i++ {
		if stored[i].After(killed) {
			gap = max(gap, stored[i].Sub(stored[i-1]))
		}
	}
	b.set(rowLost, float64(want-len(seen)+twice), "%s sent, %d lost, %d twice", thousands(want), want-len(seen), twice)
	b.seconds(rowGap, gap)
	disk := b.s.diskOf()
	b.set(rowDisk, disk/(1<<20), "%.0f MiB", disk/(1<<20))
	return nil
}

// stored returns how often each event is stored, and the times of messages.
func (b *bench) stored(ctx context.Context, first uint64) (seen map[string]int, stored []time.Time, err error) {
	seen = make(map[string]int)
	err = direct.All(ctx, b.c.Conn, direct.Request{Stream: subject.Events, Filter: subject.AllEvents, From: first}, func(m *direct.Message) error {
		ours := false
		for line := range bytes.Lines(m.Data) {
			var x struct {
				ID string `json:"event_id"`
			}
			if json.Unmarshal(line, &x) == nil && strings.HasPrefix(x.ID, "bench-") {
				seen[x.ID]++
				ours = true
			}
		}
		if ours {
			stored = append(stored, m.Time)
		}
		return nil
	})
	return seen, stored, err
}
