package repl

import (
	"context"

	"github.com/luaccm/ccm/runtime/terminal"
)

// SetReader makes a dialog format its output for a person.
func (d *Dialog) SetReader(brief func() bool, page func(context.Context, terminal.Text) error) {
	d.env.opts.Brief, d.env.opts.Page = brief, page
}
