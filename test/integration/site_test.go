//go:build integration

package integration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// A step is a site with its expected plan and run.
type step struct {
	// site is a file below testdata, with its arguments after it.
	site string
	// does is the expected run, a line for each resource in order: its ID and its message, "stable", "failed" or
	// "skipped".
	does []string
	// errs are parts of the errors of failed resources.
	errs map[string][]string
	// plan has the expected plan of resources whose run a plan cannot know: "unknown: " with the reason, or the
	// message of a resource that will fail.
	plan map[string]string
	// retry has the expected plan after the run of failed resources, if it is neither "failed" nor that in plan.
	retry map[string]string
	// flags are further flags of ccm.
	flags []string
}

// A verdict is the output of ccm for a site.
type verdict struct {
	output
	events  []report.Event
	summary report.Summary
}

// event returns the event of a resource.
func (v verdict) event(id string) report.Event {
	for _, e := range v.events {
		if e.Type+"#"+e.Name == id {
			return e
		}
	}
	return report.Event{}
}

// converge plans the site of a step and runs it twice. It checks that
//   - the plan changes nothing,
//   - the plan equals the run, with the same differences,
//   - the run does what the step expects,
//   - the second run finds nothing to do, and so does a second plan; failed resources fail again.
//
// It returns the first plan and the first run.
func (l *lab) converge(s step) (plan, run verdict) {
	l.t.Helper()
	before := l.census()
	plan = l.ccm("plan", s)
	require.Empty(l.t, differing(before, l.census()), "the plan touched something")
	require.Equal(l.t, comparable(s.planned(), s.does), comparable(story(plan), s.does), "plan\n%s", plan.stderr)

	run = l.ccm("run", s)
	require.Equal(l.t, s.does, story(run), "run\n%s", run)
	l.compare(s, plan, run)

	for _, command := range []string{"run", "plan"} {
		again := l.ccm(command, s)
		require.Equal(l.t, comparable(s.settled(command), s.does), comparable(story(again), s.does), "second %s\n%s", command, again)
		require.Zero(l.t, again.summary.Changed+again.summary.Unknown)
	}
	return plan, run
}

var (
	version = regexp.MustCompile(` \((version|with|removes|the \d+ packages) [^)]*\)$`)
	after   = regexp.MustCompile(` \(after [^ ,)]+#[^ ,)]+(?:, [^ ,)]+#[^ ,)]+)*(?:\)$|, )`)
	unknown = regexp.MustCompile(`^(.*?: unknown): .*$`)
)

// comparable returns the lines of a plan without the parts that a run lacks: the version to install, what comes first, and
// unknown resources. A plan may foresee a failure of the run.
func comparable(lines, does []string) []string {
	out := slices.Clone(lines)
	for i, line := range out {
		line = after.ReplaceAllStringFunc(line, func(s string) string {
			if strings.HasSuffix(s, ")") {
				return ""
			}
			return " ("
		})
		line = unknown.ReplaceAllString(version.ReplaceAllString(line, ""), "$1")
		if i < len(does) {
			for _, outcome := range []string{"failed", "skipped"} {
				if id, ok := strings.CutSuffix(does[i], outcome); ok && strings.HasPrefix(line, id) {
					line = does[i]
				}
			}
		}
		out[i] = line
	}
	return out
}

// compare compares the plan of each resource with the run.
func (l *lab) compare(s step, plan, run verdict) {
	l.t.Helper()
	for i, did := range run.events {
		would, id := plan.events[i], did.Type+"#"+did.Name
		require.Equal(l.t, did.RequestedEnsure, would.RequestedEnsure, id)
		if did.Outcome == "failed" {
			require.Len(l.t, did.Errors, 1, id)
			for _, words := range s.errs[id] {
				require.Contains(l.t, did.Errors[0], words, id)
			}
		}
		if would.Outcome == "failed" {
			require.Equal(l.t, "failed", did.Outcome, id)
			if did.Type != "package" { // the plan uses other commands
				require.Equal(l.t, did.Errors, would.Errors, id)
			}
			continue
		}
		if would.Outcome == "unknown" || would.Certain != nil || did.Outcome == "skipped" { // the forecast has the rest
			continue
		}
		require.Equal(l.t, did.Provider, would.Provider, id)
		require.Equal(l.t, did.Diff, would.Diff, id)
		require.Equal(l.t, did.Reason, would.Reason, id)
		require.Equal(l.t, did.Refreshed, would.Refreshed, id)
		require.Equal(l.t, did.RefreshedBy, would.RefreshedBy, id)
		require.Equal(l.t, did.Text, would.Text, id)
	}
}

// planned returns the story of a plan that predicts s.
func (s step) planned() []string {
	var lines []string
	for _, line := range s.does {
		id, message := split(line)
		if p, ok := s.plan[id]; ok {
			lines = append(lines, id+": "+p)
			continue
		}
		lines = append(lines, id+": "+would(message))
	}
	return lines
}

// settled returns the story of a command on a machine where s was run before.
func (s step) settled(command string) []string {
	var lines []string
	for _, line := range s.does {
		id, message := split(line)
		switch {
		case message != "failed" && message != "skipped":
			message = "stable"
		case command == "plan":
			message = cmp.Or(s.retry[id], s.plan[id], message)
		}
		lines = append(lines, id+": "+message)
	}
	return lines
}

func split(line string) (id, message string) {
	id, message, _ = strings.Cut(line, ": ")
	return id, message
}

// would returns the message in a plan for a message of a run.
func would(message string) string {
	if slices.Contains([]string{"stable", "failed", "skipped"}, message) {
		return message
	}
	phrases := strings.Split(message, ". ")
	for i, p := range phrases {
		phrases[i] = "Would have " + strings.ToLower(p[:1]) + p[1:]
	}
	return strings.Join(phrases, ". ")
}

// story returns the outcome of each resource as a line.
func story(v verdict) []string {
	var lines []string
	for _, e := range v.events {
		text := e.Outcome
		switch e.Outcome {
		case "changed":
			text = e.Message
		case "pending":
			text = e.NoopMessage
			if e.Caveat != "" {
				text += " (" + e.Caveat + ")"
			}
		case "unknown":
			text += ": " + e.Reason
		}
		lines = append(lines, fmt.Sprintf("%s#%s: %s", e.Type, e.Name, text))
	}
	return lines
}

// String returns the output of ccm, for failures of tests.
func (v verdict) String() string { return v.stdout + v.stderr }

// ccm plans or runs the site of a step, and checks that events, summary and exit status are consistent.
func (l *lab) ccm(command string, s step) (v verdict) {
	l.t.Helper()
	out, err := l.startCCM(command, s)()
	require.NoError(l.t, err)
	v = l.verdict(out)
	require.Equal(l.t, command == "plan", v.summary.Noop)
	return v
}

// startCCM starts a command of ccm for a step.
func (l *lab) startCCM(command string, s step) (wait func() (output, error)) {
	l.t.Helper()
	argv := append([]string{"/opt/ccm/ccm", command, "--output", "json", "--diff", "full", "--detailed-exitcodes"}, s.flags...)
	site := strings.Fields(s.site)
	site[0] = sites + site[0]
	return l.start(append(argv, site...)...)
}

// verdict parses the output of ccm.
func (l *lab) verdict(out output) verdict {
	l.t.Helper()
	v := verdict{output: out}
	count := make(map[string]int)
	for line := range strings.Lines(v.stdout) {
		var e report.Event
		require.NoError(l.t, json.Unmarshal([]byte(line), &e), "%s", v)
		if e.Protocol == report.SummaryProtocol {
			require.NoError(l.t, json.Unmarshal([]byte(line), &v.summary))
			break
		}
		v.events = append(v.events, e)
		count[e.Outcome]++
	}
	sum := v.summary
	require.Equal(l.t, report.SummaryProtocol, sum.Protocol, "there is no summary\n%s", v)
	counted := map[string]int{
		"stable": sum.Stable, "changed": sum.Changed, "pending": sum.Pending,
		"unknown": sum.Unknown, "skipped": sum.Skipped, "failed": sum.Failed,
	}
	maps.DeleteFunc(counted, func(_ string, n int) bool { return n == 0 })
	require.Equal(l.t, count, counted)
	status := 0
	if sum.Changed+sum.Pending+sum.Unknown > 0 {
		status |= 2
	}
	if sum.Failed > 0 {
		status |= 4
	}
	require.Equal(l.t, status, v.status, "%s", v)
	return v
}

// requireEnsure checks the provider and the change of ensure.
func requireEnsure(t *testing.T, e report.Event, provider, have, want string) {
	t.Helper()
	require.Equal(t, provider, e.Provider)
	require.Equal(t, want, e.FinalEnsure)
	requireDiff(t, e, have, want)
}

// requireDiff checks that only ensure differed.
func requireDiff(t *testing.T, e report.Event, have, want string) {
	t.Helper()
	require.Equal(t, []resource.Delta{{Property: "ensure", Have: have, Want: want}}, e.Diff)
}

// unwatched are files that reading may change: caches of apt and dnf, the shared memory of rpm's database, and
// records of systemd.
var unwatched = []string{
	"/var/cache/apt", "/var/cache/dnf", "/var/lib/dnf", "/var/log/dnf*", "/var/log/hawkey*",
	"/srv/ccm-lab/rpm/*.rpm", // dnf stores the digest of a local package in an attribute of the file
	"/var/lib/rpm/rpmdb.sqlite-*", "/run/log/journal", "/run/systemd/journal", "/run/systemd/units", "/run/systemd/users",
}

// census lists all files that were written since the boot of the lab, with their times.
func (l *lab) census() string {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), labCommand, "changes", l.name).CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	require.Contains(l.t, string(out), "/etc/hosts\t") // each lab has its own
	var watched strings.Builder
	for line := range strings.Lines(string(out)) {
		file, _, _ := strings.Cut(line, "\t")
		if !isUnwatched(file) {
			watched.WriteString(line)
		}
	}
	return watched.String()
}

// isUnwatched reports whether a file is one of unwatched, or below one.
func isUnwatched(file string) bool {
	for ; file != "/" && file != "."; file = path.Dir(file) {
		if slices.ContainsFunc(unwatched, func(pattern string) bool { is, _ := path.Match(pattern, file); return is }) {
			return true
		}
	}
	return false
}

// differing returns the lines that are in only one of two texts.
func differing(a, b string) []string {
	count := make(map[string]int)
	for line := range strings.Lines(a) {
		count[line]++
	}
	for line := range strings.Lines(b) {
		count[line]--
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == 0 })
	return slices.Sorted(maps.Keys(count))
}

// The comparisons of converge see whatever is written, and nothing that is only read.
func TestChangesAreSeen(t *testing.T) {
	l := boot(t, debian)
	l.sh("echo a > /root/mine; chmod 700 /srv")
	for _, x := range []struct{ script, file string }{
		{"cat /etc/debian_version /root/mine; ls /usr; find /etc > /dev/null", ""},
		{"echo b > /root/mine", "/root/mine"},
		{"touch /etc/debian_version", "/etc/debian_version"},
		{"chmod 600 /etc/fstab", "/etc/fstab"},
		{"rm /usr/bin/yes", "/usr/bin/yes"},
		{"chmod 750 /usr/games", "/usr/games"},
		{"mkdir '/opt/a b'", "/opt/a b"},
		{"touch /run/x", "/run/x"},
		{"ln -s x /tmp/y", "/tmp/y"},
		{"touch /var/cache/apt/x", ""},
	} {
		before := l.census()
		l.sh(x.script)
		var files []string
		for _, line := range differing(before, l.census()) {
			file, _, _ := strings.Cut(line, "\t")
			files = append(files, file)
		}
		if x.file == "" {
			require.Empty(t, files, x.script)
		} else {
			require.Contains(t, files, x.file, x.script)
		}
	}
}
