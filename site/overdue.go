package site

import (
	"cmp"
	"fmt"
	"time"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/heap"
)

const (
	// overdueTime is how long after its time limit an evaluation may end by itself.
	overdueTime = 10 * time.Second
	// overdueMemory is how many times its memory limit an evaluation may take.
	overdueMemory = 4
)

// watchOverdue calls Process.Overdue if an evaluation goes far beyond its limits: some single steps of the libraries
// cannot be interrupted, such as the search of a regular expression. The returned function ends the watch.
func (p *Process) watchOverdue(o *Options) (stop func()) {
	if p.Overdue == nil {
		return func() {}
	}
	limit := overdueMemory * cmp.Or(o.EvalMemory, luaapi.DefaultMemory)
	bound := heap.Watch(limit, func() { p.Overdue(diag.Exceeded("evaluation", "memory", bytesize.Format(int64(limit)))) })
	waited := p.decryption().questions.waited
	was := waited()
	end := time.Now().Add(o.EvalTimeout + overdueTime)
	var timer *time.Timer
	timer = time.AfterFunc(time.Until(end), func() {
		if left := time.Until(end.Add(waited() - was)); left > 0 {
			timer.Reset(left)
			return
		}
		p.Overdue(fmt.Errorf("evaluation did not end %s after its time limit", overdueTime))
	})
	if o.EvalTimeout == 0 {
		timer.Stop()
	}
	return func() {
		timer.Stop()
		bound.Stop()
	}
}
