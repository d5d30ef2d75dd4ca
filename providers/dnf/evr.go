package dnf

import (
	"cmp"
	"fmt"
	"strings"

	rpm "github.com/knqyf263/go-rpm-version"
)

// An evr is the version of a package as rpm knows it, or the part of it that a
// user wishes: what is empty is not wished for.
type evr struct{ epoch, version, release string }

// parseEVR reads [epoch:]version[-release].
func parseEVR(s string) (e evr, err error) {
	rest, hasEpoch, hasRelease := s, false, false
	if epoch, after, ok := strings.Cut(s, ":"); ok {
		e.epoch, rest, hasEpoch = epoch, after, true
	}
	e.version, e.release, hasRelease = strings.Cut(rest, "-")
	switch {
	case hasEpoch && (e.epoch == "" || strings.Trim(e.epoch, "0123456789") != ""),
		e.version == "", hasRelease && e.release == "", strings.ContainsAny(e.version+e.release, ":-"):
		return evr{}, fmt.Errorf("want a version such as 5.8, 5.8-9.el9 or 1:5.8-9.el9, got %q", s)
	}
	return e, nil
}

// withoutEpoch formats the version as the document of the provider shows it.
func (e evr) withoutEpoch() string {
	if e.release == "" {
		return e.version
	}
	return e.version + "-" + e.release
}

// compare is the order of rpm over what both sides say: a release or an epoch
// that one leaves out is not compared.
func (e evr) compare(o evr) int {
	if e.epoch == "" || o.epoch == "" {
		e.epoch, o.epoch = "", ""
	}
	if e.release == "" || o.release == "" {
		e.release, o.release = "", ""
	}
	return cmp.Compare(rpm.NewVersion(e.full()).Compare(rpm.NewVersion(o.full())), 0)
}

// full formats e with its epoch, so that it is read as it was written.
func (e evr) full() string { return cmp.Or(e.epoch, "0") + ":" + e.withoutEpoch() }
