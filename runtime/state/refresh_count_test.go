package state_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// refreshSite is a random catalog of files, and of commands that are refreshed by files and other commands.
type refreshSite struct {
	files    int
	commands [][]string    // the subscriptions of each
	notified map[int][]int // commands that a file notifies as well
}

func newRefreshSite(rnd *rand.Rand) refreshSite {
	s := refreshSite{files: 1 + rnd.IntN(5), notified: map[int][]int{}}
	for i := range 1 + rnd.IntN(7) {
		var refs []string
		for f := range s.files {
			switch rnd.IntN(6) {
			case 0, 1:
				refs = append(refs, fmt.Sprintf("file#/f%d", f))
			case 2:
				s.notified[f] = append(s.notified[f], i)
			}
		}
		for before := range i {
			if rnd.IntN(3) == 0 {
				refs = append(refs, fmt.Sprintf("exec#reload%d", before))
			}
		}
		s.commands = append(s.commands, refs)
	}
	return s
}

// declare returns the catalog with random contents.
func (s refreshSite) declare(rnd *rand.Rand) (list []decl) {
	for f := range s.files {
		name := fmt.Sprintf("/f%d", f)
		var notify []any
		for _, i := range s.notified[f] {
			notify = append(notify, fmt.Sprintf("exec#reload%d", i))
		}
		p := props{}
		if len(notify) > 0 {
			p["notify"] = notify
		}
		if rnd.IntN(6) == 0 {
			p["mode"] = "0600"
		}
		list = append(list, file(name, fmt.Sprint(rnd.IntN(3)), p))
	}
	for i, refs := range s.commands {
		p := props{"refreshonly": true}
		var subscribe []any
		for _, ref := range refs {
			subscribe = append(subscribe, ref)
		}
		if len(subscribe) > 0 {
			p["subscribe"] = subscribe
		}
		list = append(list, exec(fmt.Sprintf("reload%d", i), p))
	}
	return list
}

// owed returns the commands that must run after a change of these files.
func (s refreshSite) owed(changed map[int]bool) map[string]bool {
	owed := map[string]bool{}
	for f := range changed {
		for _, i := range s.notified[f] {
			owed[fmt.Sprintf("reload%d", i)] = true
		}
	}
	for i, refs := range s.commands {
		for _, ref := range refs {
			var n int
			if _, err := fmt.Sscanf(ref, "file#/f%d", &n); err == nil && changed[n] {
				owed[fmt.Sprintf("reload%d", i)] = true
			}
			if _, err := fmt.Sscanf(ref, "exec#reload%d", &n); err == nil && owed[fmt.Sprintf("reload%d", n)] {
				owed[fmt.Sprintf("reload%d", i)] = true
			}
		}
	}
	return owed
}

// present returns the contents of the files.
func (s refreshSite) present(t *testing.T, root string) (list []string) {
	for f := range s.files {
		name := filepath.Join(root, fmt.Sprint("f", f))
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		fi, err := os.Stat(name)
		require.NoError(t, err)
		list = append(list, fmt.Sprint(string(text), fi.Mode()))
	}
	return list
}

// TestRefreshesAreCounted: an undisturbed run refreshes each subscriber of a change exactly once, and nothing else.
// With killed runs it is refreshed at least once, at most once per run, and others never.
func TestRefreshesAreCounted(t *testing.T) {
	whole := tally.Of(t, "random catalogs with chains of refreshes, not killed", "each command that a change reaches ran exactly once, the others not at all")
	killed := tally.Of(t, "the same, killed at random steps up to three times", "at least once, at most once a run, the others not at all, nothing pending")
	for seed := range uint64(tally.Times(60, 2000)) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		site := newRefreshSite(rnd)
		b := newBox(t)
		ran := map[string]int{}
		b.runner = &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			ran[c.String()]++
			return host.Result{}, nil
		}}
		b.must(site.declare(rnd)...)
		clear(ran)
		before := site.present(t, b.root)
		second := site.declare(rnd)
		kills, runs := 0, 1
		if seed%2 == 1 {
			kills = 1 + rnd.IntN(3)
		}
		for range kills {
			b.clock.now = b.clock.now.Add(time.Hour)
			b.effect, _ = hosttest.Failing(1+rnd.IntN(40), 1<<30)
			_, _, _ = b.run(cat(t, second...))
			runs++
		}
		b.effect = nil
		b.clock.now = b.clock.now.Add(time.Hour)
		b.must(second...)
		changed := map[int]bool{}
		for f, now := range site.present(t, b.root) {
			changed[f] = now != before[f]
			if !changed[f] {
				delete(changed, f)
			}
		}
		owed := site.owed(changed)
		for i := range site.commands {
			name := fmt.Sprintf("reload%d", i)
			least, most := 0, 0
			if owed[name] {
				least, most = 1, runs
			}
			require.GreaterOrEqual(t, ran[name], least, "seed %d: %s was lost", seed, name)
			require.LessOrEqual(t, ran[name], most, "seed %d: %s ran too often", seed, name)
		}
		require.Empty(t, b.pending(), "seed %d", seed)
		if kills == 0 {
			whole.Add(1)
		} else {
			killed.Add(1)
		}
	}
}
