package report

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
)

func junitText(t *testing.T, run *Run) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, WriteJUnit(&b, run))
	require.NoError(t, xml.Unmarshal([]byte(b.String()), new(struct {
		XMLName xml.Name `xml:"testsuites"`
	})))
	return b.String()
}

func TestJUnit(t *testing.T) {
	run := &Run{
		Command: "ccm run site.lua", Version: "1.0",
		Summary: Summary{RunID: "run1", Host: "web1", StartTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Duration: 1500 * time.Millisecond},
		Events: []Event{
			{Type: "file", Name: "/a <&\x00", Outcome: "changed", Message: "Created the file", Text: "+x\n", Duration: time.Second},
			{Type: "exec", Name: "b", Outcome: "failed", Failed: true, Errors: []string{"exit code 3\nmore"}, Position: "site.lua:3", Stderr: "oh no"},
			{Type: "exec", Name: "c", Outcome: "failed", Failed: true, Ignored: true, Errors: []string{"exit code 1"}},
			{Type: "file", Name: "/d", Outcome: "skipped", Skipped: true, Reason: "exec#b failed"},
		},
	}
	require.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="ccm run site.lua" tests="4" failures="1" errors="0" skipped="2" time="1.500" timestamp="2026-01-02T03:04:05" hostname="web1">
    <properties>
      <property name="run_id" value="run1"></property>
      <property name="version" value="1.0"></property>
    </properties>
    <testcase classname="file" name="/a &lt;&amp;`+"\ufffd"+`" time="1.000">
      <system-out>Created the file&#xA;+x&#xA;</system-out>
    </testcase>
    <testcase classname="exec" name="b" time="0.000">
      <failure message="exit code 3" type="failed">exit code 3&#xA;more&#xA;(site.lua:3)</failure>
      <system-out>exit code 3&#xA;oh no</system-out>
    </testcase>
    <testcase classname="exec" name="c" time="0.000">
      <skipped message="failed (ignored): exit code 1"></skipped>
      <system-out>exit code 1</system-out>
    </testcase>
    <testcase classname="file" name="/d" time="0.000">
      <skipped message="exec#b failed"></skipped>
      <system-out>exec#b failed</system-out>
    </testcase>
  </testsuite>
</testsuites>
`, junitText(t, run))
}

// What drifted fails, because ccm drift fails then. What went wrong besides resources is an
// error, so that nothing looks fine that is not.
func TestWriteOther(t *testing.T) {
	drifted := Event{Type: "file", Name: "/a", Outcome: "pending", Changed: true, Diff: []resource.Delta{{Property: "mode", Have: "0600", Want: "0644"}}}
	require.Contains(t, junitText(t, &Run{Drift: true, Events: []Event{drifted}}), `<failure message="drifted" type="drifted">drifted&#xA;mode: expected &#34;0644&#34;, found &#34;0600&#34;</failure>`)
	require.Contains(t, junitText(t, &Run{Events: []Event{drifted}}), `failures="0"`)
	text := junitText(t, &Run{Error: "site.lua:1: a mistake\nmore", Summary: Summary{Interrupted: true}})
	require.Contains(t, text, `tests="2" failures="0" errors="2"`)
	require.Contains(t, text, `<error message="site.lua:1: a mistake">`)
	require.Contains(t, text, `<error message="the run was interrupted" type="interrupted">`)
}
