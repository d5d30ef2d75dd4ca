package stages

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/testsystem"
)

// scripted is a system in which ccm prints the next of some reports. Its files are listed from a text.
type scripted struct {
	testsystem.System
	reports []string // "COMMAND\nline\nline"
	lists   []string
	reboots error
}

func (s *scripted) Exec(_ context.Context, c testsystem.Cmd) (int, error) {
	switch {
	case c.Argv[0] == Program:
		command, text, _ := strings.Cut(s.reports[0], "\n")
		s.reports = s.reports[1:]
		if command != c.Argv[1] {
			return 0, errors.New("expected " + command + ", got " + c.Argv[1])
		}
		_, err := io.WriteString(c.Stdout, text)
		if strings.Contains(strings.ReplaceAll(text, `"failed","ignored":true`, ""), `"failed"`) {
			return 4, err
		}
		return 0, err
	case strings.Contains(c.Argv[2], "find / "):
		_, err := io.WriteString(c.Stdout, s.lists[0])
		s.lists = s.lists[1:]
		return 0, err
	}
	_, err := io.Copy(io.Discard, c.Stdin)
	return 0, err
}

func (s *scripted) Reboot(context.Context) error { return s.reboots }

// event returns the line of a resource in a report.
func event(id, outcome, more string) string {
	typ, name, _ := strings.Cut(id, "#")
	return `{"protocol":"` + eventProtocol + `","type":"` + typ + `","name":"` + name + `","position":"site.lua:1","outcome":"` + outcome + `"` + more + "}\n"
}

// results runs a test, and returns its stages in lines.
func results(t *testing.T, s *scripted, reboot bool) (lines []string, passed bool) {
	t.Helper()
	test := &Test{
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("program")), nil },
		Now:  func() time.Time { return time.Time{} }, Reboot: reboot,
		Stage: func(s Stage) {
			lines = append(lines, string(s.Status)+" "+s.Name+": "+s.Note)
			for _, p := range s.Problems {
				lines = append(lines, p.String())
			}
		},
	}
	passed, err := test.Run(t.Context(), s)
	require.NoError(t, err)
	require.Empty(t, s.reports)
	return lines, passed
}

// TestPlanAndUndo: what differs between a plan and its run, unless the plan is uncertain; what an undo left, and a file
// that it did not restore. An ignored failure is none of the test.
func TestPlanAndUndo(t *testing.T) {
	const text = `,"message":"Created the file","diff":[{"property":"ensure","have":"absent","want":"present"},{"property":"content","have":"","want":"sha256:0"}]`
	s := &scripted{
		reports: []string{
			"plan\n" + event("file#/etc/a", "pending", "") + event("exec#b", "stable", "") + event("exec#c", "pending", `,"certain":false`) + event("exec#gone", "pending", "") +
				event("file#/usr/new/file", "pending", "") + event("file#/usr/new", "pending", "") + event("exec#refused", "pending", ""),
			"run\n" + event("file#/etc/a", "changed", text) + event("exec#b", "changed", "") + event("exec#c", "stable", "") + event("exec#new", "stable", "") +
				event("file#/usr/new/file", "changed", `,"message":"Updated the file","diff":[{"property":"content","have":"sha256:0","want":"sha256:1"}]`) + // which came with a package
				event("file#/usr/new", "changed", `,"message":"Created directory","diff":[{"property":"ensure","have":"absent","want":"directory"}]`) +
				event("exec#refused", "failed", `,"ignored":true,"errors":["permission denied"]`),
			"run\n" + event("file#/etc/a", "stable", "") + event("exec#refused", "failed", `,"ignored":true,"errors":["permission denied"]`),
			"undo\n" + event("service#x", "failed", `,"errors":["service not found"]`) + event("file#/usr/new", "failed", `,"errors":["not empty"]`) +
				event("file#/opt/extracted", "failed", `,"errors":["changed"]`),
		},
		lists: []string{
			"f 644 0:0 1 \t/etc/old\nd 755 0:0\t/srv\n",
			"f 600 0:0 1 \t/etc/old\nf 644 0:0 1 \t/etc/a\nd 755 0:0\t/usr/new\nf 644 0:0 1 \t/usr/new/file\n",
		},
	}
	lines, passed := results(t, s, false)
	require.False(t, passed)
	require.Equal(t, []string{
		"passed plan: 6 pending, 1 up to date",
		"passed run: 4 changed, 1 failed, 2 up to date",
		"failed plan equals run: ",
		"exec#b: up to date in the plan, changed in the run (site.lua:1)\n  declare what it depends on with require",
		"exec#gone: pending in the plan, missing in the run (site.lua:1)\n  declare what it depends on with require",
		"exec#new: missing in the plan, up to date in the run (site.lua:1)\n  the script must not depend on what its own resources change",
		"passed second run: 1 failed, 1 up to date",
		"skipped health checks: none",
		"failed undo: left 5 paths: /etc/a (new), /etc/old (changed), /srv (missing), /usr/new (new); service#x: service not found (site.lua:1); " +
			"file#/usr/new: not empty (site.lua:1); file#/opt/extracted: changed (site.lua:1)",
		"undo did not restore /etc/a: new (site.lua:1)",
	}, lines)
}

// TestSecondRunAndReboot: what changes in every run is distinguished from what took two, and from what a reboot reverts.
func TestSecondRunAndReboot(t *testing.T) {
	const health = `,"health_checks":[{"name":"http","status":"critical","output":"connection refused"},{"name":"disk","status":"warning"}]`
	all := func(a, b, c string) string {
		return event("exec#a", a, `,"message":"Executed"`) + event("sysctl#b", b, `,"message":"Set","diff":[{"property":"value","have":"0","want":"1"}]`) +
			event("service#c", c, `,"message":"Started"`+health)
	}
	s := &scripted{
		reports: []string{
			"plan\n" + all("pending", "pending", "pending"), "run\n" + all("changed", "changed", "changed"),
			"run\n" + all("changed", "changed", "stable"), "run\n" + all("changed", "stable", "stable"),
			"run\n" + all("changed", "stable", "changed"),
		},
		lists: []string{""},
	}
	lines, passed := results(t, s, true)
	require.False(t, passed)
	require.Equal(t, []string{
		"failed second run: 2 changed, 1 up to date",
		"exec#a changes in every run: Executed (site.lua:1)\n  add creates, onlyif or unless, or run it with refreshonly and subscribe",
		"sysctl#b was only done by the second run: Set; value 0 → 1 (site.lua:1)\n  make it require the resource that it depends on",
		"failed health checks: 2",
		"service#c: health check http is critical: connection refused (site.lua:1)",
		"failed reboot: 2 changed, 1 up to date",
		"service#c does not survive a reboot: Started (site.lua:1)\n  start it at boot: enable = true",
		"skipped undo: the second run changed something",
	}, lines[slices.Index(lines, "failed second run: 2 changed, 1 up to date"):])

	s = &scripted{reports: []string{"plan\n", "run\n", "run\n", "undo\n" + `{"protocol":"` + mistakeProtocol + `","message":"nothing to undo: no run has changed a file"}` + "\n"},
		lists: []string{""}, reboots: testsystem.ErrNoInit}
	lines, passed = results(t, s, true)
	require.True(t, passed)
	require.Contains(t, lines, "skipped reboot: the system lacks an init system")
	require.Contains(t, lines, "skipped undo: no file was changed")
}

// TestOwns: what an undo answers for.
func TestOwns(t *testing.T) {
	const created, removed, written, attributes = `[{"property":"ensure","have":"absent"},{"property":"content"}]`,
		`[{"property":"ensure","have":"present"}]`, `[{"property":"content","have":"sha256:0"}]`, `[{"property":"mode","have":"0644"}]`
	for text, want := range map[string]map[string]bool{
		created: {"new": true, "changed": true}, removed: {"missing": true, "new": false}, written: {"changed": true, "new": false},
		attributes: {"changed": false, "new": false}, `[]`: {"changed": false},
	} {
		e := Event{Type: "file"}
		require.NoError(t, json.Unmarshal([]byte(text), &e.Diff))
		for left, owns := range want {
			require.Equal(t, owns, e.owns(left), "%s %s", text, left)
		}
	}
}
