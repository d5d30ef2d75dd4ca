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
	latest, err := sourceDate(&h.View)
	if err != nil || latest.IsZero() || len(r.changed) == 0 {
		return err
	}
	return h.LimitTimes(slices.Sorted(maps.Keys(r.changed)), latest)
}

// sourceDate returns the time in the environment, if v is an image; otherwise, and without one, the zero time.
func sourceDate(v *host.View) (time.Time, error) {
	text := os.Getenv(sourceDateVariable)
	if text == "" || v.Offline() == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, diag.About(sourceDateVariable, diag.Expected("a number of seconds").Got("%q", text))
	}
	return time.Unix(seconds, 0), nil
}
