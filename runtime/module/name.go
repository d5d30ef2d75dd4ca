package module

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/luaccm/ccm/runtime/diag"
)

// CheckName returns an error unless a text can be the name of a module: nginx, or example.org/nginx. The name is also
// a path below the cache and vendor, so it must not lead out of them.
func CheckName(name string) error {
	if name == "" || len(name) > 200 {
		return diag.Expected("a name such as nginx or example.org/nginx")
	}
	for part := range strings.SplitSeq(name, "/") {
		if !isNamePart(part) {
			return fmt.Errorf("module name %q: %w", name, diag.Expected("letters, digits and . _ - between slashes, such as nginx or example.org/nginx"))
		}
	}
	return nil
}

// isNamePart reports whether a text is one part of a name. A part does not begin with a dot or a dash: it would be a
// hidden file, lead up, or look like an option.
func isNamePart(part string) bool {
	if part == "" || part[0] == '.' || part[0] == '-' {
		return false
	}
	return strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// ShortName returns the last part of a module's name, with which its exports begin.
func ShortName(name string) string { return path.Base(name) }

// CheckExport returns an error unless a module may export a name for require. An export begins with the short name of
// its module, so that it cannot hide a file of the site or of another module.
func CheckExport(module, export string) error {
	short := ShortName(module)
	if export != short && !strings.HasPrefix(export, short+".") {
		return diag.Not(strconv.Quote(export), "%q and does not begin with %q", short, short+".")
	}
	for part := range strings.SplitSeq(export, ".") {
		if part == "" || !isNamePart(part) {
			return diag.Not(strconv.Quote(export), "a valid name for require")
		}
	}
	if short == "std" || short == "ccm" {
		return fmt.Errorf("%q is reserved by ccm", short)
	}
	return nil
}

// CleanVersion returns a version in the form of ccm, v1.2.0 for 1.2.0: a Semantic Version 2.0.0 with a v in front.
func CleanVersion(text string) (string, error) {
	v := text
	if !strings.HasPrefix(v, "v") {
		v = "v" + v
	}
	if !semver.IsValid(v) || semver.Build(v) != "" || semver.Canonical(v) != v {
		return "", diag.Not(strconv.Quote(text), "a version: %w", diag.Expected("one such as v1.2.0"))
	}
	return v, nil
}

// A Rule is a condition on the version of ccm, such as ">= 1.2, < 2".
type Rule string

// Allows reports whether a version of ccm fulfills the rule. Anything that is not a version fulfills it, such as the
// name of a build without a tag.
func (r Rule) Allows(version string) (bool, error) {
	terms, err := r.terms()
	if err != nil || !strings.HasPrefix(version, "v") {
		version = "v" + version
	}
	if err != nil || !semver.IsValid(version) {
		return true, err
	}
	// A build after v1.2.0 calls itself v1.2.1-0.2026... It has all of v1.2.0, and counts as the release that it
	// leads to.
	version, _, _ = strings.Cut(version, "-")
	for _, t := range terms {
		c := semver.Compare(version, t.version)
		if ok := map[string]bool{">=": c >= 0, ">": c > 0, "<=": c <= 0, "<": c < 0, "=": c == 0}[t.op]; !ok {
			return false, nil
		}
	}
	return true, nil
}

type term struct{ op, version string }

func (r Rule) terms() (terms []term, err error) {
	if strings.TrimSpace(string(r)) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(string(r), ",") {
		part = strings.TrimSpace(part)
		t := term{op: ">="}
		for _, op := range []string{">=", "<=", ">", "<", "="} {
			if rest, ok := strings.CutPrefix(part, op); ok {
				t.op, part = op, strings.TrimSpace(rest)
				break
			}
		}
		t.version = "v" + strings.TrimPrefix(part, "v")
		if !semver.IsValid(t.version) || semver.Build(t.version) != "" {
			return nil, diag.Not(strconv.Quote(string(r)), "a version constraint: %w",
				diag.Expected(`one such as ">= 1.2" or ">= 1.2, < 2"`))
		}
		t.version = semver.Canonical(t.version)
		terms = append(terms, t)
	}
	return terms, nil
}
