package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state"
)

// converge converges a catalog. The record of the run does not end.
func (b *box) converge(c *catalog.Catalog) (*state.RecordWriter, *host.Host) {
	require.NoError(b.t, os.MkdirAll(b.dir, 0o700))
	run, h, err := b.begin("run")
	require.NoError(b.t, err)
	run.AddCatalog(c)
	e := converge.Engine{Registry: registry(b.t), Facts: facts.Static(nil), Reporters: []event.Reporter{run}, Journal: run, Cause: run.Cause}
	require.False(b.t, e.Run(b.t.Context(), h, c).Failed())
	return run, h
}

// A run that changes a path once more after its resource was finished restores what was there before the first change.
func TestSecondChangeOfAPath(t *testing.T) {
	b := newBox(t)
	b.must(file("/f", "before"), file("/g", "before"))
	c := cat(t, file("/f", "changed"), file("/g", "changed"))
	run, h := b.converge(c)
	before, changed := run.Before("/g")
	require.True(t, changed)
	require.EqualValues(t, len("before"), before.Size)
	require.NoError(t, h.OnBehalfOf(c.Resources[1]).WriteFile("/f", strings.NewReader("changed again"), safepath.Attr{}))
	require.NoError(t, run.End(event.Summary{}))

	rec, err := b.store().Changes(run.ID())
	require.NoError(t, err)
	require.Zero(t, rec.Damaged)
	require.Equal(t, 2, rec.Files)
	require.Len(t, rec.Changes, 2)
	require.EqualValues(t, len("before"), rec.Changes[0].Before.Size)
	require.EqualValues(t, len("changed again"), rec.Changes[0].After.Size)
	_, errs := b.restore(run.ID())
	require.Empty(t, errs)
	text, err := os.ReadFile(filepath.Join(b.root, "f"))
	require.NoError(t, err)
	require.Equal(t, "before", string(text))
}

// The writer of a record keeps little of the files that the run has replaced.
func TestKeptOfReplacedFiles(t *testing.T) {
	const n = 2000
	of := func(text string) (list []decl) {
		for i := range n {
			list = append(list, file(fmt.Sprint("/f", i), fmt.Sprint(text, i)))
		}
		return list
	}
	b := newBox(t)
	b.converge(cat(t, of("a")...))
	c := cat(t, of("b")...)
	inUse := func() uint64 {
		runtime.GC()
		runtime.GC() // what a sync.Pool holds ends with the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	run, _ := b.converge(c)
	each := int64(inUse()-before) / n
	t.Logf("%d bytes for each file", each)
	require.Less(t, each, int64(550))
	require.NoError(t, run.End(event.Summary{}))
	runtime.KeepAlive(c)
}
