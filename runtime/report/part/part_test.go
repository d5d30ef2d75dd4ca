package part

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// event is one with all that a row shows.
func event(text string) *report.Event {
	return &report.Event{
		Type: "file", Name: "/etc/x" + text, Outcome: "failed", Failed: true, Position: "site.lua:3", Provider: "posix",
		Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), Duration: 1500 * time.Microsecond, Tags: []string{"a", text}, RefreshedBy: []string{text},
		Errors: []string{"it failed: " + text}, Caveat: text, UnmetRequirements: []string{text}, PendingRefresh: []report.PendingRefresh{{By: text, RunID: "run1"}},
		Diff: []resource.Delta{{Property: "mode", Want: "0644"}}, Text: "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new " + text + "\n",
		Forecast: &report.Forecast{Text: "@@\n+" + text, Diff: []resource.Delta{{Property: text, Have: text, Want: text}}},
		Stdout:   text, Stderr: text, HealthChecks: []report.HealthCheck{{Name: text, Status: text, Output: text}},
	}
}

func TestRow(t *testing.T) {
	row := Row(event("<b>"), RowOptions{ID: "r1"}).HTML()
	for _, want := range []string{
		`<details class="event failed" id="r1" open="">`, `<span class="name">/etc/x&lt;b&gt;</span>`, `<span class="story">it failed: &lt;b&gt;</span><time>1 ms</time>`,
		`<p class="meta"><span>site.lua:3</span><span>03:04:05.000</span><span>by posix</span><span>tags a, &lt;b&gt;</span>`,
		`<th scope="row">mode</th><td class="del">(none)</td><td class="add">0644</td>`,
		"<span class=\"at\">@@ -1 +1 @@\n</span><span class=\"del\">-old\n</span><span class=\"add\">+new &lt;b&gt;\n</span>", "<caption>Expected</caption>",
	} {
		require.Contains(t, row, want)
	}
	require.NotContains(t, row, "+++ b")
}

// texts returns the visible text of an element in the form of JSON.
func texts(node any) string {
	list, ok := node.([]any)
	if !ok {
		return node.(string)
	}
	out := ""
	for _, child := range list[2:] {
		out += texts(child)
	}
	return out
}

// TestBothForms: the HTML and the JSON of an element have the same text.
func TestBothForms(t *testing.T) {
	counts := Counts(&report.Summary{Failed: 1, Stable: 3, Total: 4}, false)
	for _, e := range []*markup.Element{Row(event("</pre><script>x</script> & \"'"), RowOptions{}), Bar(counts), Legend(counts), Badge("file")} {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		var node any
		require.NoError(t, json.Unmarshal(text, &node))
		require.Equal(t, texts(node), html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(e.HTML(), "")))
		require.NotContains(t, e.HTML(), "<script")
	}
	require.Equal(t, "1 failed3 up to dateof 4 resources", strings.TrimSpace(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(Legend(counts).HTML(), "")))
}

// TestStyle: the rules load nothing.
func TestStyle(t *testing.T) {
	require.NotRegexp(t, `url\(|@import|</`, Style())
}
