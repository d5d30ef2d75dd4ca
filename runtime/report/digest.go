package report

import (
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A Digest reports a plan at its end, in a layout for large ones.
type Digest struct {
	*Failures // reports single resources
	Layout    Layout

	rows []row
}

var _ event.Reporter = (*Digest)(nil)

// Event implements event.Reporter.
func (d *Digest) Event(e *event.Event) {
	if d.Text.tells(e) {
		mark, _ := symbol(e)
		d.rows = append(d.rows, row{event: e.Clone(), mark: mark})
	}
}

// Tell prints the report.
func (d *Digest) Tell() {
	groups := d.Layout.arrange(d.rows, d.Text.Verbose)
	if d.Layout.Counts {
		d.tellCounts(groups)
		return
	}
	for _, g := range groups {
		if len(g) == 1 {
			d.Failures.Event(g[0].event)
			continue
		}
		_, style := symbol(g[0].event)
		name, story, _ := g.line()
		terminal.Fprintf(d.Text.W, "%s %s: %s\n", d.Text.paint(style, g[0].mark), name, story)
	}
}

// tellCounts prints the numbers of resources by type and action, and what fails.
func (d *Digest) tellCounts(groups []group) {
	list, others := counts(groups)
	for _, c := range list {
		_, style := symbol(c.row.event)
		terminal.Fprintf(d.Text.W, "%s %s: %s\n", d.Text.paint(style, c.row.mark), c.resources(), c.row.action())
	}
	if others != "" {
		terminal.Fprintf(d.Text.W, "  %s\n", others)
	}
	for _, g := range groups {
		if e := g[0].event; e.Outcome == event.Failed {
			d.Failures.Event(e)
		}
	}
}
