package site

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// sourceDateVariable has a time in seconds since 1970 (reproducible-builds.org/specs/source-date-epoch). In an image,
// nothing that a run has written is newer.
const sourceDateVariable = "SOURCE_DATE_EPOCH"

// changedPaths are the paths that a run changed.
type changedPaths map[string]bool

// limitTimes makes nothing that the run has changed newer than the time in the environment. A machine that runs is left
// alone.
func (r *Recorder) limitTimes(h *host.Host) error {
	text := os.Getenv(sourceDateVariable)
	if text == "" || h.Offline() == "" || len(r.changed) == 0 {
		return nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return diag.About(sourceDateVariable, diag.Expected("a number of seconds").Got("%q", text))
	}
	return h.LimitTimes(slices.Sorted(maps.Keys(r.changed)), time.Unix(seconds, 0))
}
