package state_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/test/tally"
)

func TestMain(m *testing.M) {
	hosttest.AttackIfAsked()
	os.Exit(m.Run())
}

// TestAdversaryOfRestore: root converges, backs up and restores in a user's directory while the user exchanges files
// in it. No file of others is changed.
func TestAdversaryOfRestore(t *testing.T) {
	tries := tally.Of(t, "a user swaps files, links, pipes and directories in his own directory while root changes files there, keeps what they held, and restores it",
		"files and directories of root beside it keep content, mode, owner and entries, and nothing of them can be read")
	a := hosttest.NewAdversary(t, "f", "dir")
	his := props{"owner": strconv.Itoa(int(a.UID)), "group": strconv.Itoa(int(a.GID))}
	at := func(name string) string { return filepath.Join(a.Home, name) }
	runs, restored := tally.Times(20, 2000), 0
	var b *box
	for n := range runs {
		if n%50 == 0 {
			b = newBox(t)
			b.root = "/"
		}
		a.Wait()
		tries.Add(1)
		run, _, err := b.run(cat(t, file(at("f"), "new", his), file(at("dir/f"), "new", his), absent(at("dir/dir/f"))))
		require.NoError(t, err)
		list, err := b.store().Restorer().Restorations(run.ID(), nil)
		if err != nil {
			continue // it has changed nothing
		}
		again, h, err := b.begin("restore")
		require.NoError(t, err)
		for _, err := range b.store().Restorer().Restore(t.Context(), h, list, func(state.Restoration) (*resource.Resource, error) { return nil, nil }) {
			if err == nil {
				restored++
			}
		}
		require.NoError(t, again.End(event.Summary{}))
	}
	t.Logf("%d runs, %d paths restored, %d swaps", runs, restored, a.Lost(t))
}
