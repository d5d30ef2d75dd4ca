package rpm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompareVersions(t *testing.T) {
	for _, x := range []struct {
		a, b   string
		want   int
		reason string
	}{
		// The table of comparison examples of the DNF document. README item 11: the
		// order is that of rpm itself; where the generic algorithm of the document
		// disagrees, the row says so. The table as it stands is that of
		// version.Compare.
		{"1.0", "2.0.0", -1, "numeric: 1 < 2"},
		{"1.10", "1.9", 1, "numeric: 10 > 9"},
		{"1.0", "1.0.1", -1, "A exhausted first"},
		{"1.0-1", "1.0-2", -1, "release comparison"},
		{"1.0a", "1.0b", -1, "lexical: a < b"},
		{"01", "1", 0, "the document says A < B, rpm that leading zeros do not count"},
		{"1.0.0", "1.0", 1, "without normalization; rpm knows no other"},

		// Its examples of versions.
		{"5.8-9.el9", "0:5.8-9.el9", 0, "epoch default 0"},
		{"1:2.0-3.fc39", "2:1.0-1.fc39", -1, "higher epoch always wins"},
		{"0:1.0.0-1.el9", "0:1.0.0-1.el9", 0, "the same"},

		// README item 11: realistic input. The answers are those of rpm.
		{"2.0~rc1", "2.0", -1, "older than the release"},
		{"1.0", "1.0^20240101", -1, "a snapshot after the release"},
		{"1.0^20240101", "1.0.1", -1, "before the next release"},
		{"1.0a", "1.0", 1, "A goes on"},
		{"1.0.a", "1.0.1", -1, "numbers are newer than letters"},
		{"1.0A", "1.0a", -1, "case matters"},
		{"1_0", "1.0", 0, "separators do not matter"},
		{"2.34-60.el9", "2.34-100.el9", -1, "60 < 100"},
		{"9.el9", "9.el9_1", -1, "goes on"},
		{"20240101123456789012345", "20240101123456789012346", -1, "longer than a machine word"},

		// README item 10: what one side leaves out is not compared.
		{"5.8-9.el9", "5.8", 0, "any release"},
		{"1:5.8-9.el9", "5.8-9.el9", 0, "without epoch"},
		{"1:5.8-9.el9", "5.8", 0, "neither"},
		{"1:5.8-9.el9", "1:5.8", 0, "epoch without release"},
		{"1:5.8-9.el9", "0:5.8", 1, "another epoch"},
		{"5.8-9.el9", "5.8-10.el9", -1, "another release"},
	} {
		a, err := ParseEVR(x.a)
		require.NoError(t, err)
		b, err := ParseEVR(x.b)
		require.NoError(t, err)
		require.Equal(t, x.want, a.Compare(b), "%s %s: %s", x.a, x.b, x.reason)
		require.Equal(t, -x.want, b.Compare(a), "%s %s: %s", x.b, x.a, x.reason)
	}
	for _, bad := range []string{"", "1-2-3", "x:1", ":1", "1:", "1-", "-1"} {
		_, err := ParseEVR(bad)
		require.ErrorContains(t, err, "expected a version such as 5.8, 5.8-9.el9 or 1:5.8-9.el9", bad)
	}
}
