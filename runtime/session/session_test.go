package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// knob is a type whose status is never read.
type knob struct {
	Name string `ccm:"name,name"`
}

func (knob) Validate() error                                                   { return nil }
func (knob) Decide(string) (d resource.Decision)                               { return d }
func (knob) Perform(context.Context, *host.Host, knobs, resource.Action) error { return nil }

type knobs interface {
	Status(context.Context, *host.View, knob) (string, error)
}

type world struct{}

func (world) Status(context.Context, *host.View, knob) (string, error) { return "", nil }

func registry(t *testing.T) (*resource.Registry, *resource.Type) {
	kind := resource.Define[knob, string, knobs]("knob")
	reg, err := resource.NewRegistry(kind.Provide("world", resource.Always[knob](1), world{}))
	require.NoError(t, err)
	return reg, kind.Type
}

// records writes a session from words such as "a:changed", "b:begin",
// "c:stable:subscribe=a", "d:skipped:unmet=a", "e:pending:noop".
func records(t *testing.T, s *Session, words string) {
	t.Helper()
	for word := range strings.FieldsSeq(words) {
		parts := strings.Split(word, ":")
		r := Entry{Event: report.Event{Protocol: report.EventProtocol, Type: "knob", Name: parts[0], Outcome: parts[1]}}
		switch parts[1] {
		case "begin":
			r.Protocol, r.Outcome = beginProtocol, ""
		case "changed", "pending":
			r.Changed = true
		case "failed":
			r.Failed = true
		case "skipped":
			r.Skipped = true
		}
		for _, extra := range parts[2:] {
			key, val, _ := strings.Cut(extra, "=")
			switch key {
			case "noop":
				r.Noop = true
			case "alias":
				r.Alias = val
			case "unmet":
				r.UnmetRequirements = []string{"knob#" + val}
			case "subscribe":
				r.Subscribe = append(r.Subscribe, "knob#"+val)
			}
		}
		require.NoError(t, s.Append(r))
	}
}

func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		does, records string
		want          string // for the resource x in a run
		plan          string // and in a plan, if that differs
	}{
		{does: "nothing happened", records: "", want: ""},
		{does: "a change", records: "a:changed", want: "a=changed"},
		{does: "stable", records: "a:stable", want: "a=stable"},
		{does: "failed", records: "a:failed", want: "a=failed"},
		{does: "failed, then in order", records: "a:failed a:stable", want: "a=stable"},
		{does: "failed after a change", records: "a:changed a:failed", want: "a=failed"},
		{does: "changed, then stable", records: "a:changed a:stable", want: "a=changed"},
		{does: "skipped by its control", records: "a:skipped", want: "a=stable"},
		{does: "skipped for want of another", records: "b:failed a:skipped:unmet=b", want: "b=failed a=skipped"},
		{does: "the subscriber was refreshed", records: "a:changed x:changed:subscribe=a", want: "a=stable x=changed"},
		{does: "the subscriber was in order anyway", records: "a:changed x:stable:subscribe=a", want: "a=stable x=stable"},
		{does: "it did not subscribe then", records: "a:changed x:stable", want: "a=changed x=stable"},
		{does: "its refresh failed", records: "a:changed x:failed:subscribe=a", want: "a=changed x=failed"},
		{does: "it was skipped", records: "a:changed x:skipped:subscribe=a", want: "a=changed x=stable"},
		{does: "another change since", records: "a:changed x:stable:subscribe=a a:changed", want: "a=changed x=stable"},
		{does: "by alias", records: "a:changed:alias=conf x:stable:subscribe=conf", want: "a=stable x=stable"},
		{does: "died in the middle", records: "a:begin", want: "a=failed"},
		{does: "died, then found in order", records: "a:begin a:stable", want: "a=changed"},
		{does: "began and changed", records: "a:begin a:changed", want: "a=changed"},
		{does: "only planned", records: "a:pending:noop", want: "", plan: "a=pending"},
		{does: "planned, and done before", records: "a:changed a:pending:noop", want: "a=changed", plan: "a=pending"},
		{does: "a plan of the subscriber is no refresh", records: "a:changed x:pending:noop:subscribe=a", want: "a=changed", plan: "a=changed x=pending"},
		{does: "unknown in a plan", records: "a:unknown:noop", want: "", plan: "a=unknown"},
	} {
		t.Run(tt.does, func(t *testing.T) {
			s := Memory()
			records(t, s, tt.records)
			if tt.plan == "" {
				tt.plan = tt.want
			}
			all, err := s.Entries()
			require.NoError(t, err)
			for plan, want := range map[bool]string{false: tt.want, true: tt.plan} {
				var got []string
				for _, e := range settle(all, resource.ID{Type: "knob", Name: "x"}, plan) {
					got = append(got, fmt.Sprintf("%s=%s", e.id.Name, e.outcome))
				}
				require.Equal(t, want, strings.Join(got, " "), "plan: %t", plan)
			}
		})
	}
}

// Outcomes of earlier processes can be referred to, by name and alias, and are replaced by present declarations.
func TestSettleIntoCatalog(t *testing.T) {
	reg, typ := registry(t)
	s := Memory()
	records(t, s, "a:changed:alias=conf b:failed x:changed:alias=conf")
	require.NoError(t, s.Append(Entry{Event: report.Event{Type: "gone", Name: "y", Outcome: "stable"}}))
	var b catalog.Builder
	x := &resource.Resource{ID: resource.ID{Type: "knob", Name: "x"}, Type: typ, Spec: &knob{Name: "x"}, Common: &resource.Common{
		Require: []resource.Reference{{Type: "knob", Name: "conf"}, {Type: "knob", Name: "b"}},
	}}
	_, err := b.Add(x)
	require.NoError(t, err)
	settled, _, err := s.Settle(&b, reg, x.ID, false)
	require.NoError(t, err)
	require.Equal(t, map[resource.ID]event.Outcome{
		{Type: "knob", Name: "a"}: event.Changed, {Type: "knob", Name: "b"}: event.Failed,
	}, settled)
	c, err := b.Build()
	require.NoError(t, err)
	require.Len(t, c.Resources, 3)
	require.Same(t, x, c.Resources[2])
}

func TestPlanned(t *testing.T) {
	s := Memory()
	records(t, s, "a:pending:noop:alias=conf b:pending:noop b:changed")
	for name, want := range map[string]bool{"a": true, "conf": true, "b": false, "c": false} {
		require.Equal(t, want, s.Planned(resource.ID{Type: "knob", Name: name}), name)
	}
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	_, err := Open(dir)
	require.ErrorContains(t, err, "does not exist")
	s, err := New(dir)
	require.NoError(t, err)
	require.Equal(t, dir, s.Dir())
	_, err = New(dir)
	require.ErrorContains(t, err, "already exists (continue it with: export CCM_SESSION_STORE=")
	fi, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), fi.Mode().Perm())

	got, err := s.Entries()
	require.NoError(t, err)
	require.Empty(t, got)
	records(t, s, "a:changed")
	other, err := Open(dir)
	require.NoError(t, err)
	records(t, other, "b:stable:subscribe=a")
	for range 2 { // the second time nothing is new
		got, err = s.Entries()
		require.NoError(t, err)
		require.Len(t, got, 2)
		require.Equal(t, []string{"knob#a"}, got[1].Subscribe)
	}
	fi, err = os.Stat(filepath.Join(dir, FileName))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	require.ErrorContains(t, s.Remove(), "contains other files, so it was kept")
	require.NoError(t, os.Remove(filepath.Join(dir, "mine")))
	require.NoError(t, s.Remove())
	require.NoDirExists(t, dir)
}

// A file in place of a directory, a link in place of the file, and an invalid line are errors.
func TestStoreRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(file)
	require.ErrorContains(t, err, "expected a directory, found a file")

	s, err := Open(dir)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(file, filepath.Join(dir, FileName)))
	require.Error(t, s.Append(Entry{}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Empty(t, text)
	require.NoError(t, os.Remove(filepath.Join(dir, FileName)))

	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte("{}\nnope\n"), 0o600))
	_, err = s.Entries()
	require.ErrorContains(t, err, FileName+":2: not a record of a session")
}

// Several processes append at once, and no event is lost or torn.
func TestAppendFromManyProcesses(t *testing.T) {
	const processes, each = 8, 50
	if dir := os.Getenv("SESSION_TEST_DIR"); dir != "" {
		s, err := Open(dir)
		require.NoError(t, err)
		for i := range each {
			records(t, s, fmt.Sprintf("%s-%d:changed:alias=%s", os.Getenv("SESSION_TEST_NAME"), i, strings.Repeat("x", 5000)))
		}
		return
	}
	dir := t.TempDir()
	var cmds []*exec.Cmd
	for i := range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAppendFromManyProcesses$")
		cmd.Env = append(os.Environ(), "SESSION_TEST_DIR="+dir, fmt.Sprintf("SESSION_TEST_NAME=p%d", i))
		require.NoError(t, cmd.Start())
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		require.NoError(t, cmd.Wait())
	}
	s, err := Open(dir)
	require.NoError(t, err)
	got, err := s.Entries()
	require.NoError(t, err)
	require.Len(t, got, processes*each)
	next := make(map[string]int) // of each process, in its order
	for _, r := range got {
		p, n, _ := strings.Cut(r.Name, "-")
		require.Equal(t, fmt.Sprint(next[p]), n)
		next[p]++
	}
}

func TestRecorderAndReport(t *testing.T) {
	_, typ := registry(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := Memory()
	rec := s.Reporter("run", report.DiffSummary, func() time.Time { return at })
	a := &resource.Resource{ID: resource.ID{Type: "knob", Name: "a"}, Type: typ, Spec: &knob{}, Common: new(resource.Common)}
	b := &resource.Resource{ID: resource.ID{Type: "knob", Name: "b"}, Type: typ, Spec: &knob{}, Common: &resource.Common{
		Subscribe: []resource.Reference{{Type: "knob", Name: "a"}},
	}}
	rec.BeforeAction(a, 0, 1)
	rec.Event(&event.Event{Resource: a, Outcome: event.Changed, Start: at, Duration: time.Second, Actions: []resource.Action{{Phrase: "turned the knob"}}})
	rec.Event(&event.Event{Resource: b, Outcome: event.Failed, Err: errors.New("it broke"), Duration: time.Second})
	require.NoError(t, rec.Err())

	r, err := s.Report()
	require.NoError(t, err)
	require.True(t, r.Failed)
	require.Len(t, r.Events, 2)
	require.Equal(t, 1, r.Summary.Of(event.Changed))
	require.Equal(t, 1, r.Summary.Of(event.Failed))
	require.Equal(t, 2*time.Second, r.Summary.Duration)
	require.Equal(t, at, r.Summary.Start)
	require.False(t, r.Summary.Noop)

	rec.Event(&event.Event{Resource: b, Outcome: event.Stable})
	r, err = s.Report()
	require.NoError(t, err)
	require.False(t, r.Failed, "it was brought in order since")

	var text strings.Builder
	for _, ev := range r.Events {
		report.Text{W: &text, Verbose: true, Diff: report.DiffOff}.Event(report.Restore(ev))
	}
	require.Equal(t, "~ knob#a: Turned the knob\nx knob#b: failed: it broke (-)\n= knob#b: up to date\n", text.String())
}

// A session in memory does not grow with every event, and has the same outcomes as one that keeps all.
func TestMemoryForgets(t *testing.T) {
	words := strings.Fields("a:changed b:stable c:begin c:changed x:changed:subscribe=a:subscribe=b b:failed d:pending:noop:alias=conf a:begin " +
		"c:stable x:failed:subscribe=c b:stable e:skipped:unmet=b a:stable e:stable x:skipped d:changed:alias=conf x:stable:subscribe=conf d:stable:noop:alias=conf")
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		full, short := &Session{compact: 1 << 30}, &Session{compact: 1}
		for range 60 {
			word := words[r.IntN(len(words))]
			records(t, full, word)
			short.compact = 1
			records(t, short, word)
		}
		require.Less(t, len(short.entries), 30)
		require.Len(t, full.entries, 60)
		for _, plan := range []bool{false, true} {
			id := resource.ID{Type: "knob", Name: "x"}
			require.ElementsMatch(t, settle(full.entries, id, plan), settle(short.entries, id, plan))
		}
	}
}

// The report shows where a process died.
func TestReportOfDeaths(t *testing.T) {
	s := Memory()
	records(t, s, "a:begin b:begin b:changed a:stable c:begin c:begin c:failed d:begin")
	r, err := s.Report()
	require.NoError(t, err)
	var got []string
	for _, e := range r.Events {
		got = append(got, e.Name+":"+e.Outcome+":"+strings.Join(e.Errors, ""))
	}
	require.Equal(t, []string{"a:failed:" + died, "b:changed:", "a:stable:", "c:failed:" + died, "c:failed:", "d:failed:" + died}, got)
	require.Equal(t, 4, r.Summary.Of(event.Failed))
	require.True(t, r.Failed)
}

// The lines of a session are events as reports print them, so that other
// programs can read them.
func TestLinesAreEvents(t *testing.T) {
	s, err := Open(t.TempDir())
	require.NoError(t, err)
	records(t, s, "a:changed")
	text, err := os.ReadFile(filepath.Join(s.Dir(), FileName))
	require.NoError(t, err)
	var ev report.Event
	require.NoError(t, json.Unmarshal(text, &ev))
	require.Equal(t, "a", ev.Name)
}
