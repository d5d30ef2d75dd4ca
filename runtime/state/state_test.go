package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// clock is a clock that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// box is a machine below a directory, with a state directory.
type box struct {
	t      testing.TB
	root   string
	dir    string
	clock  *clock
	limits state.Limits
	effect func(op, path string) error
	runner host.Runner
	warned []string
	stop   <-chan struct{}
	events []*event.Event
	runs   int
	// secrets are known to the process; each run has its own keeper of them.
	secrets []string
	keeper  *secret.Keeper
}

func newBox(t testing.TB) *box {
	b := &box{t: t, root: tempDir(t), dir: filepath.Join(tempDir(t), "state"), clock: &clock{hosttest.Clock{}.Now()}}
	b.runner = &hosttest.Runner{}
	return b
}

// tempDir returns a directory, in memory if possible: these tests sync thousands of times.
func tempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "ccm-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func (b *box) store() *state.Store {
	b.keeper = secret.New(func() ([]byte, error) { return state.ReadKey(b.dir) })
	for _, s := range b.secrets {
		require.NoError(b.t, b.keeper.Add(s))
	}
	return state.Open(state.Options{
		Secrets: b.keeper,
		Dir:     b.dir, Clock: b.clock, Limits: b.limits, Effect: b.effect,
		Warn: func(m string) { b.warned = append(b.warned, m) },
	})
}

func (b *box) Event(e *event.Event) { b.events = append(b.events, e.Clone()) }

func registry(t testing.TB) *resource.Registry {
	reg, err := resource.NewRegistry(posix.Providers()...)
	require.NoError(t, err)
	return reg
}

// begin starts the record of a run, and a host that records changes in it.
func (b *box) begin(kind string) (*state.RecordWriter, *host.Host, error) {
	b.runs++
	now := b.clock.now
	run, err := b.store().BeginRecord(state.RunInfo{
		ID: now.Format("20060102T150405Z") + "-" + string(rune('a'+b.runs/26)) + string(rune('a'+b.runs%26)), Kind: kind, Site: "/site.lua", Root: b.root, Start: now,
	})
	if err != nil {
		return nil, nil, err
	}
	return run, host.New(host.Options{Root: b.root, Clock: b.clock, Effect: b.effect, BeforeChange: run.BeforeChange, Runner: b.runner, Hold: b.store().Work(run.ID()).Hold}), nil
}

// run converges a catalog, and returns its record. An error is that of the record, not of a resource.
func (b *box) run(c *catalog.Catalog) (*state.RecordWriter, event.Summary, error) {
	require.NoError(b.t, os.MkdirAll(b.dir, 0o700))
	b.events = nil
	run, h, err := b.begin("run")
	if err != nil {
		return nil, event.Summary{}, err
	}
	run.AddCatalog(c)
	e := converge.Engine{
		Registry: registry(b.t), Facts: facts.Static(nil), Reporters: []event.Reporter{run, b},
		Journal: run, PendingRefreshes: run.PendingRefreshes("/site.lua", c), Cause: run.Cause, Stop: b.stop,
	}
	sum := e.Run(b.t.Context(), h, c)
	return run, sum, run.End(sum)
}

// told returns the reported resources that are not stable: name, outcome and cause.
func (b *box) story() string {
	var out []string
	for _, e := range b.events {
		if e.Outcome == event.Stable {
			continue
		}
		s := e.Resource.ID.Name + " " + e.Outcome.String()
		if e.Cause != event.NoCause {
			s += " " + e.Cause.String()
		}
		for _, id := range e.RefreshedBy {
			s += " by " + id.Name
		}
		for _, d := range e.PendingRefreshes {
			s += " left over of " + d.By.Name
		}
		if e.Err != nil {
			s += ": " + e.Err.Error()
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// props are the properties of a resource as a front end reads them.
type props map[string]any

func file(name, content string, more ...props) decl {
	owner, group := hosttest.Me()
	p := props{"name": name, "owner": owner, "group": group, "mode": "0644", "content": content}
	return declare("file", p, more)
}

func absent(name string) decl {
	return declare("file", props{"name": name, "ensure": "absent", "force": true}, nil)
}

func Dir(name, mode string) decl {
	owner, group := hosttest.Me()
	return declare("file", props{"name": name, "ensure": "directory", "owner": owner, "group": group, "mode": mode}, nil)
}

func exec(name string, more ...props) decl {
	return declare("exec", props{"name": name}, more)
}

type decl struct {
	typ string
	p   props
}

func declare(typ string, p props, more []props) decl {
	for _, m := range more {
		for k, v := range m {
			if v == nil {
				delete(p, k)
			} else {
				p[k] = v
			}
		}
	}
	return decl{typ, p}
}

// cat makes a catalog.
func cat(t testing.TB, list ...decl) *catalog.Catalog {
	t.Helper()
	reg := registry(t)
	var b catalog.Builder
	for i, d := range list {
		tab := schema.ValueOf(map[string]any(d.p)).Table()
		r, err := reg.Type(d.typ).Decode(tab, resource.Origin{Pos: diag.Pos{File: "site.lua", Line: i + 1}})
		require.NoError(t, err)
		_, err = b.Add(r)
		require.NoError(t, err)
	}
	c, err := b.Build()
	require.NoError(t, err)
	return c
}

// noLeftovers fails if there is a temporary file below dir.
func noLeftovers(t testing.TB, dir string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		require.NotContains(t, filepath.Base(path), ".ccm-new")
		require.False(t, strings.HasPrefix(filepath.Base(path), ".new-"), path)
		return err
	}))
}

// A state directory is made private, also an existing one. Another kind of file is left as it is.
func TestStateDirectoryIsPrivate(t *testing.T) {
	for name, x := range map[string]struct {
		make    func(dir string) error
		want    os.FileMode
		refused bool
	}{
		"missing": {make: func(string) error { return nil }, want: 0o700},
		"private": {make: func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(dir+"/x", nil, 0o600)) }, want: 0o700},
		"empty":   {make: func(dir string) error { return os.Mkdir(dir, 0o755) }, want: 0o700},
		"of ours": {make: func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(dir+"/lock", nil, 0o600), os.WriteFile(dir+"/x", nil, 0o600))
		}, want: 0o700},
		"of an agent": {make: func(dir string) error {
			return errors.Join(os.MkdirAll(dir+"/agent/sources", 0o755), os.WriteFile(dir+"/key", nil, 0o600))
		}, want: 0o700},
		"a file agent": {make: func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(dir+"/agent", nil, 0o600))
		}, want: 0o755, refused: true},
		"of a group":  {make: func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o2770)) }, want: 0o700},
		"of somebody": {make: func(dir string) error { return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(dir+"/x", nil, 0o600)) }, want: 0o755, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			require.NoError(t, x.make(dir))
			held, err := state.Lock(t.Context(), dir, "test", 0, time.Time{})
			if x.refused {
				require.ErrorContains(t, err, "expected a directory for state only, accessible only by its owner, found one with mode 0755 that contains ")
				require.NoFileExists(t, filepath.Join(dir, "lock"))
			} else {
				require.NoError(t, err)
				require.NoError(t, held.Unlock())
			}
			fi, err := os.Stat(dir)
			require.NoError(t, err)
			require.Equal(t, x.want, fi.Mode().Perm())
		})
	}
}
