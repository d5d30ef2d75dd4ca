package std

import (
	"cmp"
	"strings"

	deb "github.com/knqyf263/go-deb-version"
	rpm "github.com/knqyf263/go-rpm-version"
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

func versionLibrary() *Library {
	return &Library{
		Name: "version",
		Doc:  "Compares versions. The comparisons return -1 if a is older than b, 1 if it is newer, and 0 if both are equal.",
		Funcs: []Func{{
			Signature: `compare(a: string, b: string, ignore_trailing_zeroes?: boolean): integer`,
			Doc:       "Compares generic versions. Numbers compare as numbers. With ignore_trailing_zeroes, 1.0.0 equals 1.",
			Example:   `version.compare("1.9", "1.10")`, Result: `-1`,
			Fn: func(c *call) int {
				return c.give(lua.LNumber(compareVersions(c.str(1), c.str(2), c.truth(3))))
			},
		}, {
			Signature: `deb(a: string, b: string): integer`,
			Doc:       "Compares versions of Debian packages, as dpkg does: with epochs, revisions and ~. An invalid version is an error.",
			Example:   `version.deb("1.0~rc1", "1.0")`, Result: `-1`,
			Fn: func(c *call) int { return c.give(lua.LNumber(compareDeb(c, c.version(1), c.version(2)))) },
		}, {
			Signature: `rpm(a: string, b: string): integer`,
			Doc:       "Compares versions of RPM packages, as rpm does: with epochs, releases, ~ and ^.",
			Example:   `version.rpm("1:1.0-1", "2.0-1")`, Result: `1`,
			Fn: func(c *call) int { return c.give(lua.LNumber(compareRPM(c.version(1), c.version(2)))) },
		}, {
			Signature: `matches(version: string, constraint: string, system?: "deb"|"rpm"): boolean`,
			Doc:       "Reports whether a version is within a constraint: one or more of =, !=, <, <=, >, >= with a version, separated by commas, all of which must hold. An invalid constraint is an error.",
			Example:   `version.matches("1.4.2", ">= 1.2, < 2")`, Result: `true`,
			Fn: versionMatches,
		}},
	}
}

func compareDeb(c *call, a, b string) int {
	x, err := deb.NewVersion(a)
	if err != nil {
		c.fail("%w", diag.Expected("a version of a Debian package").Got("%q", a))
	}
	y, err := deb.NewVersion(b)
	if err != nil {
		c.fail("%w", diag.Expected("a version of a Debian package").Got("%q", b))
	}
	return cmp.Compare(x.Compare(y), 0)
}

func compareRPM(a, b string) int {
	return cmp.Compare(rpm.NewVersion(a).Compare(rpm.NewVersion(b)), 0)
}

// longestVersion is the maximum length of versions and constraints, in bytes. Names of files are at
// most a quarter of that.
const longestVersion = 1024

// version returns argument n, which is limited in length because comparing takes time.
func (c *call) version(n int) string {
	s := c.str(n)
	if len(s) > longestVersion {
		c.fail("%w", diag.Expected("a version or constraint of at most %d bytes", longestVersion).Got("%d", len(s)))
	}
	return s
}

func versionMatches(c *call) int {
	version, constraint := c.version(1), c.version(2)
	compare := func(a, b string) int { return compareVersions(a, b, true) }
	switch c.str(3) {
	case "deb":
		compare = func(a, b string) int { return compareDeb(c, a, b) }
	case "rpm":
		compare = compareRPM
	}
	all := true
	for part := range strings.SplitSeq(constraint, ",") {
		part = strings.TrimSpace(part)
		bound := strings.TrimLeft(part, "<>=!")
		op := part[:len(part)-len(bound)]
		if bound = strings.TrimSpace(bound); bound == "" || strings.ContainsAny(bound, " \t") {
			c.fail("%w", diag.Expected(`a constraint such as ">= 1.2, < 2"`).Got("%q", constraint))
		}
		sign := compare(version, bound)
		ok, known := map[string]bool{
			"": sign == 0, "=": sign == 0, "==": sign == 0, "!=": sign != 0,
			"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0,
		}[op]
		if !known {
			c.fail("%w", diag.Expected("one of =, !=, <, <=, >, >= before a version").Got("%q", op))
		}
		all = all && ok
	}
	return c.give(lua.LBool(all))
}
