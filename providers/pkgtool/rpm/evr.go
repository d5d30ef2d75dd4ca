package rpm

import (
	"cmp"
	"context"

	"strings"

	rpm "github.com/knqyf263/go-rpm-version"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// An EVR is the version of a package in rpm, or a part of it that a user wants: an empty part
// matches any.
type EVR struct{ Epoch, Version, Release string }

// ParseEVR reads [epoch:]version[-release].
func ParseEVR(s string) (e EVR, err error) {
	rest, hasEpoch, hasRelease := s, false, false
	if epoch, after, ok := strings.Cut(s, ":"); ok {
		e.Epoch, rest, hasEpoch = epoch, after, true
	}
	e.Version, e.Release, hasRelease = strings.Cut(rest, "-")
	switch {
	case hasEpoch && (e.Epoch == "" || strings.Trim(e.Epoch, "0123456789") != ""),
		e.Version == "", hasRelease && e.Release == "", strings.ContainsAny(e.Version+e.Release, ":-"):
		return EVR{}, diag.Expected("a version such as 5.8, 5.8-9.el9 or 1:5.8-9.el9").Got("%q", s)
	}
	return e, nil
}

// WithoutEpoch formats the version without its epoch, as reports show it.
func (e EVR) WithoutEpoch() string {
	if e.Release == "" {
		return e.Version
	}
	return e.Version + "-" + e.Release
}

// Compare compares two versions in the order of rpm. A release or an epoch that one of them
// leaves out is not compared.
func (e EVR) Compare(o EVR) int {
	if e.Epoch == "" || o.Epoch == "" {
		e.Epoch, o.Epoch = "", ""
	}
	if e.Release == "" || o.Release == "" {
		e.Release, o.Release = "", ""
	}
	return cmp.Compare(rpm.NewVersion(e.Full()).Compare(rpm.NewVersion(o.Full())), 0)
}

// Full formats e with its epoch, so that ParseEVR reads the same.
func (e EVR) Full() string { return cmp.Or(e.Epoch, "0") + ":" + e.WithoutEpoch() }

// Compare compares two versions as [EVR.Compare] does.
func Compare(_ context.Context, _ *host.View, a, b string) (int, error) {
	x, err := ParseEVR(a)
	if err != nil {
		return 0, err
	}
	y, err := ParseEVR(b)
	return x.Compare(y), err
}

// Incomplete reports whether a version leaves out the epoch.
func Incomplete(version string) bool { return !strings.Contains(version, ":") }

// Shown returns a version without its epoch.
func Shown(version string) string { return version[strings.IndexByte(version, ':')+1:] }
