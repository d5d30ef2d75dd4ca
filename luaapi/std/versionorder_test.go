package std

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompareVersions(t *testing.T) {
	for _, x := range []struct {
		a, b   string
		ignore bool
		want   int
		reason string
	}{
		// The table of examples in the DNF documentation, row by row.
		{"1.0", "2.0.0", false, -1, "numeric: 1 < 2"},
		{"1.10", "1.9", false, 1, "numeric: 10 > 9"},
		{"1.0", "1.0.1", false, -1, "A exhausted first"},
		{"1.0-1", "1.0-2", false, -1, "release comparison"},
		{"1.0a", "1.0b", false, -1, "lexical: a < b"},
		{"01", "1", false, -1, "leading zero: lexical comparison"},
		{"1.0.0", "1.0", false, 1, "without normalization"},
		{"1.0.0", "1.0", true, 0, "with ignoreTrailingZeroes"},

		// The rules in its text.
		{"1-1", "1.1", false, -1, "a hyphen loses to a dot"},
		{"1-1", "1a", false, -1, "a hyphen loses to any other character"},
		{"1.1", "1a", false, -1, "a dot loses to any non-hyphen character"},
		{"1.10", "1.010", false, 1, "leading zero: lexical comparison"},
		{"1.0A", "1.0a", false, 0, "case-insensitive"},
		{"1.0A.1", "1.0a.2", false, -1, "case-insensitive, and then goes on"},
		{"1.0RC", "1.0b", false, 1, "case-insensitive: rc > b"},
		{"1.a", "1.1", false, 1, "digits and others compare as text"},
		{"1.0.0-rc1", "1-rc1", true, 0, "1.0.0-rc1 becomes 1-rc1"},
		{"2.0.0", "2", true, 0, "2.0.0 becomes 2"},
		{"1.0-1.0", "1.0-1", true, 1, "only before the first hyphen"},
		{"10", "1", true, 1, "only whole parts are zeroes"},
		{"1.00", "1.0", true, 0, "a part of zeroes is zero"},
		{"0", "0.0", true, 0, "the first part stays"},

		{"", "", false, 0, "nothing"},
		{"", "1", false, -1, "nothing is older"},
		{"20240101123456789012345", "20240101123456789012346", false, -1, "longer than a machine word"},
		{"99999999999999999999", "100000000000000000000", false, -1, "longer than a machine word"},
		{"1..1", "1.1", false, -1, "a dot loses"},
		{"5.4.0-1029-aws", "5.4.0-167-generic", false, 1, "kernels"},
	} {
		require.Equal(t, x.want, compareVersions(x.a, x.b, x.ignore), "%s %s: %s", x.a, x.b, x.reason)
		require.Equal(t, -x.want, compareVersions(x.b, x.a, x.ignore), "%s %s: %s", x.b, x.a, x.reason)
	}
}

func FuzzCompareVersions(f *testing.F) {
	for _, s := range []string{"1.0", "01", "1.0.0-rc1", "1.", "-", ".", "a.0-0", "1.0~rc1", ""} {
		f.Add(s, "1.0.0")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, ignore := range []bool{false, true} {
			got := compareVersions(a, b, ignore)
			require.Contains(t, []int{-1, 0, 1}, got)
			require.Equal(t, -got, compareVersions(b, a, ignore))
			require.Zero(t, compareVersions(a, a, ignore))
		}
	})
}
