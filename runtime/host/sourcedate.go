package host

import (
	"context"
	"errors"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// LimitTimes sets the modification times of the entries at some paths, and of their directories, to date if they are
// later. It follows no link at a path. Two builds of an image then have the same times. What is missing is left out.
func (h *Host) LimitTimes(names []string, date time.Time) error {
	ts, err := unix.TimeToTimespec(date)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if err := h.limitTime(name, date, ts); err != nil && !safepath.IsMissing(err) {
			errs = append(errs, safepath.PathError("utimensat", name, err))
		}
	}
	return errors.Join(errs...)
}

// LimitAllTimes is LimitTimes for everything below the root, without what is mounted there. It ends with ctx.
func (h *Host) LimitAllTimes(ctx context.Context, date time.Time) error {
	mounts, err := h.MountsBelow("/")
	if err != nil {
		return err
	}
	entries, err := h.Tree(ctx, "/", math.MaxInt)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !slices.ContainsFunc(mounts, func(at string) bool { return e.Rel == at || strings.HasPrefix(e.Rel, at+"/") }) {
			names = append(names, "/"+e.Rel)
		}
	}
	return errors.Join(err, h.LimitTimes(names, date))
}

func (h *Host) limitTime(name string, date time.Time, ts unix.Timespec) error {
	p, err := h.files.At(name)
	if err != nil {
		return err
	}
	defer p.Close()
	// The directory last: it has a name more or less because of the entry.
	for _, entry := range []string{p.Name, "."} {
		var stat unix.Stat_t
		err := unix.Fstatat(p.Dir.FD, entry, &stat, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil && time.Unix(stat.Mtim.Unix()).After(date) {
			err = h.Effect("utimensat", path.Join(p.Dir.Path, entry), func() error {
				return unix.UtimesNanoAt(p.Dir.FD, entry, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
			})
		}
		if err != nil && err != unix.ENOENT {
			return err
		}
	}
	return nil
}
