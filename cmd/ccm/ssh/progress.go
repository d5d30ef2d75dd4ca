package ssh

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
)

// An sshProgress shows on a terminal how many hosts have ended and which hosts are active. The
// methods of nil do nothing.
type sshProgress struct {
	line *report.StatusLine

	mu        sync.Mutex
	doneCount int
	running   []string // the hosts that are worked on, the longest first
}

// newSSHProgress returns nil if progress is not shown: not on a terminal, and for a single host,
// whose lines are printed immediately.
func newSSHProgress(e *cli.Env, hosts int) *sshProgress {
	if hosts < 2 || !terminal.IsTerminal(e.Stderr) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	line := report.NewStatusLine(terminal.NewWriter(e.Stderr.Unwrap()))
	e.Stderr.Before(line.MakeWay)
	e.Stdout.Before(line.MakeWay)
	p := &sshProgress{line: line}
	line.BeginSite(fmt.Sprintf("%d hosts", hosts))
	return p
}

// begin is called when work on a host begins.
func (p *sshProgress) begin(host string) {
	p.change(func() { p.running = append(p.running, host) })
}

// end is called when work on a host has ended.
func (p *sshProgress) end(host string) {
	p.change(func() {
		p.doneCount++
		if i := slices.Index(p.running, host); i >= 0 {
			p.running = slices.Delete(p.running, i, i+1)
		}
	})
}

// fewHosts is the maximum number of active hosts that are named.
const fewHosts = 4

func (p *sshProgress) change(do func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	text := fmt.Sprintf("%d finished", p.doneCount)
	if n := len(p.running); n > 0 {
		text += ", at " + strings.Join(p.running[:min(n, fewHosts)], ", ")
		if n > fewHosts {
			text += fmt.Sprintf(" and %d more", n-fewHosts)
		}
	}
	p.line.Note(text)
}

// close takes the line off the screen.
func (p *sshProgress) close() {
	if p != nil {
		p.line.EndSite()
	}
}
