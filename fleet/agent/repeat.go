package agent

import (
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// What differs in a text each time without saying anything else: the port that the system chose for a
// connection, and how long something took.
var (
	chosenPort = lazyregexp.New(`:\d+->`)
	duration   = lazyregexp.New(`\b\d+(\.\d+)? ?(ns|µs|us|ms|s|seconds?|milliseconds?)\b`)
	digits     = lazyregexp.New(`\d+`)
)

// alike returns a text as it is compared with what was told before: what goes on to fail is told once.
func alike(text string) string {
	return duration().ReplaceAllString(chosenPort().ReplaceAllString(text, "->"), "0s")
}

// A recollection is the lines that were told last, by what they are about.
type recollection map[string]map[string]bool

// news returns those lines that were not among the last ones about it, which they are from now on.
func (r recollection) news(about string, lines []string) (list []string) {
	last := r[about]
	now := make(map[string]bool, len(lines))
	for _, text := range lines {
		if !last[alike(text)] && !now[alike(text)] {
			list = append(list, text)
		}
		now[alike(text)] = true
	}
	r[about] = now
	return list
}

// failures are the resources of each source that were not in order when they were last looked at, with
// what was told of them.
type failures map[string]map[string]failure

// A failure is what was told of a resource in each mode, and by the run that began when.
type failure struct {
	stories map[Mode]string
	run     time.Time
}

// maxReported is of how many resources of a source that is kept. Others are told each time.
const maxReported = 1000

// again takes an event and what is told of it. Again says that the same was told before, over that
// the resource was not in order then.
func (f failures) again(r *Run, l *line, story string, lasting bool) (again, over bool) {
	id := l.Type + "#" + l.Name
	of := f[r.Source]
	before, known := of[id]
	if l.Outcome == "skipped" || r.Mode == Check && len(l.HealthChecks) == 0 { // it was not looked at
		if known {
			of[id] = failure{before.stories, r.Began}
		}
		return false, false
	}
	if !lasting {
		told, toldNow := before.stories[r.Mode]
		if r.Mode == Apply { // which asks the checks too
			delete(of, id)
			return false, known
		}
		maps.DeleteFunc(before.stories, func(_ Mode, story string) bool { return toldNow && story == told })
		if known && len(before.stories) == 0 {
			delete(of, id)
		}
		return false, toldNow
	}
	for _, h := range l.checks() { // their words may be counts and loads, which never are the same twice
		if h.Output != "" {
			story = strings.ReplaceAll(story, h.Output, digits().ReplaceAllString(h.Output, "0"))
		}
	}
	story = alike(story)
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

// retain forgets the resources that a run of all of a source did not tell of: there are no more.
func (f failures) retain(r *Run) {
	maps.DeleteFunc(f[r.Source], func(_ string, x failure) bool { return !x.run.Equal(r.Began) })
}

// warn tells what a run had to say besides its report, each line once for as long as it is said.
func (a *Agent) warn(r *Run, words string) {
	var list []string
	for text := range strings.Lines(words) {
		list = append(list, strings.TrimSpace(text))
	}
	for _, text := range a.memory.news("warnings of "+string(r.Mode)+" of "+r.Source, list) {
		a.log.Warn(r.Source + ": " + text)
	}
}

// teller returns what tells of an event, as urgently as it is.
func (l *line) teller(log *slog.Logger) func(text string, args ...any) {
	switch {
	case l.Failed:
		return log.Error
	case l.Outcome == "stable": // with a health check that is not ok
		return log.Warn
	}
	return log.Info
}
