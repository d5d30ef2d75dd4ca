package page

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

func written(t testing.TB, run *report.Run) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, Write(&b, run))
	return b.String()
}

// sample returns a run of n files, of which one failed and some were skipped because of it.
func sample(n int) *report.Run {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := &report.Run{Command: "ccm run site.lua", Version: "1.0", Summary: report.Summary{RunID: "run1", Host: "web1", StartTime: begin, Duration: time.Duration(n) * time.Millisecond}}
	for i := range n {
		e := report.Event{
			EventID: fmt.Sprintf("run1-%06d", i), Type: []string{"file", "package", "exec"}[i%3], Name: fmt.Sprint("/etc/", i), Outcome: "stable",
			Timestamp: begin.Add(time.Duration(i) * time.Millisecond), Duration: time.Millisecond, Position: fmt.Sprintf("site.lua:%d", i),
		}
		switch {
		case i == 4:
			e.Outcome, e.Failed, e.Errors = "failed", true, []string{"exit code 3\nmore of it"}
		case i == 5:
			e.Outcome, e.Skipped, e.Reason, e.UnmetRequirements = "skipped", true, "package#/etc/4 failed", []string{"package#/etc/4"}
		case i == 6:
			e.Outcome, e.Skipped, e.Reason, e.UnmetRequirements = "skipped", true, "exec#/etc/5 was skipped", []string{"exec#/etc/5"}
		case i%5 == 0:
			e.Outcome, e.Changed, e.Message, e.Text = "changed", true, "Updated the file", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"
			e.Diff = []resource.Delta{{Property: "mode", Have: "0600", Want: "0644"}}
		}
		if i%10 > 0 {
			e.Requires = []string{run.Events[i/10*10].Type + "#" + run.Events[i/10*10].Name}
		}
		run.Events = append(run.Events, e)
	}
	run.Summary.CountAgain(run.Events)
	return run
}

// The page shows failures and the resources skipped because of them, over several steps, with differences, outputs
// and positions.
func TestWrite(t *testing.T) {
	text := written(t, sample(20))
	for _, part := range []string{
		"<h1><b class=\"failed\">1 failed.</b> ccm run site.lua</h1>", "<span>web1</span>", "of 20 resources",
		`Skipped because of it: <a href="#r6">exec#/etc/5</a>, <a href="#r7">file#/etc/6</a>`,
		"<pre>exit code 3\nmore of it</pre>", `<span class="add">+new` + "\n</span>", `<span class="del">-old` + "\n</span>",
		`<th scope="row">mode</th><td class="del">0600</td><td class="add">0644</td>`, "site.lua:7", `<details class="event failed" id="r5" open="">`, `class="graph"`,
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "diff --git")
	require.Equal(t, 20, strings.Count(text, "<details "))
}

// Nothing that the page shows is taken for HTML, and it loads nothing.
func TestWriteHostile(t *testing.T) {
	const evil = "</script></style></pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'`><!-- \x00\x1b[31m"
	run := sample(8)
	for i := range run.Events {
		e := &run.Events[i]
		e.Type, e.Name, e.Position, e.Message, e.Reason, e.Provider, e.Tags = "file"+evil, e.Name+evil, evil, evil, evil, evil, []string{evil}
		e.Errors, e.Text, e.Stdout, e.Stderr = []string{evil}, "@@\n+"+evil, evil, evil
		e.Requires, e.RefreshedBy, e.UnmetRequirements = []string{evil}, []string{evil}, []string{evil}
		e.Diff = []resource.Delta{{Property: evil, Have: evil, Want: evil}}
		e.HealthChecks = []report.HealthCheck{{Name: evil, Status: evil, Output: evil}}
		e.Forecast = &report.Forecast{Message: evil, Text: "@@\n" + evil}
	}
	run.Command, run.Error, run.Version, run.Summary.Host, run.Summary.Root, run.Summary.RunID = evil, evil, evil, evil, evil, evil
	text := written(t, run)
	require.Equal(t, 1, strings.Count(text, "<script"))
	require.Equal(t, 1, strings.Count(text, "</script"))
	require.Equal(t, 1, strings.Count(text, "<style"))
	require.NotContains(t, text, "<img")
	require.NotContains(t, text, "<!--")
	require.NotRegexp(t, regexp.MustCompile(`(?i)(src|href|action)="?[a-z]+:`), text)
	require.NotRegexp(t, regexp.MustCompile(`url\([^#]`), text)
}

func TestVerdict(t *testing.T) {
	for want, run := range map[string]*report.Run{
		"Did not start.":             {Error: "a mistake"},
		"Interrupted.":               {Summary: report.Summary{Total: 1, Failed: 1, Interrupted: true}},
		"2 failed (1 ignored).":      {Summary: report.Summary{Total: 3, Failed: 2, Ignored: 1}},
		"1 failed (1 ignored).":      {Summary: report.Summary{Total: 3, Failed: 1, Ignored: 1}},
		"Failed.":                    {Error: "a mistake", Summary: report.Summary{Total: 1, Changed: 1}},
		"3 drifted.":                 {Drift: true, Summary: report.Summary{Total: 3, Pending: 3, Noop: true}},
		"No drift.":                  {Drift: true, Summary: report.Summary{Total: 3, Stable: 3, Noop: true}},
		"3 would change, 1 unknown.": {Summary: report.Summary{Total: 4, Pending: 3, Unknown: 1, Noop: true}},
		"3 would change.":            {Summary: report.Summary{Total: 4, Pending: 3, Stable: 1, Noop: true}},
		"1 unknown.":                 {Summary: report.Summary{Total: 1, Unknown: 1, Noop: true}},
		"Nothing to do.":             {Summary: report.Summary{Total: 1, Stable: 1, Noop: true}},
		"3 changed.":                 {Summary: report.Summary{Total: 4, Changed: 3}},
		"Everything was up to date.": {Summary: report.Summary{Total: 4, Stable: 4}},
	} {
		require.Equal(t, want, verdictOf(run).Text)
	}
}

// A long run does not make a long page: stable resources are left out first, and the page says so.
func TestWriteLimits(t *testing.T) {
	run := sample(30_000)
	for i := range run.Events {
		if i%2 == 0 && !run.Events[i].Failed {
			run.Events[i].Outcome = "changed"
		}
	}
	run.Events[29_999].Failed, run.Events[29_999].Outcome, run.Events[29_999].Errors = true, "failed", []string{"the last one"}
	text := written(t, run)
	require.Less(t, len(text), 10<<20)
	require.Contains(t, text, "the last one")
	require.Contains(t, text, "are not listed")
}

func TestStep(t *testing.T) {
	for least, want := range map[time.Duration]time.Duration{0: 1000, 3000: 5000, 5001: 10_000, 400 * time.Millisecond: 500 * time.Millisecond, 61 * time.Second: 100 * time.Second} {
		require.Equal(t, want, stepOf(least))
	}
}

func BenchmarkWrite(b *testing.B) {
	run := sample(5000)
	for b.Loop() {
		written(b, run)
	}
}
