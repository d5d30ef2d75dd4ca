package site

import (
	"context"
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

// limitTimes makes nothing in an image newer than the time in the environment. Where / is the image, others use it too:
// there it is what the run itself has changed. A machine that runs is left alone.
func (r *Recorder) limitTimes(ctx context.Context, h *host.Host) error {
	latest, err := sourceDate(&h.View)
	if err != nil || latest.IsZero() {
		return err
	}
	if h.CommandRoot() != "/" {
		return h.LimitAllTimes(ctx, latest)
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

// limitTimesOrWarn warns if the times could not be set: the changes are made.
func (r *Recorder) limitTimesOrWarn(ctx context.Context, h *host.Host) {
	if err := r.limitTimes(ctx, h); err != nil {
		r.process.Messages.Warn("modification times: " + err.Error())
	}
}
