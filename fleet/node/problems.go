package node

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
)

// problems are the failures and refusals of the node, one for each code.
type problems struct {
	clock    func() time.Time
	log      *slog.Logger
	onChange func() // called without a lock

	mu     sync.Mutex
	byCode map[record.ProblemCode]problem
}

// A problem is one of a node, with what it is about: a document by its name, or aboutJob; "" for another thing.
type problem struct {
	record.Problem
	about string
}

// aboutJob marks problems with jobs, and begins their messages.
const aboutJob = "job"

// set records a problem; an empty message ends it.
func (p *problems) set(code record.ProblemCode, message string) {
	p.note(problem{Problem: record.Problem{Code: code, Message: message}})
}

// setOf is set for a problem with a release.
func (p *problems) setOf(r *signed.Release, code record.ProblemCode, message string) {
	p.note(problem{Problem: record.Problem{Code: code, Message: message, Release: r.Version, Bundle: r.Bundle}})
}

// setAbout is set for a problem with a thing; the message begins with its name.
func (p *problems) setAbout(about string, x record.Problem) {
	x.Message = about + ": " + x.Message
	p.note(problem{x, about})
}

// clear ends the problem of a code if it is about a thing.
func (p *problems) clear(code record.ProblemCode, about string) {
	p.mu.Lock()
	same := p.byCode[code].about == about
	p.mu.Unlock()
	if same {
		p.set(code, "")
	}
}

// note records a problem. A problem without a release does not replace one with a release: for a
// refused job there is another report.
func (p *problems) note(x problem) {
	x.Since = p.clock().UTC().Truncate(time.Second)
	if !p.replace(x) {
		return
	}
	if x.Message != "" {
		p.log.Warn(fmt.Sprintf("fleet: %s: %s", x.Code, x.Message))
	}
	p.onChange()
}

// replace replaces the problem of a code, and reports whether that changed anything.
func (p *problems) replace(x problem) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, had := p.byCode[x.Code]
	switch {
	case x.Message == "":
		delete(p.byCode, x.Code)
		return had
	case old.Release != 0 && x.Release == 0:
		return false
	case old.Message == x.Message && old.Release == x.Release && old.Bundle == x.Bundle:
		return false
	}
	p.byCode[x.Code] = x
	return true
}

// list returns the problems in order of their codes.
func (p *problems) list() []record.Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []record.Problem
	for _, x := range p.byCode {
		all = append(all, x.Problem)
	}
	slices.SortFunc(all, func(a, b record.Problem) int { return cmp.Compare(a.Code, b.Code) })
	return all
}
