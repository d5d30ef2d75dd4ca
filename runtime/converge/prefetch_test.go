package converge_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// cell keeps a value in a place. Setting it may change other places too, as a command changes files of other
// resources.
type cell struct {
	Name   string            `ccm:"name,name"`
	Place  string            `ccm:"place"`
	Value  string            `ccm:"value"`
	Others map[string]string `ccm:"others"`
	Batch  bool              `ccm:"batch"`
}

func (cell) Validate() error           { return nil }
func (c cell) Traits() resource.Traits { return resource.Traits{MayPrefetch: !c.Batch} }
func (c cell) Decide(have string) (d resource.Decision) {
	if have != c.Value {
		d.Add("value", have, c.Value)
		d.AddAction("Set", "set the value")
	}
	return d
}
func (c cell) Refresh(_ string, d resource.Decision) resource.Decision {
	d.AddAction("Set", "set again")
	return d
}
func (c cell) Perform(_ context.Context, _ *host.Host, p cells, _ resource.Action) error {
	p.set(c)
	return nil
}

type cells interface {
	Status(context.Context, *host.View, cell) (string, error)
	set(cell)
}

var cellType = resource.Define[cell, string, cells]("cell")

// board is the machine of cells. Reading a status takes a random time.
type board struct {
	mu      sync.Mutex
	places  map[string]string
	looks   atomic.Int64
	batches int
	delay   bool
}

func (b *board) Status(_ context.Context, _ *host.View, c cell) (string, error) {
	b.looks.Add(1)
	if b.delay {
		for range rand.IntN(3) {
			runtime.Gosched()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.places[c.Place], nil
}

// Bulk implements resource.BulkProvider.
func (b *board) Bulk() resource.Bulk[cell, string] {
	return resource.Bulk[cell, string]{Status: b.statusAll}
}

func (b *board) statusAll(ctx context.Context, v *host.View, wants []cell) ([]string, []error) {
	b.batches++
	states := make([]string, len(wants))
	for i, c := range wants {
		states[i], _ = b.Status(ctx, v, c)
	}
	return states, make([]error, len(wants))
}

func (b *board) set(c cell) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.places, c.Others)
	b.places[c.Place] = c.Value
}

func (b *board) converge(t testing.TB, c *catalog.Catalog, sequential, plan bool) *tape {
	reg, err := resource.NewRegistry(cellType.Provide("board", resource.Always[cell](1), b))
	require.NoError(t, err)
	tp := new(tape)
	e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{tp}, Sequential: sequential}
	if h := host.New(host.Options{}); plan {
		e.Plan(t.Context(), &h.View, c)
	} else {
		e.Run(t.Context(), h, c)
	}
	return tp
}

func cellCatalog(t testing.TB, rnd *rand.Rand, n, places int, drift float64) (*catalog.Catalog, map[string]string) {
	var b catalog.Builder
	start := map[string]string{}
	for i := range n {
		place := fmt.Sprint("p", rnd.IntN(places))
		if places >= n {
			place = fmt.Sprint("p", i)
		}
		spec := &cell{Name: fmt.Sprint(i), Place: place, Value: fmt.Sprint(rnd.IntN(3)), Batch: rnd.IntN(4) == 0}
		r := &resource.Resource{Type: cellType.Type, ID: resource.ID{Type: "cell", Name: spec.Name}, Spec: spec, Common: new(resource.Common)}
		start[place] = spec.Value
		if rnd.Float64() < drift {
			start[place] = "drifted"
			if rnd.IntN(2) == 0 {
				spec.Others = map[string]string{fmt.Sprint("p", rnd.IntN(places)): fmt.Sprint(rnd.IntN(3))}
			}
		}
		if i > 0 && rnd.IntN(5) == 0 {
			r.Common.Subscribe = []resource.Reference{{Type: "cell", Name: fmt.Sprint(rnd.IntN(i))}}
		}
		if i > 0 && rnd.IntN(5) == 0 {
			r.Common.Require = []resource.Reference{{Type: "cell", Name: fmt.Sprint(rnd.IntN(i))}}
		}
		_, err := b.Add(r)
		require.NoError(t, err)
	}
	c, err := b.Build()
	require.NoError(t, err)
	return c, start
}

func clone(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	maps.Copy(out, m)
	return out
}

// TestLookingAheadIsInvisible: however resources share and change each other's places, events and machine are the
// same as without prefetching.
func TestLookingAheadIsInvisible(t *testing.T) {
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		drift := []float64{0, 0.01, 0.1, 0.9}[rnd.IntN(4)]
		c, start := cellCatalog(t, rnd, 70+rnd.IntN(400), 20+rnd.IntN(600), drift)
		for _, plan := range []bool{true, false} {
			plain := &board{places: clone(start)}
			want := plain.converge(t, c, true, plan)
			fast := &board{places: clone(start), delay: true}
			got := fast.converge(t, c, false, plan)
			require.Equal(t, want.lines, got.lines, "seed %d", seed)
			for i := range want.events {
				require.Equal(t, want.events[i].Diff, got.events[i].Diff)
			}
			require.Equal(t, plain.places, fast.places)
		}
	}
}

// TestLookingAheadIsBounded: prefetching reads at most twice as many statuses, and one batch serves all resources
// without a change between them.
func TestLookingAheadIsBounded(t *testing.T) {
	for _, drift := range []float64{0, 0.01, 0.1, 1} {
		c, start := cellCatalog(t, rand.New(rand.NewPCG(7, 7)), 2000, 2000, drift)
		for _, r := range c.Resources {
			r.Spec.(*cell).Batch, r.Spec.(*cell).Others = false, nil
			r.Common.Subscribe = nil
		}
		plain, fast := &board{places: clone(start)}, &board{places: clone(start)}
		plain.converge(t, c, true, false)
		fast.converge(t, c, false, false)
		require.LessOrEqual(t, fast.looks.Load(), 2*plain.looks.Load()+64, "drift %v", drift)
	}
	c, start := cellCatalog(t, rand.New(rand.NewPCG(7, 7)), 300, 300, 0)
	for _, r := range c.Resources {
		r.Spec.(*cell).Batch = true
	}
	b := &board{places: start}
	b.converge(t, c, false, false)
	require.Equal(t, 1, b.batches)
	require.Equal(t, int64(300), b.looks.Load())
}

// TestProvidersAreChosenInLinearTime: if a provider cannot read many statuses at once, that is not tried again for
// each resource.
func TestProvidersAreChosenInLinearTime(t *testing.T) {
	chosen := func(n int) (count int) {
		c, start := cellCatalog(t, rand.New(rand.NewPCG(7, 7)), n, n, 0)
		for _, r := range c.Resources {
			r.Spec.(*cell).Batch = true
		}
		suits := func(*facts.Facts, cell) (int, error) { count++; return 1, nil }
		single := struct{ cells }{&board{places: start}} // without StatusAll
		reg, err := resource.NewRegistry(cellType.Provide("single", suits, single))
		require.NoError(t, err)
		e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{new(tape)}}
		e.Run(t.Context(), host.New(host.Options{}), c)
		return count
	}
	require.LessOrEqual(t, chosen(2000), 2*2000)
}

// TestBatchesAfterChangesAreLinear: a change invalidates the statuses of all later resources, but does not make all
// of them be read again.
func TestBatchesAfterChangesAreLinear(t *testing.T) {
	const n = 2000
	c, start := cellCatalog(t, rand.New(rand.NewPCG(7, 7)), n, n, 0.5)
	for _, r := range c.Resources {
		r.Spec.(*cell).Batch, r.Spec.(*cell).Others = true, nil
	}
	b := &board{places: start}
	b.converge(t, c, false, false)
	require.LessOrEqual(t, b.looks.Load(), int64(8*n))
}

// historic is a board that also compares its cells with the past.
type historic struct{ *board }

// Recall implements resource.HistoricStatus.
func (h historic) Recall(ctx context.Context, v *host.View, want cell, _ resource.DesiredDigest) (string, error) {
	return h.Status(ctx, v, want)
}

// A comparison with the past looks at each resource once, ahead too.
func TestRecallLooksOnce(t *testing.T) {
	c, places := cellCatalog(t, rand.New(rand.NewPCG(1, 2)), 500, 500, 0)
	b := &board{places: places}
	reg, err := resource.NewRegistry(cellType.Provide("board", resource.Always[cell](1), historic{b}))
	require.NoError(t, err)
	e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Recall: func(*resource.Resource) resource.DesiredDigest { return resource.DesiredDigest{} }}
	e.Plan(t.Context(), &host.New(host.Options{}).View, c)
	require.EqualValues(t, len(c.Resources), b.looks.Load())
}

func BenchmarkWalk(b *testing.B) {
	c, start := cellCatalog(b, rand.New(rand.NewPCG(7, 7)), 10000, 10000, 0)
	bd := &board{places: start}
	b.ReportAllocs()
	for b.Loop() {
		bd.converge(b, c, false, false)
	}
}
