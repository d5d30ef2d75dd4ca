package converge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
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

// chore is handled by either of two tools. The chore that installs makes the better one suitable.
type chore struct {
	Name     string `ccm:"name,name"`
	Confined bool   `ccm:"confined"`
	Installs bool   `ccm:"installs"`
}

func (chore) Validate() error { return nil }
func (chore) Traits() resource.Traits {
	return resource.Traits{MayPrefetch: true, ProviderIgnoresSpec: true}
}
func (c chore) Bounds() (path string, looks, acts bool) { return c.Name, true, c.Confined }
func (c chore) Decide(installed bool) (d resource.Decision) {
	if c.Installs && !installed {
		d.AddAction("Install", "installed the better tool")
	}
	return d
}
func (c chore) Perform(_ context.Context, _ *host.Host, p chores, _ resource.Action) error {
	p.install()
	return nil
}

type chores interface {
	Status(context.Context, *host.View, chore) (bool, error)
	install()
}

var choreType = resource.Define[chore, bool, chores]("chore")

// tool is a provider of chores.
type tool struct {
	installed *atomic.Bool // the better tool
	looks     atomic.Int64
}

func (t *tool) Status(context.Context, *host.View, chore) (bool, error) {
	t.looks.Add(1)
	return t.installed.Load(), nil
}
func (t *tool) install() { t.installed.Store(true) }

// twoTools returns two tools, of which the better one is not installed, and their registry.
func twoTools(t *testing.T) (plain, better *tool, reg *resource.Registry) {
	installed := new(atomic.Bool)
	plain, better = &tool{installed: installed}, &tool{installed: installed}
	reg, err := resource.NewRegistry(
		choreType.Provide("plain", resource.Always[chore](2), plain),
		choreType.Provide("better", func(*facts.Facts, chore) (int, error) {
			if !installed.Load() {
				return 0, errors.New("it is not installed")
			}
			return 1, nil
		}, better))
	require.NoError(t, err)
	return plain, better, reg
}

func addChore(t *testing.T, b *catalog.Builder, c *chore) {
	_, err := b.Add(&resource.Resource{Type: choreType.Type, ID: resource.ID{Type: "chore", Name: c.Name}, Spec: c, Common: new(resource.Common)})
	require.NoError(t, err)
}

// TestProvidersAreChosenAgainAfterAChange: a change may make another provider suitable, also one that is confined to a
// path.
func TestProvidersAreChosenAgainAfterAChange(t *testing.T) {
	const count, installs = 200, 50
	for _, confined := range []bool{false, true} {
		for _, sequential := range []bool{false, true} {
			_, _, reg := twoTools(t)
			dir := t.TempDir()
			var b catalog.Builder
			for i := range count {
				name := filepath.Join(dir, fmt.Sprint(i))
				require.NoError(t, os.WriteFile(name, nil, 0o644))
				addChore(t, &b, &chore{Name: name, Confined: confined, Installs: i == installs})
			}
			c, err := b.Build()
			require.NoError(t, err)
			tp := new(tape)
			e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{tp}, Sequential: sequential}
			require.Equal(t, 1, e.Run(t.Context(), host.New(host.Options{}), c).Of(event.Changed))
			for i, ev := range tp.events {
				want := "plain"
				if i > installs {
					want = "better"
				}
				require.Equal(t, want, ev.Provider, "%d, confined: %t, sequential: %t", i, confined, sequential)
			}
		}
	}
}

// TestProvidersAreChosenAgainDuringDeclaration: a command of a script may make another provider suitable for what is
// declared after it.
func TestProvidersAreChosenAgainDuringDeclaration(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one for the worker
	const size = 32                                 // of a job
	plain, better, reg := twoTools(t)
	h := host.New(host.Options{})
	ahead := prefetch.New(t.Context(), resource.NewProviderCache(reg, facts.Static(nil)), &h.View)
	b := catalog.Builder{OnAdd: ahead.Enqueue}
	for i := range 2 * size {
		if i == size {
			plain.install()
			ahead.Invalidate()
		}
		addChore(t, &b, &chore{Name: fmt.Sprint("/none/", i)})
		for i%size == size-1 && plain.looks.Load()+better.looks.Load() <= int64(i) {
			runtime.Gosched()
		}
	}
	require.Equal(t, []int64{size, size}, []int64{plain.looks.Load(), better.looks.Load()})
	c, err := b.Build()
	require.NoError(t, err)
	tp := new(tape)
	e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{tp}, Prefetcher: ahead}
	e.Plan(t.Context(), &h.View, c)
	require.Equal(t, []int64{size, 2 * size}, []int64{plain.looks.Load(), better.looks.Load()}, "the first are tried again, by the better tool")
	for _, ev := range tp.events {
		require.Equal(t, "better", ev.Provider)
	}
}
