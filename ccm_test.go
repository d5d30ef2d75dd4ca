package ccm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm"
)

// mostNames is how many names the package may export: types, functions, constants and variables.
const mostNames = 25

// TestNames: the package stays small, and each exported name has a comment and an example with an output.
func TestNames(t *testing.T) {
	files := token.NewFileSet()
	var sources, tests []*ast.File
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") {
			tests = append(tests, f)
		} else {
			sources = append(sources, f)
		}
	}
	examples := make(map[string]bool)
	for _, x := range doc.Examples(tests...) {
		examples[x.Name] = x.Output != ""
	}
	var exported []string
	check := func(name string, comment ...*ast.CommentGroup) {
		if !ast.IsExported(name) {
			return
		}
		exported = append(exported, name)
		require.True(t, slices.ContainsFunc(comment, func(c *ast.CommentGroup) bool { return c.Text() != "" }), "%s has no comment", name)
		require.True(t, examples[name], "%s has no example with an output", name)
	}
	for _, f := range sources {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					check(d.Name.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						check(s.Name.Name, s.Doc, d.Doc)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							check(n.Name, s.Doc, d.Doc)
						}
					}
				}
			}
		}
	}
	require.LessOrEqual(t, len(exported), mostNames, exported)
	require.Greater(t, len(exported), 10)
}

// options returns options for an empty directory as the machine.
func options(t *testing.T) ccm.Options {
	dir := t.TempDir()
	return ccm.Options{Root: dir, StateDir: filepath.Join(dir, "state")}
}

const twoLinks = `local link = require "std.link"  link { "/a", target = "x" }  link { "/b", target = "x" }`

func loadText(t *testing.T, text string, o ccm.Options) *ccm.Site {
	site, err := ccm.LoadText(t.Context(), "site.lua", text, o)
	require.NoError(t, err)
	t.Cleanup(site.Close)
	return site
}

// collect returns the outcomes of a run or plan, and its error.
func collect(events func(func(ccm.Event, error) bool)) (outcomes []ccm.Outcome, err error) {
	for e, x := range events {
		if err = x; err == nil {
			outcomes = append(outcomes, e.Outcome)
		}
	}
	return outcomes, err
}

func TestPlansTouchNothing(t *testing.T) {
	o := options(t)
	o.Noop = true
	site := loadText(t, twoLinks+` file { ccm.noop and "/noop" or "/run", ensure = "absent" }`, o)
	require.Equal(t, "/noop", site.Resources()[2].Name)
	for range 2 { // Run of such a site is a plan too
		outcomes, err := collect(site.Run(t.Context()))
		require.NoError(t, err)
		require.Equal(t, []ccm.Outcome{ccm.Pending, ccm.Pending, ccm.Stable}, outcomes)
	}
	entries, err := os.ReadDir(o.Root)
	require.NoError(t, err)
	require.Empty(t, entries, "neither links nor a state directory")
}

func TestRunOnce(t *testing.T) {
	o := options(t)
	site := loadText(t, twoLinks, o)
	for range 2 {
		outcomes, err := collect(site.Plan(t.Context()))
		require.NoError(t, err)
		require.Equal(t, []ccm.Outcome{ccm.Pending, ccm.Pending}, outcomes)
	}
	outcomes, err := collect(site.Run(t.Context()))
	require.NoError(t, err)
	require.Equal(t, []ccm.Outcome{ccm.Changed, ccm.Changed}, outcomes)
	_, err = collect(site.Run(t.Context()))
	require.ErrorContains(t, err, "load it again")
	outcomes, err = collect(loadText(t, twoLinks, o).Run(t.Context()))
	require.NoError(t, err)
	require.Equal(t, []ccm.Outcome{ccm.Stable, ccm.Stable}, outcomes)
}

// TestLock: a loaded site keeps others from running, until it is closed.
func TestLock(t *testing.T) {
	o := options(t)
	_, err := collect(loadText(t, twoLinks, o).Run(t.Context()))
	require.NoError(t, err, "which makes the state directory")
	first := loadText(t, twoLinks, o)
	_, err = collect(loadText(t, twoLinks, o).Run(t.Context()))
	require.Error(t, err)
	first.Close()
	_, err = collect(loadText(t, twoLinks, o).Run(t.Context()))
	require.NoError(t, err)
}

// TestContexts: the context of Load does not end a later run, and the context of a run ends it.
func TestContexts(t *testing.T) {
	loading, loaded := context.WithCancel(t.Context())
	site, err := ccm.LoadText(loading, "site.lua", twoLinks, options(t))
	require.NoError(t, err)
	t.Cleanup(site.Close)
	loaded()
	outcomes, err := collect(site.Plan(t.Context()))
	require.NoError(t, err)
	require.Len(t, outcomes, 2)

	// The command waits for a writer that never comes.
	dir := t.TempDir()
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	site = loadText(t, fmt.Sprintf(`std.link { "%[1]s/a", target = "x" }  exec { "cat %[1]s/fifo" }`, dir), ccm.Options{StateDir: dir + "/state"})
	cause := errors.New("enough")
	running, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	outcomes = nil
	var last error
	for e, err := range site.Run(running) {
		if last = err; err == nil {
			outcomes = append(outcomes, e.Outcome)
		}
		cancel(cause)
	}
	require.ErrorIs(t, last, cause)
	require.Equal(t, ccm.Changed, outcomes[0])
	require.NotContains(t, outcomes[1:], ccm.Changed)

	cancelled, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	_, err = ccm.LoadText(cancelled, "site.lua", "while true do end", options(t))
	require.Error(t, err)
}

// TestPanicInTheLoop: the lock is released, and the next run works.
func TestPanicInTheLoop(t *testing.T) {
	o := options(t)
	require.PanicsWithValue(t, "in the loop", func() {
		for range loadText(t, twoLinks, o).Run(t.Context()) {
			panic("in the loop")
		}
	})
	_, err := collect(loadText(t, twoLinks, o).Run(t.Context()))
	require.NoError(t, err)
}

// TestSeveralSites: sites of one program share nothing, with a type that they have in common.
func TestSeveralSites(t *testing.T) {
	typ := ccm.NewType("note", notes{})
	var group sync.WaitGroup
	for i := range 4 {
		o := options(t)
		o.Types, o.Facts = []ccm.Type{typ}, map[string]any{"number": i}
		group.Go(func() {
			site, err := ccm.LoadText(t.Context(), "site.lua", `note { "n", text = tostring(facts.number) }`, o)
			if err == nil {
				defer site.Close()
				_, err = collect(site.Run(t.Context()))
			}
			text, _ := os.ReadFile(filepath.Join(o.Root, "notes/n"))
			if err != nil || string(text) != fmt.Sprint(i) {
				t.Errorf("site %d: %q, %v", i, text, err)
			}
		})
	}
	group.Wait()
}

func TestErrorsOfARun(t *testing.T) {
	o := options(t)
	site := loadText(t, `local link = require "std.link"
link { "/no/a", target = "x" }
link { "/no/b", target = "x" }
link { "/no/c", target = "x", ignore_failure = true }`, o)
	outcomes, err := collect(site.Run(t.Context()))
	require.Equal(t, []ccm.Outcome{ccm.Failed, ccm.Failed, ccm.Failed}, outcomes)
	require.ErrorIs(t, err, ccm.ErrFailed)
	require.ErrorContains(t, err, "link#/no/a")
	require.ErrorContains(t, err, "and 1 more")

	site = loadText(t, `local link = require "std.link"
ccm.after(link { "/a", target = "x" }, function() error("in after") end)`, options(t))
	outcomes, err = collect(site.Run(t.Context()))
	require.Equal(t, []ccm.Outcome{ccm.Changed}, outcomes)
	var m *ccm.Mistake
	require.ErrorAs(t, err, &m)
	require.Equal(t, 2, m.Line)
	require.Contains(t, m.Message, "in after")
}

// TestSecrets: what the program or the script calls secret is in no error, event or output.
func TestSecrets(t *testing.T) {
	o := options(t)
	var printed bytes.Buffer
	o.Output, o.Secrets = &printed, []string{"hunter22-hunter22"}
	_, err := ccm.LoadText(t.Context(), "site.lua", `error("the password is hunter22-hunter22")`, o)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter22")
	require.NotContains(t, ccm.Mistakes(err)[0].Message, "hunter22")
	o.Data = map[string]any{"password": "hunter22-hunter22"}
	site := loadText(t, `print(data.password)  local link = require "std.link"  link { "/a", target = data.password }`, o)
	for event := range site.Run(t.Context()) {
		require.Len(t, event.Changes, 2)
		require.NotContains(t, fmt.Sprint(event.Changes, event), "hunter22")
	}
	require.NotEmpty(t, printed.String())
	require.NotContains(t, printed.String(), "hunter22")
	target, err := os.Readlink(filepath.Join(o.Root, "a"))
	require.NoError(t, err)
	require.Equal(t, "hunter22-hunter22", target)

	o.Secrets = []string{"a"}
	_, err = ccm.LoadText(t.Context(), "site.lua", "", o)
	require.ErrorContains(t, err, "secret 1 of Options.Secrets")
}

// TestValues: the maps of a program may have the types that Go programs use.
func TestValues(t *testing.T) {
	type word string
	yes := true
	o := options(t)
	var printed bytes.Buffer
	o.Output = &printed
	o.Facts = map[string]any{"list": []string{"a", "b"}, "small": int8(3), "word": word("w"), "yes": &yes}
	o.Data = map[string]any{"ports": map[word]uint16{"http": 80}, "ratio": float32(0.5), "nothing": nil}
	loadText(t, `print(facts.list[2], facts.small + 1, facts.word, facts.yes, data.ports.http + 1, data.ratio)`, o)
	require.Equal(t, "b\t4\tw\ttrue\t81\t0.5\n", printed.String())

	for want, x := range map[string]any{"Options.Data[x]: ": func() {}, "got struct": struct{}{}, "x][0]: ": []any{make(chan int)}, "too large": uint64(1 << 63), "map[int]": map[int]int{}} {
		o.Data = map[string]any{"x": x}
		_, err := ccm.LoadText(t.Context(), "site.lua", "", o)
		require.ErrorContains(t, err, want)
	}
	o.Data = nil
	o.Types = []ccm.Type{ccm.NewType("listed", listed{})}
	event, err := ccm.Ensure(t.Context(), "listed", "n", map[string]any{"words": []string{"a", "b"}}, o)
	require.NoError(t, err)
	require.Equal(t, ccm.Stable, event.Outcome)
}

// TestOctalModes: a mode may be a number, which is octal in Go.
func TestOctalModes(t *testing.T) {
	for _, mode := range []any{0o640, fs.FileMode(0o640), "0640"} {
		o := options(t)
		_, err := ccm.Ensure(t.Context(), "file", "/f", map[string]any{"mode": mode, "owner": "-1", "group": "-1"}, o)
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(o.Root, "f"))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o640), info.Mode())
	}
}

// TestZeroEvent: the event beside an error prints nothing.
func TestZeroEvent(t *testing.T) {
	require.Empty(t, ccm.Event{}.String())
	require.Empty(t, ccm.Resource{}.String())
}

// TestValuesOfAProperty: a string type may list its values.
func TestValuesOfAProperty(t *testing.T) {
	o := options(t)
	o.Types = []ccm.Type{ccm.NewType("lamp", brokenNotes[lamp]{})}
	_, err := ccm.Ensure(t.Context(), "lamp", "n", map[string]any{"state": "onn"}, o)
	var m *ccm.Mistake
	require.ErrorAs(t, err, &m)
	require.Contains(t, m.Error(), `"on"`)
}

type lamp struct {
	Name  string    `ccm:"name,name"`
	State lampState `ccm:"state"`
}

type lampState string

func (lampState) Values() []string { return []string{"on", "off"} }

type list struct {
	Name  string   `ccm:"name,name"`
	Words []string `ccm:"words"`
}

// listed finds the words a and b.
type listed struct{ brokenNotes[list] }

func (listed) Status(context.Context, *ccm.View, list) (list, error) {
	return list{Words: []string{"a", "b"}}, nil
}

// TestCheckIdempotent: what a second run would change is a mistake at the end.
func TestCheckIdempotent(t *testing.T) {
	o := options(t)
	o.CheckIdempotent = true
	o.Root = "" // the command true changes nothing
	outcomes, err := collect(loadText(t, "\n"+`exec { "true" }`, o).Run(t.Context()))
	require.Equal(t, []ccm.Outcome{ccm.Changed}, outcomes)
	var m *ccm.Mistake
	require.ErrorAs(t, err, &m)
	require.Equal(t, 2, m.Line)
	require.NotErrorIs(t, err, ccm.ErrFailed)
}

// A watched is a note with all methods that a provider may have.
type watched struct {
	notes
	refreshed *[]string
}

func (watched) Validate(want Note) error {
	if want.Ensure != "absent" && want.Text == nil {
		return errors.New("text is required")
	}
	return nil
}

func (watched) Files(want Note) []string { return []string{"/notes/" + want.Name} }

func (w watched) Refresh(_ context.Context, _ *ccm.Machine, want Note) error {
	*w.refreshed = append(*w.refreshed, want.Name)
	return nil
}

func TestMethodsOfAProvider(t *testing.T) {
	o := options(t)
	var refreshed []string
	o.Types = []ccm.Type{ccm.NewType("note", watched{refreshed: &refreshed})}
	_, err := ccm.LoadText(t.Context(), "site.lua", `note { "n" }`, o)
	require.ErrorContains(t, err, "note#n: text is required")

	// A plan knows what is at the path of another note, and nothing about others.
	site := loadText(t, `local link = require "std.link"
note { "a", text = "1" }
link { "/b", target = "a" }
note { "c", text = "3", subscribe = "link#/b" }`, o)
	plan, err := collect(site.Plan(t.Context()))
	require.NoError(t, err)
	require.Equal(t, []ccm.Outcome{ccm.Pending, ccm.Pending, ccm.Pending}, plan)
	_, err = collect(site.Run(t.Context()))
	require.NoError(t, err)
	require.Empty(t, refreshed, "what is created needs no refresh")
	require.NoError(t, os.Remove(filepath.Join(o.Root, "b")))
	outcomes, err := collect(loadText(t, `local link = require "std.link"
link { "/b", target = "a" }
note { "c", text = "3", subscribe = "link#/b" }`, o).Run(t.Context()))
	require.NoError(t, err)
	require.Equal(t, []ccm.Outcome{ccm.Changed, ccm.Changed}, outcomes)
	require.Equal(t, []string{"c"}, refreshed)
}

// TestNothingRuns: a closed site leaves no goroutine behind.
func TestNothingRuns(t *testing.T) {
	before := runtime.NumGoroutine()
	o := options(t)
	for range 3 {
		site, err := ccm.LoadText(t.Context(), "site.lua", `for i = 1, 100 do file { "/" .. i, ensure = "absent" } end`, o)
		require.NoError(t, err)
		_, err = collect(site.Plan(t.Context()))
		require.NoError(t, err)
		site.Close()
		site.Close()
	}
	// The condition has a goroutine too.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Minute, time.Millisecond)
}

func TestEnsureTakesTextsAsTheyAre(t *testing.T) {
	o := options(t)
	o.Types = []ccm.Type{ccm.NewType("note", notes{})}
	_, err := ccm.Ensure(t.Context(), "note", "n", map[string]any{"text": "{{ 1 + 1 }}"}, o)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(o.Root, "notes/n"))
	require.NoError(t, err)
	require.Equal(t, "{{ 1 + 1 }}", string(text))

	_, err = ccm.Ensure(t.Context(), "nte", "n", nil, o)
	require.ErrorContains(t, err, "note")
	_, err = ccm.Ensure(t.Context(), "note", "n", map[string]any{"txt": ""}, o)
	var m *ccm.Mistake
	require.ErrorAs(t, err, &m)
	require.Equal(t, "note#n", m.Subject)
}

func TestWarnings(t *testing.T) {
	o := options(t)
	var warned []string
	o.Warn = func(m *ccm.Mistake) { warned = append(warned, m.Error()) }
	const text = `local link = require "std.link"  link { "/a", target = "x", owner = env.NO_SUCH_VARIABLE }`
	loadText(t, text, o)
	require.Len(t, warned, 1)
	require.Contains(t, warned[0], "site.lua:1")
	o.Strict = true
	_, err := ccm.LoadText(t.Context(), "site.lua", text, o)
	require.Len(t, ccm.Mistakes(err), 1)
}

func TestTimeLimits(t *testing.T) {
	o := options(t)
	o.EvalTimeout = 50 * time.Millisecond
	_, err := ccm.LoadText(t.Context(), "site.lua", "while true do end", o)
	require.Error(t, err)
}

type broken struct {
	Name int `ccm:"name,name"`
}

type brokenNotes[D any] struct{}

func (brokenNotes[D]) Status(context.Context, *ccm.View, D) (have D, err error) { return have, nil }

func (brokenNotes[D]) Apply(context.Context, *ccm.Machine, D, []ccm.Change) error { return nil }

type unnamed struct {
	Text string `ccm:"text"`
}

type malformed struct {
	Name string `ccm:"name,naem"`
}

type unexported struct {
	name string `ccm:"name,name"`
}

type taken struct {
	Name string `ccm:"name,name"`
	Tags string `ccm:"tags"`
}

func TestMalformedTypes(t *testing.T) {
	_ = unexported{name: ""}
	for want, typ := range map[string]ccm.Type{
		"is not a struct":                ccm.NewType("x", brokenNotes[string]{}),
		"no property names the resource": ccm.NewType("x", brokenNotes[unnamed]{}),
		"naem":                           ccm.NewType("x", brokenNotes[malformed]{}),
		"not exported":                   ccm.NewType("x", brokenNotes[unexported]{}),
		"every type has a property tags": ccm.NewType("x", brokenNotes[taken]{}),
		"duplicate type file":            ccm.NewType("file", brokenNotes[Note]{}),
		"must be a string":               ccm.NewType("x", brokenNotes[broken]{}),
	} {
		o := options(t)
		o.Types = []ccm.Type{typ}
		_, err := ccm.LoadText(t.Context(), "site.lua", "", o)
		require.ErrorContains(t, err, want, want)
	}
}

// A Deviating note never becomes what is wanted.
func TestStatusIsAskedAgain(t *testing.T) {
	o := options(t)
	o.Types = []ccm.Type{ccm.NewType("note", brokenNotes[Note]{})}
	event, err := ccm.Ensure(t.Context(), "note", "n", nil, o)
	require.ErrorIs(t, err, ccm.ErrFailed)
	require.Equal(t, ccm.Failed, event.Outcome)
	require.ErrorIs(t, err, event.Err)
}
