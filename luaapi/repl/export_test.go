package repl

import (
	"context"

	"github.com/luaccm/ccm/runtime/terminal"
)

// SetReader makes a dialog answer a person who reads.
func (d *Dialog) SetReader(brief func() bool, page func(context.Context, terminal.Text) error) {
	d.env.opts.Brief, d.env.opts.Page = brief, page
}
