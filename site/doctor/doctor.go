// Package doctor checks what runs of ccm need on a machine, and tells what would fail and why. It
// changes nothing.
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

// A Result is the result of a check.
type Result string

// The results of checks, the worst last.
const (
	OK      Result = "ok"
	Warning Result = "warning" // some resources would fail, or a run would have to wait
	Failure Result = "failure" // runs would fail
)

// A Finding is the finding of one check.
type Finding struct {
	Check  string `json:"check"`
	Result Result `json:"result"`
	// Text describes what was found, or what would fail and why.
	Text string `json:"text"`
	// Hint is the advice, "" if nothing has to be done.
	Hint string `json:"hint,omitempty"`
}

// Options are what the caller knows of this process and of its flags.
type Options struct {
	// StateDir is the given state directory; "" for the default.
	StateDir string
	// BuildTime is the commit time of this program; zero if unknown.
	BuildTime time.Time
	// MemoryLimit is the number of bytes that this process may use; 0 if unknown.
	MemoryLimit int64
}

// An examination is the data of the checks.
type examination struct {
	Options
	process *site.Process
	view    *host.View
	facts   *facts.Facts
}

// Examine makes all checks.
func Examine(ctx context.Context, p *site.Process, o Options) []Finding {
	x := &examination{Options: o, process: p, view: &p.Host("/").View}
	var all []Finding
	var err error
	if x.facts, err = p.Facts(ctx, x.view, site.FactOptions{}); err != nil {
		all = append(all, Finding{Check: "facts", Result: Failure, Text: "cannot read custom facts, and sites do not run without them: " + err.Error()})
		x.facts = facts.New(ctx, x.view, facts.Standard(), nil)
	}
	x.StateDir = state.Dir(o.StateDir)
	for _, check := range []func(*examination) []Finding{system, types, checkStateDirectory, history, checkSpace, checkClock, checkMemory, selinux} {
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

// unreadable returns the finding that something cannot be looked at.
func unreadable(check string, err error) []Finding {
	return []Finding{{Check: check, Result: Warning, Text: err.Error()}}
}
