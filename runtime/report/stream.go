package report

import (
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A Stream prints each line that a command writes, with its resource before it.
type Stream struct{ W terminal.Printer }

// Output prints a line.
func (s Stream) Output(of *resource.Resource, line string) {
	_, _ = s.W.Print(terminal.Sprintf("%s: %s\n", of.ID, line))
}
