package pkgtool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// oldIndex is the age from which the index is read again if it lacks a package, unless the user
// set another age.
const oldIndex = 24 * time.Hour

// repeatUpdate is the time after a failure to read the index in which it is not tried again, so
// that the packages of a run do not all try.
const repeatUpdate = 5 * time.Minute

// clockError is the difference between two clocks up to which a time in the future counts as now.
const clockError = 5 * time.Minute

// indexTime returns the time of the package index, and whether there is one. The time is zero if it is
// not known, because all of its files are dated in the future: the clock was ahead when they were
// written, or is behind now. Within repeatUpdate after a failure, it is the time before that.
func (t *Tool) indexTime(ctx context.Context, v *host.View) (newest time.Time, found bool) {
	alone := v.Recording(nil) // no resource brings the index
	t.indexMu.Lock()
	last := t.index
	t.indexMu.Unlock()
	if last.err != nil && v.Now().Sub(last.at) < repeatUpdate {
		return last.before, last.found
	}
	if last.err == nil && !last.at.IsZero() {
		newest, found = last.at, true
	}
	latest := v.Now().Add(clockError)
	take := func(path string) {
		info, err := alone.Lstat(path)
		if err != nil || info.MTime.Unix() <= 0 {
			return
		}
		found = true
		if info.MTime.After(newest) && !info.MTime.After(latest) {
			newest = info.MTime
		}
	}
	for _, pattern := range t.Index {
		if paths, err := alone.Glob(ctx, pattern, safepath.MaxNames); err == nil {
			for _, path := range paths {
				take(path)
			}
		}
	}
	if found && t.IndexDir != "" {
		take(t.IndexDir)
	}
	return newest, found
}

// OlderIndex returns the age of the package index if it is older than a package wants, or not known:
// "3 days old". Otherwise, and for packages without need of an index, it is "".
func (t *Tool) OlderIndex(ctx context.Context, v *host.View, want resources.Package) string {
	if want.Refresh == 0 || want.Source != "" {
		return ""
	}
	return t.olderIndex(ctx, v, time.Duration(want.Refresh))
}

func (t *Tool) olderIndex(ctx context.Context, v *host.View, limit time.Duration) string {
	newest, found := t.indexTime(ctx, v)
	switch age := v.Now().Sub(newest); {
	case !found && t.ReadsIndex:
		return ""
	case !found:
		return "missing"
	case newest.IsZero():
		return "dated in the future"
	case age <= limit:
		return ""
	case age >= 48*time.Hour:
		return fmt.Sprintf("%d days old", int(age.Hours()/24))
	case age >= 2*time.Hour:
		return fmt.Sprintf("%d hours old", int(age.Hours()))
	default:
		return fmt.Sprintf("%d minutes old", int(age.Minutes()))
	}
}

// Refresh reads the package index if it is older than a package wants, and reports whether it
// did.
func (t *Tool) Refresh(ctx context.Context, h *host.Host, want resources.Package) (bool, error) {
	return t.refresh(ctx, h, t.OlderIndex(ctx, &h.View, want))
}

// RefreshForMissing reads the package index, which lacks a package, if it is older than a day,
// and reports whether it did.
func (t *Tool) RefreshForMissing(ctx context.Context, h *host.Host) (bool, error) {
	return t.refresh(ctx, h, t.olderIndex(ctx, &h.View, oldIndex))
}

func (t *Tool) refresh(ctx context.Context, h *host.Host, age string) (bool, error) {
	if age == "" || len(t.UpdateIndex) == 0 {
		return false, nil
	}
	before, found := t.indexTime(ctx, &h.View)
	t.indexMu.Lock()
	defer t.indexMu.Unlock()
	if t.index.err != nil && h.Now().Sub(t.index.at) < repeatUpdate {
		return false, t.index.err
	}
	h.Log().Info("the package index is "+age+" and is refreshed", "command", host.Cmd{Argv: t.UpdateIndex}.String())
	err := t.Change(ctx, h, func(run func(argv ...string) (host.Result, error)) error {
		_, err := run(t.UpdateIndex...)
		if err != nil && t.IndexDir != "" {
			// The failed attempt has touched the index; its old time is restored, so that the next
			// run does not take it for new.
			_, _ = run("touch", "--no-create", fmt.Sprintf("--date=@%d", max(before.Unix(), 0)), t.IndexDir)
		}
		return err
	})
	if err != nil {
		err = diag.Cannot("refresh", fmt.Sprintf("the package index, which is %s", age), err)
	}
	t.index.at, t.index.err, t.index.before, t.index.found = h.Now(), err, before, found
	return err == nil, err
}

// PredictRefresh adds to the prediction of a package that a run would read the index first. The
// new index may have a package that the old one lacks.
func (t *Tool) PredictRefresh(ctx context.Context, v *host.View, want resources.Package, p *resource.Prediction) {
	age := t.OlderIndex(ctx, v, want)
	_, missing := errors.AsType[*MissingError](p.Err)
	if missing && age == "" {
		age = t.olderIndex(ctx, v, oldIndex)
	}
	switch {
	case age == "" || p.Err != nil && !missing:
		return
	case missing:
		p.Err, p.Caveat = nil, "not in the package index, which is "+age+" and would be refreshed first"
	case p.Caveat == "":
		p.Caveat = "the package index is " + age + " and would be refreshed first"
	default:
		p.Caveat += ", the package index is " + age + " and would be refreshed first"
	}
	p.Files = nil // those of another version, perhaps
}

// A MissingError reports that the package index lacks a package.
type MissingError struct{ error }

// Unwrap returns the error.
func (e *MissingError) Unwrap() error { return e.error }

// Missing returns a MissingError.
func Missing(format string, args ...any) error { return &MissingError{fmt.Errorf(format, args...)} }
