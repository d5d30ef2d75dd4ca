package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

func id(name string) resource.ID { return resource.ID{Type: "file", Name: name} }

func eventOf(name string, change func(*event.Event)) *event.Event {
	e := &event.Event{Resource: &resource.Resource{ID: id(name), Pos: diag.Pos{File: "site.lua", Line: 3}, Common: new(resource.Common)}, Provider: "posix"}
	change(e)
	return e
}

func samples() []*event.Event {
	created := resource.Action{Verb: "Store", Phrase: "created the file"}
	updated := resource.Action{Verb: "Store", Phrase: "updated the file"}
	return []*event.Event{
		eventOf("/stable", func(e *event.Event) {}),
		eventOf("/new", func(e *event.Event) {
			e.Outcome, e.Noop, e.Actions = event.Pending, true, []resource.Action{created}
			e.Diff = []resource.Delta{{Property: "ensure", Have: "absent", Want: "present"}, {Property: "content", Want: "sha256:00"}, {Property: "owner", Want: "root"}, {Property: "mode", Want: "0644"}}
			e.Text = &resource.TextChange{Path: "/new", WantExists: true, Want: "one\ntwo\n"}
		}),
		eventOf("/changed", func(e *event.Event) {
			e.Outcome, e.Actions, e.Refreshed, e.RefreshedBy = event.Changed, []resource.Action{updated}, true, []resource.ID{id("/a"), id("/b")}
			e.Diff = []resource.Delta{{Property: "content", Have: "sha256:01", Want: "sha256:02"}, {Property: "mode", Have: "0600", Want: "0644"}}
			e.Text = &resource.TextChange{Path: "/changed", HaveExists: true, WantExists: true, Have: "x\n", Want: "y\n"}
		}),
		eventOf("/binary", func(e *event.Event) {
			e.Outcome, e.Actions = event.Changed, []resource.Action{updated}
			e.Diff = []resource.Delta{{Property: "content", Have: "sha256:01", Want: "sha256:02"}}
			e.Text = &resource.TextChange{Path: "/binary", HaveExists: true, WantExists: true, Have: "x\x00", Want: "y\x00z"}
		}),
		eventOf("/gone", func(e *event.Event) {
			e.Outcome, e.Actions = event.Changed, []resource.Action{{Verb: "Remove", Phrase: "removed the file"}}
			e.Diff = []resource.Delta{{Property: "ensure", Have: "present", Want: "absent"}}
		}),
		eventOf("/unknown", func(e *event.Event) { e.Outcome, e.Reason = event.Unknown, "exec#x is pending" }),
		eventOf("/skipped", func(e *event.Event) {
			e.Outcome, e.Reason, e.Unmet = event.Skipped, "file#/bad failed", []resource.ID{id("/bad")}
		}),
		eventOf("/bad", func(e *event.Event) {
			e.Outcome, e.Err = event.Failed, errors.New("it broke\nbadly")
			e.Resource.Calls = []diag.Note{{Pos: diag.Pos{File: "site.lua", Line: 9}, Text: "called from here"}}
			e.Health = []health.Result{{Name: "ping", State: health.Critical, Output: "no answer", Tries: 3}}
		}),
	}
}

func text(t Text) string {
	var b strings.Builder
	t.W = &b
	for _, e := range samples() {
		t.Event(e)
	}
	return b.String()
}

func TestText(t *testing.T) {
	require.Equal(t, `+ file#/new: Would have created the file (2 lines, owner root, mode 0644)
! file#/changed: Updated the file, because file#/a and file#/b changed
    content  +1 -1 lines
    mode  0600 → 0644
~ file#/binary: Updated the file
    content  2 bytes sha256:01 → 3 bytes sha256:02
- file#/gone: Removed the file
? file#/unknown: unknown, because exec#x is pending
. file#/skipped: skipped, because file#/bad failed
x file#/bad: failed: it broke
    badly (site.lua:3)
    site.lua:9: called from here
    health check ping: critical no answer
`, text(Text{Diff: DiffSummary}))
	require.Contains(t, text(Text{Diff: DiffFull}), "    mode  0600 → 0644\ndiff --git a/changed b/changed\n--- a/changed\n+++ b/changed\n@@ -1 +1 @@\n-x\n+y\n~ file#/binary")
	require.NotContains(t, text(Text{Diff: DiffOff}), "→")
	require.Contains(t, text(Text{Diff: DiffOff}), "+ file#/new: Would have created the file\n")

	// The content of a new file is shown only if everything is requested.
	require.Contains(t, text(Text{Diff: DiffFull}), "(2 lines, owner root, mode 0644)\ndiff --git a/new b/new\nnew file mode 100644\n")
	require.NotContains(t, text(Text{Diff: DiffChanges}), "/new b/new")
	require.Contains(t, text(Text{Diff: DiffChanges}), "diff --git a/changed b/changed\n")
	require.True(t, strings.HasPrefix(text(Text{Diff: DiffOff, Verbose: true}), "= file#/stable: up to date\n"))
	require.True(t, strings.HasPrefix(text(Text{Quiet: true}), "x file#/bad: failed"))
	require.Contains(t, text(Text{Color: true, Diff: DiffFull}), "\x1b[32m+y\x1b[0m\n")
}

// TestNewParts: what something new consists of takes one line.
func TestNewParts(t *testing.T) {
	absent, content := resource.Delta{Property: "ensure", Have: "absent", Want: "present"}, resource.Delta{Property: "content", Want: "sha256:01"}
	owner, group, mode := resource.Delta{Property: "owner", Want: "root"}, resource.Delta{Property: "group", Want: "adm"}, resource.Delta{Property: "mode", Want: "0644"}
	text := func(s string) *resource.TextChange { return &resource.TextChange{WantExists: true, Want: s} }
	for _, x := range []struct {
		want string
		text *resource.TextChange
		diff []resource.Delta
	}{
		{"", text("a\n"), []resource.Delta{content, owner, group, mode}}, // it already exists
		{"1 line, root:adm 0644", text("a"), []resource.Delta{absent, content, owner, group, mode}},
		{"0 lines, root:adm", text(""), []resource.Delta{absent, content, owner, group}},
		{"3 bytes sha256:01, owner root, mode 0644", text("a\x00b"), []resource.Delta{absent, content, owner, mode}},
		{"9 bytes, group adm", text("a\x00b"), []resource.Delta{absent, {Property: "content", Want: "9 bytes"}, group}},
		{"content (known after run), mode 0644", nil, []resource.Delta{absent, {Property: "content", Want: resource.KnownAfterRun}, mode}},
		{"target /x, parents /a (mode 0755)", nil, []resource.Delta{absent, {Property: "target", Want: "/x"}, {Property: "hold", Have: "no", Want: "yes"}, {Property: "parents", Want: "/a (mode 0755)"}}},
	} {
		require.Equal(t, x.want, newParts(x.diff, x.text))
	}
}

func TestSummary(t *testing.T) {
	line := func(s event.Summary, text Text) string {
		var b strings.Builder
		text.W = &b
		text.Summary(s)
		return b.String()
	}
	all := event.Summary{Counts: [...]int{3, 2, 0, 0, 1, 1}, Refreshed: 1, Duration: 1234567 * time.Microsecond}
	require.Equal(t, "7 resources: 2 changed (1 by refresh), 1 skipped, 1 failed, 3 up to date (1.235s)\n", line(all, Text{}))
	require.Equal(t, "7 resources: 2 changed (1 by refresh), 1 skipped, 1 failed, 3 up to date (1.235s)\n", line(all, Text{Quiet: true}))
	require.Equal(t, "Nothing to do: 1 resource up to date (1.23ms)\n", line(event.Summary{Counts: [6]int{1}, Duration: 1234 * time.Microsecond}, Text{}))
	require.Empty(t, line(event.Summary{Counts: [6]int{1}}, Text{Quiet: true}))
	require.Equal(t, "2 resources: 1 pending, 1 unknown (0s), nothing was changed\n", line(event.Summary{Counts: [6]int{0, 0, 1, 1}, Noop: true}, Text{}))
	require.Equal(t, "1 resource: 1 skipped (0s), interrupted\n", line(event.Summary{Counts: [6]int{0, 0, 0, 0, 1}, Interrupted: true}, Text{}))
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	j := NewJSON(&b, Origin{RunID: "run1", Host: "web1", Root: "/mnt"}, DiffFull)
	for _, e := range samples() {
		j.Event(e)
	}
	j.Summary(event.Summary{Counts: [...]int{1, 3, 1, 1, 1, 1}, Duration: 5})
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 9)
	var e Event
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &e))
	require.Equal(t, "io.choria.ccm.v1.transaction.event", e.Protocol)
	require.Equal(t, "Would have created the file", e.NoopMessage)
	require.Equal(t, "site.lua:3", e.Position)
	require.True(t, e.Changed && e.Noop)
	require.Contains(t, e.Text, "+++ b/new")
	require.JSONEq(t, `{"protocol":"io.choria.ccm.v1.transaction.event","event_id":"run1-000000","timestamp":"0001-01-01T00:00:00Z","host":"web1","root":"/mnt","type":"file",
		"name":"/bad","provider":"posix","position":"site.lua:3","duration":0,"outcome":"failed","changed":false,"refreshed":false,"failed":true,
		"skipped":false,"noop":false,"health_checks":[{"name":"ping","status":"critical","output":"no answer","tries":3}],"errors":["it broke\nbadly"]}`, lines[7])
	require.JSONEq(t, `{"protocol":"io.choria.ccm.v1.session.summary","run_id":"run1","host":"web1","root":"/mnt","start_time":"0001-01-01T00:00:00Z","duration":5,"total_resources":8,
		"stable_resources":1,"changed_resources":3,"pending_resources":1,"unknown_resources":1,"skipped_resources":1,"failed_resources":1,
		"refreshed_resources":0,"noop":false,"interrupted":false}`, lines[8])
}

// TestStatusLine: other output replaces the status line.
func TestStatusLine(t *testing.T) {
	const erase = "\r\x1b[K"
	var b strings.Builder
	s := &StatusLine{W: &b}
	s.draw(terminal.LineText("[1/2] file#/x"), nil)
	_, err := s.Write([]byte("a log line\n"))
	require.NoError(t, err)
	s.Event(nil)
	require.Equal(t, erase+"[1/2] file#/x"+erase+"a log line\n", b.String())
	b.Reset()
	w := terminal.NewWriter(&b)
	w.Before(s.MakeWay)
	s.draw(terminal.LineText("[1/2] file#/x"), nil)
	terminal.Fprintf(w, "told\n")
	_, _ = w.Write([]byte("more\n"))
	require.Equal(t, erase+"[1/2] file#/x"+erase+"told\nmore\n", b.String())
}

// TestStatusLinePauses: during a question nothing is drawn, and other output is written.
func TestStatusLinePauses(t *testing.T) {
	const erase = "\r\x1b[K"
	var b strings.Builder
	s := &StatusLine{W: &b}
	s.current, s.startTime = "site.lua", time.Now().Add(-time.Minute)
	require.True(t, s.show())
	resume := s.Pause()
	require.Equal(t, erase+"site.lua 1m0s"+erase, b.String())
	b.Reset()
	require.True(t, s.show())
	_, err := s.Write([]byte("a log line\n"))
	require.NoError(t, err)
	require.Equal(t, "a log line\n", b.String())
	resume()
	require.True(t, s.show())
	require.Contains(t, b.String(), "site.lua 1m0s")
}

// The status line takes one line of the terminal; if the terminal breaks it, it cannot be erased.
func TestStatusLineIsCut(t *testing.T) {
	var b strings.Builder
	s := &StatusLine{W: &b, Size: func() (int, int) { return 20, 24 }}
	s.draw(terminal.LineText("[1/2] file#/日本, 12.0 MiB of 日本語日本語"), nil)
	s.Event(nil)
	require.Equal(t, "\r\x1b[K[1/2] file#/日本...\r\x1b[K", b.String())
}

// TestStatusLineShowsOutput: below the line stand the last five lines of output, as far as there
// is room, and nothing of them is left afterwards.
func TestStatusLineShowsOutput(t *testing.T) {
	const erase, up = "\r\x1b[K", "\x1b[1A"
	var b strings.Builder
	rows := 24
	s := &StatusLine{W: &b, Size: func() (int, int) { return 20, rows }}
	for _, line := range []string{"one", "two", " \t ", "three", "\x1b[2Jfour", "\tfive is a long line", "six"} {
		s.Output(nil, line)
	}
	s.draw(terminal.LineText("now"), s.last)
	block := "now\n    two\n    three\n    \\x1b[2Jfour\n    five is a lo...\n    six"
	require.Equal(t, erase+block, b.String())
	b.Reset()
	rows = 4
	s.draw(terminal.LineText("now"), s.last)
	require.Equal(t, erase+strings.Repeat(up+erase, 5)+"now\n    five is a lo...\n    six", b.String())
	b.Reset()
	_, err := s.Print(terminal.LineText("a log line\n"))
	require.NoError(t, err)
	s.Event(nil)
	require.Empty(t, s.last)
	s.draw(terminal.LineText("next"), s.last)
	s.Event(nil)
	require.Equal(t, erase+strings.Repeat(up+erase, 2)+"a log line\\n"+erase+"next"+erase, b.String())
}

// TestStatusLineShowsLooks: a slow command of a status is shown with its last lines, below the present resource, or
// alone.
func TestStatusLineShowsLooks(t *testing.T) {
	const erase, up = "\r\x1b[K", "\x1b[1A"
	var b strings.Builder
	s := &StatusLine{W: &b, ticking: true} // shown when the test says so
	shown := func() string {
		defer b.Reset()
		s.show()
		return regexp.MustCompile(`[\d.]+m?s\b`).ReplaceAllString(b.String(), "TIME")
	}
	long := time.Now().Add(-longLook)
	line, done := s.Look("$ slow")
	_, other := s.Look("fact packages")
	require.Empty(t, shown(), "it does not take long yet")
	s.looks[0].startTime = long
	line("one")
	line("two")
	require.Equal(t, erase+"$ slow TIME\n    one\n    two", shown())
	s.BeginSite("site.lua")
	require.Equal(t, erase+strings.Repeat(up+erase, 2)+erase+"site.lua TIME\n    $ slow\n    one\n    two", shown())
	done()
	s.startTime = long
	require.Equal(t, erase+strings.Repeat(up+erase, 3)+"site.lua TIME", shown())
	s.EndSite()
	require.Equal(t, erase, shown())
	other()
	require.False(t, s.show())
	require.Empty(t, b.String())
}

// TestHeartbeat: without a terminal a slow resource is reported while it runs, and no more afterwards.
func TestHeartbeat(t *testing.T) {
	told := make(chan string, 100)
	h := &Heartbeat{W: printerFunc(func(text terminal.Text) { told <- text.String() }), Interval: time.Millisecond}
	h.BeforeAction(&resource.Resource{ID: id("/x"), Common: new(resource.Common)}, 0, 2)
	require.Regexp(t, `^file#/x: running for \d+ms\n$`, <-told)
	h.Event(nil)
	for len(told) > 0 {
		<-told
	}
	h.BeforeAction(&resource.Resource{ID: id("/y"), Common: new(resource.Common)}, 1, 2)
	require.Contains(t, <-told, "file#/y: ")
	h.Event(nil)
	h.BeginSite("site.lua")
	for !strings.HasPrefix(<-told, "site.lua: running for ") {
	}
	h.EndSite()
}

type printerFunc func(terminal.Text)

func (f printerFunc) Print(t terminal.Text) (int, error) { f(t); return 0, nil }

// TestDiffLines: of a long diff the first lines are shown, and the number of the others.
func TestDiffLines(t *testing.T) {
	diff := "--- a\n+++ b\n@@ -0,0 +1,3 @@\n+1\n+2\n+3\n"
	for n, want := range map[int]string{
		0: diff, 6: diff, 9: diff,
		5: strings.TrimSuffix(diff, "+3\n") + "    1 more line (--diff-lines 6)\n",
		2: "--- a\n+++ b\n    4 more lines (--diff-lines 6)\n",
	} {
		for _, color := range []bool{false, true} {
			var b terminal.Buffer
			Text{DiffLines: n, Color: color}.unified(&b, diff)
			require.Equal(t, want, regexp.MustCompile(`\x1b\[\d*m`).ReplaceAllString(b.Text().String(), ""), n)
		}
	}
}

// TestMissingParts: missing parts of a tree take one line, with Verbose a line each.
func TestMissingParts(t *testing.T) {
	var parts []resource.Delta
	for i := range 6 {
		parts = append(parts, resource.Delta{Property: "source", Have: resource.MissingPart(fmt.Sprint("f", i)), Want: "rendered"})
	}
	differs := resource.Delta{Property: "source", Have: "x differs", Want: "rendered"}
	fresh := resource.Delta{Property: "ensure", Have: "absent", Want: "present"}
	for _, x := range []struct {
		verbose bool
		diff    []resource.Delta
		want    string
	}{
		{false, append([]resource.Delta{fresh}, parts...), "+ file#/x: Changed it (f0, f1, f2 and 3 more)\n"},
		{false, append([]resource.Delta{fresh}, parts[:4]...), "+ file#/x: Changed it (f0, f1, f2, f3)\n"},
		{true, append([]resource.Delta{fresh}, parts[:2]...), "+ file#/x: Changed it (f0, f1)\n    source  f0 is missing → rendered\n    source  f1 is missing → rendered\n"},
		{false, append([]resource.Delta{differs}, parts...), "~ file#/x: Changed it\n    source  x differs → rendered\n    source  6 missing: f0, f1, f2 and 3 more → rendered\n"},
		{false, parts[:1], "~ file#/x: Changed it\n    source  f0 is missing → rendered\n"},
	} {
		var b strings.Builder
		Text{W: &b, Verbose: x.verbose, Diff: DiffSummary}.Event(eventOf("/x", func(e *event.Event) {
			e.Outcome, e.Diff, e.Actions = event.Changed, x.diff, []resource.Action{{Verb: "Scaffold", Phrase: "changed it"}}
		}))
		require.Equal(t, x.want, b.String())
	}
}

// TestRightsAreToldOnce: --sudo is named once, to users other than root.
func TestRightsAreToldOnce(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "/etc/x", Err: syscall.EACCES}
	for _, x := range []struct {
		sudo bool
		errs []error
		want string
	}{
		{true, []error{denied, errors.New("it broke")}, "1 resource fails for lack of permission: run it as root with --sudo\n"},
		{true, []error{denied, fmt.Errorf("x: %w", syscall.EPERM), fmt.Errorf("plan: %w", fs.ErrPermission)}, "3 resources fail for lack of permission: run it as root with --sudo\n"},
		{true, []error{errors.New("it broke")}, ""},
		{false, []error{denied}, ""},
	} {
		var b strings.Builder
		f := &Failures{Text: Text{W: &b}, HasSudo: x.sudo}
		for _, err := range x.errs {
			f.Event(&event.Event{Resource: &resource.Resource{ID: id("/x"), Common: new(resource.Common)}, Outcome: event.Failed, Err: err})
		}
		b.Reset()
		f.TellRights()
		require.Equal(t, x.want, b.String())
	}
}

// TestFailuresAreRepeated: at the end, if more than a screen of other resources was reported after one. What IgnoreFailure
// ignores is none.
func TestFailuresAreRepeated(t *testing.T) {
	const first = "x file#/first: failed: it broke\n"
	for _, x := range []struct {
		between, rows int // the number of other resources after the first failure, and that of lines of the screen
		quiet         bool
		want          string
	}{
		{0, 0, false, ""},
		{24, 0, false, ""},
		{25, 0, false, "1 resource failed above:\n" + first},
		{10, 10, false, ""},
		{11, 10, false, "1 resource failed above:\n" + first},
		{25, 50, false, ""},
		{100, 10, true, ""},
	} {
		var b strings.Builder
		f := &Failures{Text: Text{W: &b, Quiet: x.quiet}, Rows: x.rows}
		eventOf := func(name string, o event.Outcome, c *resource.Common) {
			e := &event.Event{Resource: &resource.Resource{ID: id(name), Common: c}, Outcome: o}
			if o == event.Failed {
				e.Err = errors.New("it broke")
			}
			f.Event(e)
		}
		eventOf("/early", event.Changed, new(resource.Common))
		eventOf("/ignored", event.Failed, &resource.Common{IgnoreFailure: true})
		eventOf("/first", event.Failed, new(resource.Common))
		for i := range x.between {
			eventOf(fmt.Sprintf("/%d", i), event.Changed, new(resource.Common))
			eventOf("/stable", event.Stable, new(resource.Common))
		}
		for range 60 { // failures do not push one another away
			eventOf("/last", event.Failed, new(resource.Common))
		}
		require.Equal(t, 1, strings.Count(b.String(), first))
		b.Reset()
		f.Tell()
		f.Tell() // what was repeated is not repeated again
		require.Equal(t, x.want, b.String(), "%+v", x)
	}
}

// TestSummaryOrder: the counts are in one order, and zero ones are left out.
func TestSummaryOrder(t *testing.T) {
	var s event.Summary
	for o := range event.Outcomes {
		s.Counts[o] = o + 1
	}
	var b strings.Builder
	Text{W: &b}.Summary(s)
	require.Equal(t, "21 resources: 2 changed, 3 pending, 4 unknown, 5 skipped, 6 failed, 1 up to date (0s)\n", b.String())
}

// TestUndeclaredLine: it is one line, and only when it is due.
func TestUndeclaredLine(t *testing.T) {
	for _, x := range []struct {
		n     int
		due   bool
		quiet bool
		want  string
	}{
		{1, true, false, "1 resource from earlier runs is no longer declared (remove it with: ccm prune site.lua)\n"},
		{2, true, false, "2 resources from earlier runs are no longer declared (remove them with: ccm prune site.lua)\n"},
		{2, false, false, ""},
		{2, true, true, ""},
		{0, true, false, ""},
	} {
		var b strings.Builder
		Text{W: &b, Site: "site.lua", Quiet: x.quiet}.Summary(event.Summary{Undeclared: x.n, NameUndeclared: x.due})
		_, rest, _ := strings.Cut(b.String(), "\n")
		require.Equal(t, x.want, rest)
	}
}
