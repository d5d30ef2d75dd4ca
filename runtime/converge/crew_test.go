package converge

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each job is done once, whether the crew is asleep or at work when it is given, and
// whoever does it.
func TestCrew(t *testing.T) {
	var written [400]atomic.Int64
	index := make(map[*staged]int)
	var placed atomic.Int64
	c := newCrew(func(x *staged) { written[index[x]].Add(1); x.of.written.Done() }, func(b *writes) { placed.Add(1); close(b.placed) })
	var all []*staged
	b := &writes{}
	for i := range written {
		x := &staged{of: b}
		all, index[x] = append(all, x), i
	}
	for i, x := range all {
		if i%100 == 0 {
			time.Sleep(time.Millisecond) // they sleep
		}
		b.written.Add(1)
		c.give(x, nil)
		if i%50 != 49 {
			continue
		}
		c.helpWrite()
		b.written.Wait()
		b.placed = make(chan struct{})
		c.give(nil, b)
		if i%100 == 99 {
			c.helpPlace()
		}
		<-b.placed
	}
	c.end()
	require.EqualValues(t, len(all)/50, placed.Load())
	for i := range written {
		require.EqualValues(t, 1, written[i].Load())
	}
	new(crew).helpWrite()
	(*crew)(nil).end()
}
