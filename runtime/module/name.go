package module

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/mod/semver"
)

// CheckName returns an error unless a text can be the name of a module: nginx, or
// example.org/nginx. It is a path below the cache and vendor, too, so it leads nowhere else.
func CheckName(name string) error {
	if name == "" || len(name) > 200 {
		return errors.New("want a name such as nginx or example.org/nginx")
	}
	for part := range strings.SplitSeq(name, "/") {
		if !isNamePart(part) {
			return fmt.Errorf("%q is no name of a module: want letters, digits and . _ - between slashes, such as nginx or example.org/nginx", name)
		}
	}
	return nil
}

// isNamePart reports whether a text is one part of a name. None begins with a dot or a dash:
// such a name is hidden, leads up, or looks like an option.
func isNamePart(part string) bool {
	if part == "" || part[0] == '.' || part[0] == '-' {
		return false
	}
	return strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// ShortName returns the name by which scripts require a module: its last part.
func ShortName(name string) string { return path.Base(name) }

// CheckExport returns an error unless a module of that name may export what require "export"
// finds. All that it exports begins with its short name, so that nothing takes the place of a
// module of the site, or of another one.
func CheckExport(module, export string) error {
	short := ShortName(module)
	if export != short && !strings.HasPrefix(export, short+".") {
		return fmt.Errorf("%q is not %q and does not begin with %q", export, short, short+".")
	}
	for part := range strings.SplitSeq(export, ".") {
		if part == "" || !isNamePart(part) {
			return fmt.Errorf("%q is no name for require", export)
		}
	}
	if short == "std" || short == "ccm" {
		return fmt.Errorf("%q is a name of ccm's own", short)
	}
	return nil
}

// CleanVersion returns a version as all of ccm writes it: v1.2.0 of 1.2.0 (Semantic
// Versioning 2.0.0, with a v before it).
func CleanVersion(text string) (string, error) {
	v := text
	if !strings.HasPrefix(v, "v") {
		v = "v" + v
	}
	if !semver.IsValid(v) || semver.Build(v) != "" || semver.Canonical(v) != v {
		return "", fmt.Errorf("%q is no version: want one such as v1.2.0", text)
	}
	return v, nil
}

// A Rule is which versions of ccm will do: ">= 1.2, < 2".
type Rule string

// Allows reports whether a version of ccm will do. One that is no version, such as that of a
// build without a tag, always does.
func (r Rule) Allows(version string) (bool, error) {
	terms, err := r.terms()
	if err != nil || !strings.HasPrefix(version, "v") {
		version = "v" + version
	}
	if err != nil || !semver.IsValid(version) {
		return true, err
	}
	// A build that comes after v1.2.0 calls itself v1.2.1-0.2026...: it has what v1.2.0 has,
	// and is counted as the version that it leads to.
	version, _, _ = strings.Cut(version, "-")
	for _, t := range terms {
		c := semver.Compare(version, t.version)
		if ok := map[string]bool{">=": c >= 0, ">": c > 0, "<=": c <= 0, "<": c < 0, "=": c == 0}[t.op]; !ok {
			return false, nil
		}
	}
	return true, nil
}

// A term is one part of a rule.
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
			return nil, fmt.Errorf("%q is no rule for versions: want one such as \">= 1.2\" or \">= 1.2, < 2\"", string(r))
		}
		t.version = semver.Canonical(t.version)
		terms = append(terms, t)
	}
	return terms, nil
}
