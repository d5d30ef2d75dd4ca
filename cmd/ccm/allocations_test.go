package main

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/site"
)

// allocations are the allocations and memory of one resource.
type allocations struct {
	evaluated, walked float64 // allocations of an evaluation, and of a run
	heapBytes         float64 // of the heap, without the content
}

// useOf reads a site and converges it, and returns its allocations and memory.
func useOf(t *testing.T, name string) (m allocations) {
	e := newEnv(strings.NewReader(""), io.Discard, new(bytes.Buffer), hosttest.Clock{})
	f := &runFlags{noop: true}
	f.add(&cobra.Command{}, report.DiffOff)
	var before, evaluated, after runtime.MemStats
	heap(&before)
	run, err := e.ReadRun(t.Context(), name, nil, &site.RunOptions{
		Site: f.SiteFlags.SiteOptions(), Record: f.RecordFlags.RecordOptions(&site.Options{Root: "/"}), Plan: true, Reporters: newReport(e, f).all(),
	})
	require.NoError(t, err)
	defer run.End()
	require.NoError(t, run.Begin(t.Context()))
	heap(&evaluated)
	sum := run.Converge(t.Context())
	heap(&after)
	require.Equal(t, len(run.Site.Catalog.Resources), sum.Of(event.Stable))
	return allocations{
		evaluated: float64(evaluated.Mallocs - before.Mallocs),
		walked:    float64(after.Mallocs - evaluated.Mallocs),
		heapBytes: float64(max(evaluated.HeapAlloc, after.HeapAlloc) - before.HeapAlloc),
	}
}

// heap reads the size of the heap after a garbage collection.
func heap(m *runtime.MemStats) {
	runtime.GC()
	runtime.GC() // the first one moves pooled objects to the victim cache
	runtime.ReadMemStats(m)
}

// The memory of a resource is small and does not depend on the number of resources. The limits are a little above the
// measurements when they were set; the kept memory varies by 150 bytes, because results of the prefetcher may be
// included.
func TestAllocationsOfStableFile(t *testing.T) {
	long(t)
	const few, many = 500, 1500
	dir := stableTree(t, many)
	for frontEnd, limit := range map[string]allocations{
		"lua":  {evaluated: 19, walked: 4, heapBytes: 1300},
		"yaml": {evaluated: 31, walked: 4, heapBytes: 1800},
	} {
		t.Run(frontEnd, func(t *testing.T) {
			useOf(t, siteFile(t, frontEnd, sites[frontEnd](dir, 10))) // one-time initialization
			a := useOf(t, siteFile(t, frontEnd, sites[frontEnd](dir, few)))
			b := useOf(t, siteFile(t, frontEnd, sites[frontEnd](dir, many)))
			each := allocations{
				evaluated: (b.evaluated - a.evaluated) / (many - few), walked: (b.walked - a.walked) / (many - few),
				heapBytes: (b.heapBytes-a.heapBytes)/(many-few) - float64(len(contentOf(0))),
			}
			t.Logf("%+v", each)
			require.LessOrEqual(t, each.evaluated, limit.evaluated, "allocations in evaluation")
			require.LessOrEqual(t, each.walked, limit.walked, "allocations in the walk")
			require.LessOrEqual(t, each.heapBytes, limit.heapBytes, "bytes kept beside the content")
		})
	}
}
