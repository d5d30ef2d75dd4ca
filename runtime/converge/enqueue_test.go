package converge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/prefetch"
	"github.com/luaccm/ccm/runtime/resource"
)

// note is a file whose content is its name.
type note struct {
	Name string `ccm:"name,name"`
}

func (note) Validate() error                           { return nil }
func (note) Traits() resource.Traits                   { return resource.Traits{MayPrefetch: true} }
func (n note) Bounds() (path string, looks, acts bool) { return n.Name, true, true }
func (n note) Decide(same bool) (d resource.Decision) {
	if !same {
		d.AddAction("Write", "wrote it")
	}
	return d
}
func (n note) Perform(context.Context, *host.Host, notes, resource.Action) error { return nil }

type notes interface {
	Status(context.Context, *host.View, note) (bool, error)
}

var noteType = resource.Define[note, bool, notes]("note")

// looker is the provider of notes, and calls seen after each status.
type looker struct{ seen func(note) }

func (l looker) Status(_ context.Context, v *host.View, n note) (bool, error) {
	_, same, err := v.LookAt(n.Name, n.Name)
	l.seen(n)
	return same, err
}

// TestDirectoryReplacedMeanwhile: a directory that is replaced while a worker reads files in it is not confused with
// the old one.
func TestDirectoryReplacedMeanwhile(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one for the worker
	const count = 32
	dir := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Mkdir(dir, 0o755))
	name := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	for i := range count {
		require.NoError(t, os.WriteFile(name(i), []byte(name(i)), 0o644))
	}
	var ahead *prefetch.Prefetcher
	all := make(chan bool, 1)
	l := looker{func(n note) {
		switch n.Name {
		case name(count / 2):
			require.NoError(t, os.Rename(dir, dir+".old"))
			require.NoError(t, os.Mkdir(dir, 0o755))
			ahead.Invalidate()
		case name(count - 1):
			select {
			case all <- true:
			default:
			}
		}
	}}
	reg, err := resource.NewRegistry(noteType.Provide("looker", resource.Always[note](1), l))
	require.NoError(t, err)
	h := host.New(host.Options{})
	ahead = prefetch.New(t.Context(), resource.NewProviderCache(reg, facts.Static(nil)), &h.View)
	b := catalog.Builder{OnAdd: ahead.Enqueue}
	for i := range count {
		_, err := b.Add(&resource.Resource{Type: noteType.Type, ID: resource.ID{Type: "note", Name: name(i)}, Spec: &note{name(i)}})
		require.NoError(t, err)
	}
	<-all
	c, err := b.Build()
	require.NoError(t, err)
	l.seen = func(note) {}
	tp := new(tape)
	reg, err = resource.NewRegistry(noteType.Provide("looker", resource.Always[note](1), l))
	require.NoError(t, err)
	e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{tp}, Prefetcher: ahead}
	sum := e.Plan(t.Context(), &h.View, c)
	require.Equal(t, count, sum.Of(event.Pending))
}
