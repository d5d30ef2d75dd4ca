package resources

import (
	"errors"

	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// A PackageEnsure is a desired value of ensure for a package: one of the constants, a version, or
// a constraint such as ">= 1.2, < 2".
type PackageEnsure string

// The values of PackageEnsure without a version.
const (
	PackagePresent PackageEnsure = "present"
	PackageAbsent  PackageEnsure = "absent"
	PackagePurged  PackageEnsure = "purged"
	PackageLatest  PackageEnsure = "latest"
)

var packageWords = []string{"present", "absent", "purged", "latest"}

// IsVersion reports whether e is a version.
func (e PackageEnsure) IsVersion() bool {
	return e != PackagePresent && e != PackageLatest && !e.IsAbsent() && !e.IsConstraint()
}

// IsAbsent reports whether the package has to be absent.
func (e PackageEnsure) IsAbsent() bool { return e == PackageAbsent || e == PackagePurged }

// IsConstraint reports whether e is a constraint on the version.
func (e PackageEnsure) IsConstraint() bool { return strings.ContainsAny(string(e), "<>=!,") }

// A VersionBound is one condition of a constraint.
type VersionBound struct{ Operator, Version string }

// versionOperators lists the operators, the longer ones first.
var versionOperators = []string{">=", "<=", "!=", ">", "<", "="}

// Bounds returns the conditions of a constraint, all of which have to hold.
func (e PackageEnsure) Bounds() (list []VersionBound, err error) {
	for part := range strings.SplitSeq(string(e), ",") {
		part = strings.TrimSpace(part)
		b := VersionBound{}
		for _, op := range versionOperators {
			if rest, ok := strings.CutPrefix(part, op); ok {
				b = VersionBound{op, strings.TrimSpace(rest)}
				break
			}
		}
		if b.Operator == "" || checkPackageVersion(b.Version) != nil {
			return nil, diag.Expected("conditions such as \">= 1.2, < 2\"").Got("%q", string(e))
		}
		list = append(list, b)
	}
	return list, nil
}

// Allows reports whether a constraint allows a version. Compare compares that version with
// others: it returns a negative number if the version is older, a positive one if it is newer.
func (e PackageEnsure) Allows(compare func(other string) (int, error)) (bool, error) {
	bounds, err := e.Bounds()
	if err != nil {
		return false, err
	}
	for _, b := range bounds {
		order, err := compare(b.Version)
		if err != nil {
			return false, err
		}
		holds := map[string]bool{
			">=": order >= 0, "<=": order <= 0, "!=": order != 0, ">": order > 0, "<": order < 0, "=": order == 0,
		}
		if !holds[b.Operator] {
			return false, nil
		}
	}
	return true, nil
}

const versionPattern = `[A-Za-z0-9._+:~^-]*[0-9][A-Za-z0-9._+:~^-]*`

// JSONSchema implements schema.JSONSchemer.
func (PackageEnsure) JSONSchema() map[string]any {
	const bound = `(>=|<=|!=|>|<|=)\s*` + versionPattern
	return map[string]any{"anyOf": []any{
		map[string]any{"enum": []any{"present", "absent", "purged", "latest"}},
		map[string]any{"type": "string", "pattern": "^" + versionPattern + "$", "examples": []any{"1.24.0-1.el9"}},
		map[string]any{"type": "string", "pattern": `^\s*` + bound + `\s*(,\s*` + bound + `\s*)*$`, "examples": []any{">= 1.2, < 2"}},
	}}
}

// check returns an error unless e is a constant, a constraint or a version. A word without a
// digit counts as a misspelled constant.
func (e PackageEnsure) check() error {
	s := string(e)
	if e.IsConstraint() {
		if _, err := e.Bounds(); err != nil {
			return wrong("ensure", "%w", err)
		}
		return nil
	}
	if !e.IsVersion() {
		return nil
	}
	switch err := checkPackageVersion(s); {
	case errors.Is(err, errForeign):
		return wrong("ensure", "%w", diag.Expected("present, absent, purged, latest, a version of letters, digits and . _ + : ~ ^ -, or conditions such as \">= 1.2, < 2\"").Got("%q", s))
	case err != nil:
		err := wrong("ensure", "%w", diag.Expected("present, absent, purged, latest, a version or conditions such as \">= 1.2, < 2\"").Got("%q", s))
		err.Hint = diag.DidYouMean(s, packageWords)
		return err
	}
	return nil
}

var errForeign = diag.Contains("it", "characters that are invalid in versions")

// checkPackageVersion returns an error if s cannot be a version.
func checkPackageVersion(s string) error {
	switch {
	case strings.IndexFunc(s, func(c rune) bool { return c != '^' && notPackageChar(c) }) >= 0:
		return errForeign
	case !strings.ContainsAny(s, "0123456789") || s[0] == '-':
		return diag.Not("it", "a version")
	}
	return nil
}
