package apt

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	deb "github.com/knqyf263/go-deb-version"

	"github.com/luaccm/ccm/runtime/diag"
)

// compareVersions compares two versions in the order of dpkg: -1 if a is older than b, 1 if it is
// newer, 0 if they are the same.
func compareVersions(a, b string) (int, error) {
	if a == b {
		return 0, nil
	}
	x, err := parseVersion(a)
	if err != nil {
		return 0, err
	}
	y, err := parseVersion(b)
	if err != nil {
		return 0, err
	}
	return cmp.Compare(x.Compare(y), 0), nil
}

func parseVersion(s string) (deb.Version, error) {
	v, err := deb.NewVersion(s)
	if err != nil {
		return v, diag.Expected("a Debian version such as 1:2.0-3").Got("%q: %w", s, err)
	}
	if strings.HasSuffix(s, "-") {
		return v, diag.Expected("a Debian version such as 1:2.0-3").Got("%q: the revision is empty", s)
	}
	// The library keeps each number in a machine word.
	for _, number := range strings.FieldsFunc(s, func(c rune) bool { return !unicode.IsDigit(c) }) {
		if len(strings.TrimLeft(number, "0")) > 18 {
			return v, diag.Cannot("compare", fmt.Sprintf("%q: number exceeds 18 digits", s), nil)
		}
	}
	return v, nil
}
