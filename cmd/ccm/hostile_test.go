package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/inspect"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/site"
)

// A hostileHost is a confined machine for hostile input: a directory as its root, no commands and no network, and a
// directory for scripts. Files beside them must not change.
type hostileHost struct {
	base    string
	facts   *facts.Facts
	timeout time.Duration // of an evaluation
}

// fuzzTimeout is the time limit of a script in a fuzz test.
const fuzzTimeout = 300 * time.Millisecond

var errConfined = errors.New("nothing outside of the test can be reached")

// newHostile makes the directories.
func newHostile(f testing.TB) *hostileHost {
	base, err := os.MkdirTemp("/dev/shm", "ccm-test-")
	if err != nil {
		base = f.TempDir()
	}
	f.Cleanup(func() { require.NoError(f, os.RemoveAll(base)) })
	w := &hostileHost{base, facts.Static(map[string]any{
		"os": map[string]any{"family": "debian", "release": "12"}, "hostname": "web01", "memory": map[string]any{"total": int64(1 << 30)},
	}), fuzzTimeout}
	w.write(f)
	f.Setenv("XDG_CONFIG_HOME", filepath.Join(base, "config"))
	return w
}

// write writes the files in the directories.
func (w *hostileHost) write(t testing.TB) {
	for name, text := range map[string]string{
		"machine/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "machine/etc/group": "root:x:0:\n", "machine/etc/motd": "hello\n",
		"site/module.lua": "return { greet = function(who) return 'hello ' .. who end }\n", "site/data.yaml": "hierarchy: {order: [common]}\ncommon: {port: 80}\n",
		"site/motd.jet": "[[ data.port ]]\n", "site/other.lua": "file { '/etc/other', ensure = 'absent' }\n", "outside": "as it was\n",
	} {
		path := filepath.Join(w.base, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	if err := os.Symlink("../outside", filepath.Join(w.base, "machine/out")); !errors.Is(err, os.ErrExist) {
		require.NoError(t, err)
	}
}

type noNetwork struct{}

// RoundTrip implements http.RoundTripper.
func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, errConfined }

func (w *hostileHost) host() *host.Host {
	return host.New(host.Options{
		Root: filepath.Join(w.base, "machine"), Clock: hosttest.Clock{}, Transport: noNetwork{},
		Runner: &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return host.Result{}, errConfined }},
	})
}

// untouched fails if anything outside the given directories has changed.
func (w *hostileHost) untouched(t *testing.T, before map[string]string, but ...string) {
	t.Helper()
	after := w.snapshot(t)
	for _, snap := range []map[string]string{before, after} {
		for name := range snap {
			for _, dir := range but {
				if strings.HasPrefix(name, dir) {
					delete(snap, name)
				}
			}
		}
	}
	require.Equal(t, before, after)
}

func (w *hostileHost) snapshot(t *testing.T) map[string]string { return hosttest.Snapshot(t, w.base) }

// env returns an environment whose hosts are confined.
func (w *hostileHost) env(stdin io.Reader, stdout, stderr io.Writer) *cli.Env {
	e := newEnv(stdin, stdout, stderr, hosttest.Clock{})
	e.NewHost = func(o host.Options) *host.Host {
		confined := w.host()
		return host.New(host.Options{
			Root: confined.Root(), Clock: hosttest.Clock{}, Transport: noNetwork{}, BeforeChange: o.BeforeChange,
			Runner: &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return host.Result{}, errConfined }},
		})
	}
	return e
}

// load reads a script or manifest as all commands do. The file is in the working directory meanwhile.
func (w *hostileHost) load(t testing.TB, name, text string) (*site.Site, error) {
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	defer os.Remove(name)
	var stderr bytes.Buffer
	e := w.env(strings.NewReader(""), &stderr, &stderr)
	return e.Load(t.Context(), name, []string{"arg"}, &site.Options{EvalTimeout: w.timeout, Facts: site.FactOptions{Facts: w.facts}})
}

// holds fails unless a script or manifest gives a catalog, which is equal the next time and can be planned, or
// mistakes with positions. Nothing may change.
func (w *hostileHost) holds(t *testing.T, name, text string) {
	t.Chdir(filepath.Join(w.base, "site"))
	before := w.snapshot(t)
	defer func() { w.untouched(t, before) }()
	s, err := w.load(t, name, text)
	if err != nil {
		mistaken(t, name, text, err)
		return
	}
	one, err := json.Marshal(inspect.CatalogTable(s.Catalog))
	if err == nil && !strings.Contains(text, "clock") {
		again, err := w.load(t, name, text)
		if !late(err) {
			require.NoError(t, err, "the second time")
			two, err := json.Marshal(inspect.CatalogTable(again.Catalog))
			require.NoError(t, err)
			require.Equal(t, string(one), string(two), "the second time")
		}
	}
	events := new(eventsOf)
	engine := &converge.Engine{Registry: s.Registry, Facts: s.Facts, Texts: true, Reporters: []event.Reporter{events}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	engine.Plan(ctx, &s.Host.View, s.Catalog)
	require.Len(t, *events, len(s.Catalog.Resources))
	for _, e := range *events {
		if e.Err != nil {
			sane(t, text, e.Err.Error())
		}
	}
}

type eventsOf []*event.Event

func (l *eventsOf) Event(e *event.Event) { *l = append(*l, e.Clone()) }

// late reports whether an evaluation reached its limits, which depends on the load of the machine.
func late(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "of memory")
}

// mistaken fails unless every mistake has a valid position.
func mistaken(t *testing.T, name, text string, err error) {
	sane(t, text, err.Error())
	if late(err) {
		return
	}
	var list diag.List
	list.Add(err)
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1 // Lua accepts both as line ends
	for _, e := range list {
		require.NotEmpty(t, e.Message())
		require.NotEmpty(t, e.Pos.File, "no place: %v", e)
		if e.Pos.File == name {
			require.Positive(t, e.Pos.Line, "no line: %v", e)
			require.LessOrEqual(t, e.Pos.Line, lines, "%v", e)
		}
	}
	var out bytes.Buffer
	for _, e := range list {
		diag.Render(&out, "", e, func(string) (string, bool) { return text, true })
	}
	require.NotZero(t, out.Len())
}

// sane fails if a message looks like that of a crash. Text from the input does not count.
func sane(t *testing.T, input, message string) {
	for _, bad := range []string{"internal error", "is broken", "nil pointer", "runtime error", "index out of range", "interface conversion", "unexpected fault", "%!s(", "%!d(", "%!v(", "reflect:", "reflect."} {
		if strings.Contains(message, bad) && !strings.Contains(input, bad) {
			t.Fatalf("%q: %s", bad, message)
		}
	}
}

// fuzzing reports whether more than the seeds is tried.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// corpus returns the files of examples and tests with a suffix.
func corpus(f *testing.F, suffix string) (texts []string) {
	root, err := filepath.Abs("../..")
	require.NoError(f, err)
	require.NoError(f, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		switch {
		case strings.HasSuffix(path, ".txtar"):
			for _, file := range txtar.Parse(text).Files {
				if name, _, _ := strings.Cut(file.Name, " "); strings.HasSuffix(name, suffix) || suffix == ".yaml" && strings.Contains(path, "manifest/testdata") && name != "messages" {
					texts = append(texts, string(file.Data))
				}
			}
		case strings.HasSuffix(path, suffix):
			texts = append(texts, strings.Split(string(text), "\n---\n")...)
		}
		return err
	}))
	if suffix == ".lua" {
		for _, l := range std.Libraries() {
			for _, fn := range l.Funcs {
				texts = append(texts, "local x = "+fn.Example)
			}
		}
	}
	require.NotEmpty(f, texts)
	return texts
}
