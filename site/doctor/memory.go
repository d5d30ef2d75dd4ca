package doctor

import (
	"github.com/luaccm/ccm/runtime/bytesize"
)

// largeRunMemory is the memory of a run of 10,000 resources (docs/performance.md).
const largeRunMemory = 64 << 20

// checkMemory checks whether a run has enough memory.
func checkMemory(x *examination) []Finding {
	total, _ := x.facts.Get("memory.total")
	available, _ := x.facts.Get("memory.available")
	machine, _ := total.(int64)
	free, _ := available.(int64)
	return []Finding{judgeMemory(machine, free, x.MemoryLimit)}
}

// judgeMemory judges the memory of a machine, the free part, and the limit of a process, all in
// bytes; 0 is unknown.
func judgeMemory(machine, free, limit int64) Finding {
	f := Finding{Check: "memory", Result: OK, Text: "unknown"}
	if machine > 0 {
		f.Text = bytesize.Format(machine) + ", " + bytesize.Format(free) + " available"
	}
	least := free
	if limit > 0 && limit < machine {
		f.Text += "; the control group allows " + bytesize.Format(limit)
		least = min(free, limit)
	}
	if machine > 0 && least < largeRunMemory {
		f.Result = Warning
		f.Text += ": large sites may not fit"
		f.Hint = "10,000 resources take " + bytesize.Format(largeRunMemory)
	}
	return f
}
