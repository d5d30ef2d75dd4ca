package apt

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
		// The table of comparison examples of the APT document, row by row.
		{"1.0", "2.0.0", -1, "numeric comparison"},
		{"1:1.0", "2.0.0", 1, "epoch 1 > epoch 0"},
		{"1.0~alpha", "1.0", -1, "tilde sorts before empty"},
		{"1.0~alpha", "1.0~beta", -1, "lexical: alpha < beta"},
		{"1.0.1", "1.0.2", -1, "numeric: 1 < 2"},
		{"1.0-1", "1.0-2", -1, "revision comparison"},
		// Its last row compares 1.0a with "1.0-", which is not a valid version: dpkg refuses an empty revision, see
		// TestVersionErrors. README item 11: the order is that of dpkg. The row is right if the hyphen belongs to the
		// upstream version.
		{"1.0a-1", "1.0--1", -1, "letters sort before non-letters"},
		{"1.0a", "1.0+", -1, "letters sort before non-letters"},

		// The rules in its text.
		{"1.0~~", "1.0~", -1, "more tildes = earlier"},
		{"9", "13", -1, "9 < 13 (numeric comparison)"},
		{"2:1.0.0+git-20190109-0ubuntu2", "2:1.0.0+git-20190109-0ubuntu3", -1, "its example of a version"},
		{"1.0", "0:1.0", 0, "epoch default 0"},

		// README item 11: realistic versions that the algorithm of the documents orders wrongly. The results are
		// those of dpkg --compare-versions.
		{"2.0~rc1", "2.0", -1, "older than the release"},
		{"2.0~rc1-1", "2.0-1", -1, "older than the release"},
		{"1.01", "1.1", 0, "leading zeros do not count"},
		{"1.0", "1.0-0", 0, "an absent revision is 0"},
		{"1.2.3-1+deb12u1", "1.2.3-1", 1, "a security update is newer"},
		{"1.2.3-1~bpo12+1", "1.2.3-1", -1, "a backport is older"},
		{"7.88.1-10+deb12u5", "7.88.1-10+deb12u14", -1, "5 < 14"},
		{"1:0.9~rc1-1", "1.5", 1, "the epoch wins"},
		{"20240101123456", "20240101123457", -1, "a date"},
	} {
		got, err := compareVersions(x.a, x.b)
		require.NoError(t, err)
		require.Equal(t, x.want, got, "%s %s: %s", x.a, x.b, x.reason)
		got, err = compareVersions(x.b, x.a)
		require.NoError(t, err)
		require.Equal(t, -x.want, got, "%s %s: %s", x.b, x.a, x.reason)
	}
}

func TestVersionErrors(t *testing.T) {
	for _, x := range []struct{ version, err string }{
		{"1.0-", `expected a Debian version such as 1:2.0-3, got "1.0-": the revision is empty`},
		{"r4", `expected a Debian version such as 1:2.0-3, got "r4": upstream_version must start with digit`},
		{"x:1.0", `got "x:1.0": epoch parse error`},
		{"1.0^1", `got "1.0^1": upstream_version includes invalid character`},
		{"1.20240101123456789012", `cannot compare "1.20240101123456789012": number exceeds 18 digits`},
	} {
		_, err := compareVersions("1.0", x.version)
		require.ErrorContains(t, err, x.err)
		_, err = compareVersions(x.version, "1.0")
		require.ErrorContains(t, err, x.err)
		got, err := compareVersions(x.version, x.version)
		require.NoError(t, err, "what is the same needs no comparison")
		require.Zero(t, got)
	}
}
