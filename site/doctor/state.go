package doctor

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/diskspace"
	"github.com/luaccm/ccm/runtime/state"
)

// checkStateDirectory checks whether runs can keep their state, and whether a run is going on.
func checkStateDirectory(x *examination) []Finding {
	err := x.process.Files.CheckState(x.StateDir)
	var c state.Condition
	if err == nil {
		c, err = state.Examine(x.StateDir)
	}
	if err != nil {
		hint := "set another directory with --state-dir or CCM_STATE_DIR"
		if placed, ok := errors.AsType[*diag.Error](err); ok && placed.Hint != "" {
			err, hint = fmt.Errorf("%s: %w", placed.Pos.File, placed.Err), placed.Hint
		}
		return []Finding{{Check: "state", Result: Failure, Text: "runs cannot save their state: " + err.Error(), Hint: hint}}
	}
	if c.Nearest != x.StateDir {
		return []Finding{{Check: "state", Result: OK, Text: x.StateDir + ", created by the first run"}, noLock}
	}
	found := []Finding{{Check: "state", Result: OK, Text: x.StateDir}}
	if !c.Locked {
		return append(found, noLock)
	}
	return append(found, Finding{
		Check: "lock", Result: Warning,
		Text: fmt.Sprintf("a run is in progress, and others wait for it: pid %d (%s), since %s", c.Holder.PID, c.Holder.Command, c.Holder.Since.Local().Format(time.DateTime)),
	})
}

var noLock = Finding{Check: "lock", Result: OK, Text: "no run in progress"}

// history tells what is recorded, and what is still pending.
func history(x *examination) []Finding {
	store, err := x.process.Store(x.StateDir, state.Limits{})
	var c state.Condition
	if err == nil {
		c, err = state.Examine(x.StateDir)
	}
	if err != nil {
		return nil // checkStateDirectory reports it
	}
	runs, damaged, err := store.History()
	if err != nil {
		return unreadable("history", err)
	}
	f := Finding{Check: "history", Result: OK, Text: fmt.Sprintf("%d runs on record", len(runs))}
	if damaged > 0 {
		f.Result, f.Text = Warning, fmt.Sprintf("%s, %d entries are damaged", f.Text, damaged)
	}
	if n := len(runs); n > 0 && runs[n-1].Start.After(x.process.Clock.Now().Add(tolerance)) {
		f.Result, f.Text = Warning, f.Text+"; the last one was at "+runs[n-1].Start.Local().Format(time.DateTime)+", which is in the future"
		f.Hint = "check the clock: it was set back, or was wrong at that time"
	}
	if pending, _, err := store.Pending(); err == nil && len(pending) > 0 {
		f.Text = fmt.Sprintf("%s; %d pending refreshes, performed by the next run of their site", f.Text, len(pending))
	}
	if work, err := store.OpenWork(); err == nil && len(work) > 0 && !c.Locked { // the open work of a present run is not left behind
		f.Text = fmt.Sprintf("%s; %d leftovers of a killed run, removed by the next run", f.Text, len(work))
	}
	return []Finding{f}
}

// checkSpace checks whether the disk has room for state and downloads.
func checkSpace(x *examination) []Finding {
	c, err := state.Examine(x.StateDir)
	if err != nil {
		return nil
	}
	d, err := os.Open(c.Nearest)
	if err != nil {
		return unreadable("disk", err)
	}
	defer d.Close()
	if err := diskspace.Check(int(d.Fd()), 0); err != nil {
		return []Finding{{Check: "disk", Result: Warning, Text: c.Nearest + ": downloads fail, and soon all runs: " + err.Error(), Hint: "keep fewer backups with: ccm run --backup-size 100MiB"}}
	}
	return []Finding{{Check: "disk", Result: OK, Text: "space for state and downloads"}}
}
