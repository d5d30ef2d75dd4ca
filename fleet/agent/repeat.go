package agent

import (
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// Parts of a text that differ each time and carry no information: the port that the system chose for a connection,
// and durations.
var (
	chosenPort = lazyregexp.New(`:\d+->`)
	duration   = lazyregexp.New(`\b\d+(\.\d+)? ?(ns|µs|us|ms|s|seconds?|milliseconds?)\b`)
	digits     = lazyregexp.New(`\d+`)
)

// normalized returns a text without chosen ports and durations, for comparison: a continuing failure is
// reported once.
func normalized(text string) string {
	return duration().ReplaceAllString(chosenPort().ReplaceAllString(text, "->"), "0s")
}

// reportedLines are the lines reported last, by topic.
type reportedLines map[string]map[string]bool

// unreported returns the lines that were not among the last ones on the topic, and records lines as the
// last ones.
func (r reportedLines) unreported(about string, lines []string) (list []string) {
	last := r[about]
	now := make(map[string]bool, len(lines))
	for _, text := range lines {
		if !last[normalized(text)] && !now[normalized(text)] {
			list = append(list, text)
		}
		now[normalized(text)] = true
	}
	r[about] = now
	return list
}

// failures are the resources of each source that were not in order at the last look, with the
// reported texts.
type failures map[string]map[string]failure

// A failure has the reported text of a resource in each mode, and the start of the run that
// reported it.
type failure struct {
	stories map[Mode]string
	run     time.Time
}

// maxReported is the number of resources of a source that are kept. Others are reported each
// time.
const maxReported = 1000

// again records an event and its text. again says that the same text was reported before; over says that the resource
// was not in order before, and is now.
func (f failures) again(r *Run, l *line, story string, lasting bool) (again, over bool) {
	id := l.Type + "#" + l.Name
	of := f[r.Source]
	before, known := of[id]
	if l.Outcome == "skipped" || r.Mode == Check && len(l.HealthChecks) == 0 { // the resource was not looked at
		if known {
			of[id] = failure{before.stories, r.Began}
		}
		return false, false
	}
	if !lasting {
		told, toldNow := before.stories[r.Mode]
		if r.Mode == Apply { // which includes the checks
			delete(of, id)
			return false, known
		}
		maps.DeleteFunc(before.stories, func(_ Mode, story string) bool { return toldNow && story == told })
		if known && len(before.stories) == 0 {
			delete(of, id)
		}
		return false, toldNow
	}
	for _, h := range l.checks() { // outputs of checks, such as counts and loads, differ each time
		if h.Output != "" {
			story = strings.ReplaceAll(story, h.Output, digits().ReplaceAllString(h.Output, "0"))
		}
	}
	story = normalized(story)
	for _, told := range before.stories {
		again = again || told == story
	}
	if of == nil {
		of = make(map[string]failure)
		f[r.Source] = of
	}
	if known || len(of) < maxReported {
		if before.stories == nil {
			before.stories = make(map[Mode]string)
		}
		before.stories[r.Mode] = story
		of[id] = failure{before.stories, r.Began}
	}
	return again, false
}

// retain forgets the resources that a run of the whole source did not report: they do not exist
// any more.
func (f failures) retain(r *Run) {
	maps.DeleteFunc(f[r.Source], func(_ string, x failure) bool { return !x.run.Equal(r.Began) })
}

// warn logs warnings and errors of a run, each line once as long as it is repeated.
func (a *Agent) warn(r *Run, words string) {
	var list []string
	for text := range strings.Lines(words) {
		list = append(list, strings.TrimSpace(text))
	}
	for _, text := range a.memory.unreported("warnings of "+string(r.Mode)+" of "+r.Source, list) {
		a.log.Warn(r.Source + ": " + text)
	}
}

// teller returns the log function for an event, by its severity.
func (l *line) teller(log *slog.Logger) func(text string, args ...any) {
	switch {
	case l.Failed:
		return log.Error
	case l.Outcome == "stable": // with a failed health check
		return log.Warn
	}
	return log.Info
}
