// Package doctor looks at what runs of ccm need on a machine, and says what would fail and why.
// It changes nothing.
//
// Begin with [Examine].
package doctor

import (
	"context"
	"time"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// A Result is how a check came out.
type Result string

// The results of checks, the worst last.
const (
	OK      Result = "ok"
	Warning Result = "warning" // some resources would fail, or a run would have to wait
	Failure Result = "failure" // runs would fail
)

// A Finding is what one check found.
type Finding struct {
	Check  string `json:"check"`
	Result Result `json:"result"`
	// Text says what there is, or what would fail and why.
	Text string `json:"text"`
	// Hint says what to do about it, "" if nothing has to be done.
	Hint string `json:"hint,omitempty"`
}

// Options are what the caller knows already.
type Options struct {
	// StateDir is the state directory that was asked for; "" for the usual one.
	StateDir string
	// Built is when what this program was built of was committed; zero if that is not known.
	Built time.Time
	// MemoryLimit is how many bytes this process may use; 0 if that is not known.
	MemoryLimit int64
}

// An examination is what the checks look at.
type examination struct {
	Options
	process *site.Process
	view    *host.View
	facts   *facts.Facts
}

// Examine makes all checks.
func Examine(ctx context.Context, p *site.Process, o Options) []Finding {
	x := &examination{Options: o, process: p, view: p.View("/")}
	var all []Finding
	var err error
	if x.facts, err = p.Facts(ctx, x.view, site.FactOptions{}); err != nil {
		all = append(all, Finding{Check: "facts", Result: Failure, Text: "facts of your own cannot be read, and no site is run without them: " + err.Error()})
		x.facts = facts.New(ctx, x.view, facts.Standard(), nil)
	}
	x.StateDir = state.Dir(o.StateDir)
	for _, check := range []func(*examination) []Finding{system, types, stateDirectory, history, space, clock, memory, selinux} {
		all = append(all, check(x)...)
	}
	return all
}

// text returns a fact as text, "" if there is no such fact.
func (x *examination) text(path string) string {
	val, _ := x.facts.Get(path)
	text, _ := val.(string)
	return text
}

// unreadable is the finding about something that cannot be looked at.
func unreadable(check string, err error) []Finding {
	return []Finding{{Check: check, Result: Warning, Text: err.Error()}}
}
