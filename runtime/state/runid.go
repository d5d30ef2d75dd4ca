package state

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
)

// runIDTime is the layout of the time in the ID of a run.
const runIDTime = "20060102T150405.000000Z"

// NewRunID returns an ID that sorts after those of all runs recorded in a state directory, "" for the default one. It
// is the time to the microsecond and three random bytes, in hexadecimal. If the clock was set back, it is the time of
// the latest run and a microsecond: the last run must stay the last one, for undo, drift and what is kept.
func NewRunID(dir string, clock host.Clock) string {
	now := time.Now().UTC()
	stamp, _, _ := strings.Cut(latestRun(Open(Options{Dir: Dir(dir), Clock: clock})), "-")
	if latest, err := time.Parse(runIDTime, stamp); err == nil && !now.After(latest) {
		now = latest.Add(time.Microsecond)
	}
	var b [3]byte
	_, _ = rand.Read(b[:])
	return now.Format(runIDTime) + "-" + hex.EncodeToString(b[:])
}
