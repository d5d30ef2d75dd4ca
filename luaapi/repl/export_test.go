package repl

import "context"

// SetReader makes a dialog answer a person who reads.
func (d *Dialog) SetReader(brief func() bool, page func(context.Context, string) error) {
	d.opts.Brief, d.opts.Page = brief, page
}
