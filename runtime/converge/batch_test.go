package converge_test

import (
	"context"
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
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// page is a file whose content is its name, and that is written in a batch.
type page struct {
	Name string `ccm:"name,name"`
}

func (page) Validate() error                           { return nil }
func (page) Traits() resource.Traits                   { return resource.Traits{MayPrefetch: true} }
func (p page) Bounds() (path string, looks, acts bool) { return p.Name, true, true }
func (p page) Decide(same bool) (d resource.Decision) {
	if !same {
		d.AddAction("Write", "wrote it")
		d.Effects, d.Complete = []overlay.PathEffect{{Path: p.Name, Kind: safepath.Regular}}, true
	}
	return d
}

func (p page) Perform(_ context.Context, h *host.Host, _ pages, _ resource.Action) error {
	uid, gid := host.Self()
	return h.WriteFile(p.Name, strings.NewReader(p.Name), safepath.Attr{UID: uid, GID: gid, Mode: 0o644})
}

type pages interface {
	Status(context.Context, *host.View, page) (bool, error)
}

type diskPages struct{}

func (diskPages) Status(_ context.Context, v *host.View, p page) (bool, error) {
	_, same, err := v.LookAt(p.Name, p.Name)
	return same, err
}

var pageType = resource.Define[page, bool, pages]("page")

// watchReporter calls begin before each resource is converged.
type watchReporter struct {
	begin  func(index int)
	events []*event.Event
}

func (w *watchReporter) BeforeAction(_ *resource.Resource, index, _ int) { w.begin(index) }
func (w *watchReporter) Event(ev *event.Event)                           { w.events = append(w.events, ev.Clone()) }

// TestBatchesOverlap: a batch is committed while the next one is written, and reported after that. If the path of one
// of its files has been taken meanwhile, that file and the next batch are still written, and reported in order.
func TestBatchesOverlap(t *testing.T) {
	for _, processors := range []int{1, 2, 4} {
		for _, conflict := range []bool{false, true} {
			t.Run(fmt.Sprint(processors, conflict), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				const count = 450 // more than two batches, in memory and on a disk
				dir := t.TempDir()
				var b catalog.Builder
				for i := range count {
					p := &page{filepath.Join(dir, fmt.Sprint(i))}
					_, err := b.Add(&resource.Resource{Type: pageType.Type, ID: resource.ID{Type: "page", Name: p.Name}, Spec: p, Common: new(resource.Common)})
					require.NoError(t, err)
				}
				c, err := b.Build()
				require.NoError(t, err)
				reg, err := resource.NewRegistry(pageType.Provide("disk", resource.Always[page](1), diskPages{}))
				require.NoError(t, err)
				w := new(watchReporter)
				w.begin = func(index int) {
					if index == 15 && conflict {
						require.NoError(t, os.WriteFile(filepath.Join(dir, "10"), []byte("somebody else's"), 0o644))
					}
					if index == 200 {
						require.Less(t, len(w.events), 200, "a batch is under way")
					}
				}
				e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{w}}
				sum := e.Run(t.Context(), host.New(host.Options{}), c)
				require.Equal(t, count, sum.Of(event.Changed))
				for i, ev := range w.events {
					require.Equal(t, i, ev.Index)
					text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
					require.NoError(t, err)
					require.Equal(t, filepath.Join(dir, fmt.Sprint(i)), string(text))
				}
			})
		}
	}
}
