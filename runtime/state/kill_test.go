package state_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// daemons is a machine with commands that reload: each remembers the content of its files at its last run.
type daemons struct {
	b     *box
	reads map[string][]string // files of a command
	seen  map[string]string
}

func (d *daemons) files(command string) string {
	var out []string
	for _, name := range d.reads[command] {
		text, err := os.ReadFile(filepath.Join(d.b.root, name))
		out = append(out, fmt.Sprint(name, err == nil, string(text)))
	}
	return strings.Join(out, " ")
}

func (d *daemons) runner() host.Runner {
	return &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		d.seen[c.String()] = d.files(c.String())
		return host.Result{}, nil
	}}
}

// randomSite returns declarations of files with random contents, and of commands that run when some of them change.
// number decides which command reads which files.
func randomSite(rnd *rand.Rand, number uint64) (list []decl, reads map[string][]string) {
	shape := rand.New(rand.NewPCG(number, 9))
	var names []string
	for i := range 2 + shape.IntN(5) {
		name := fmt.Sprintf("/f%d", i)
		names = append(names, name)
		switch rnd.IntN(6) {
		case 0:
			list = append(list, absent(name))
		case 1:
			list = append(list, file(name, fmt.Sprint(rnd.IntN(3)), props{"mode": "0600"}))
		default:
			list = append(list, file(name, fmt.Sprint(rnd.IntN(3))))
		}
	}
	reads = make(map[string][]string)
	for i := range 1 + shape.IntN(3) {
		command := fmt.Sprintf("reload%d", i)
		var refs []any
		for _, name := range names {
			if shape.IntN(2) == 0 {
				refs = append(refs, "file#"+name)
				reads[command] = append(reads[command], name)
			}
		}
		if i > 0 && shape.IntN(2) == 0 { // and after another command
			before := fmt.Sprintf("reload%d", i-1)
			refs = append(refs, "exec#"+before)
			reads[command] = append(reads[command], reads[before]...)
		}
		list = append(list, exec(command, props{"refreshonly": true, "subscribe": refs}))
	}
	return list, reads
}

// TestKilledAnywhere ends random runs at every effect on the disk, as a kill would, and runs again, sometimes with
// another configuration: the machine is as declared, every necessary command ran after the last change of its files,
// no temporary file is left, and the history can be read.
func TestKilledAnywhere(t *testing.T) {
	tries := tally.Of(t, "the process ends at any step, random catalogs, at times with another configuration afterwards",
		"the next run converges, every command was run after the last change of what it reads, no temporary file, history readable, nothing pending")
	catalogs := 6
	if testing.Short() {
		catalogs = 3
	}
	for number := range uint64(catalogs) {
		rnd := rand.New(rand.NewPCG(number, 1))
		first, reads := randomSite(rnd, number)
		second, _ := randomSite(rnd, number)
		third, _ := randomSite(rnd, number)
		for n, done := 1, false; !done; n++ {
			b := newBox(t)
			d := &daemons{b: b, reads: reads, seen: map[string]string{}}
			b.runner = d.runner()
			b.must(first...)
			for command := range reads {
				d.seen[command] = d.files(command)
			}
			b.clock.now = b.clock.now.Add(time.Hour)

			effect, asked := hosttest.Failing(n, 1<<30)
			b.effect = effect
			_, _, _ = b.run(cat(t, second...))
			done = asked() < n
			b.effect = nil
			tries.Add(1)

			last := cat(t, second...)
			if n%3 == 0 {
				last = cat(t, third...)
			}
			b.clock.now = b.clock.now.Add(time.Hour)
			b.converged(last)
			require.Empty(t, b.pending())
			for command := range reads {
				require.Equal(t, d.files(command), d.seen[command], "catalog %d: %s after a kill at effect %d", number, command, n)
			}
			if n%3 != 0 {
				noLeftovers(t, b.root)
				b.clock.now = b.clock.now.Add(25 * time.Hour) // the state directory is cleaned up once a day
				b.must(append(second, file("/more", ""))...)
				noLeftovers(t, b.dir)
			}
			list, damaged, err := b.store().History()
			require.NoError(t, err)
			require.Zero(t, damaged)
			require.GreaterOrEqual(t, len(list), 3)
			require.Empty(t, b.warnedOf("damaged"))
		}
	}
}

// converged runs the catalog, and again to check that nothing is left to do.
func (b *box) converged(c *catalog.Catalog) {
	_, sum, err := b.run(c)
	require.NoError(b.t, err)
	require.Zero(b.t, sum.Of(event.Failed), b.story())
	_, sum, err = b.run(c)
	require.NoError(b.t, err)
	require.Equal(b.t, sum.Total(), sum.Of(event.Stable), b.story())
}

func (b *box) warnedOf(text string) []string {
	return slices.DeleteFunc(slices.Clone(b.warned), func(w string) bool { return !strings.Contains(w, text) })
}

// TestNothingIsLostByKill: whenever a run is killed, the old content of a file is on the disk: at its path or in the
// store.
func TestNothingIsLostByKill(t *testing.T) {
	tries := tally.Of(t, "the process ends at any step of overwriting and removing",
		"what was there is in its place or in the store, byte for byte")
	for n, done := 1, false; !done; n++ {
		b := newBox(t)
		tries.Add(1)
		texts := map[string]string{}
		for i := range 4 {
			name := fmt.Sprintf("/d/f%d", i)
			texts[name] = fmt.Sprint("precious ", i)
			b.write(name, texts[name], 0o600)
		}
		effect, asked := hosttest.Failing(n, 1<<30)
		b.effect = effect
		_, _, _ = b.run(cat(t, file("/d/f0", "new"), file("/d/f1", "new"), absent("/d/f2"), absent("/d")))
		done = asked() < n
		b.effect = nil

		kept := map[string]string{}
		list, _, err := b.store().History()
		require.NoError(t, err)
		for _, e := range list {
			rec, err := b.store().Record(e.ID)
			require.NoError(t, err)
			for _, c := range rec.Changes {
				if c.Before.Object != "" {
					text, err := b.store().Content(c.Before.Object)
					require.NoError(t, err)
					kept[string(c.Path)] = string(text)
				}
			}
		}
		for name, text := range texts {
			if got, err := os.ReadFile(filepath.Join(b.root, name)); err != nil || string(got) != text {
				require.Equal(t, text, kept[name], "%s after a kill at effect %d", name, n)
			}
		}
	}
}
