package main

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const doc = `Text.

` + begin + head + `| a pipe \| in | holds | ` + "`TestA`" + ` | 3 | 0 |
| gone | holds | ` + "`TestGone`" + ` | 1 | 0 |
| kept | holds | ` + "`TestKept`" + ` | 9 | 0 |
` + end + `More.
`

func TestUpdate(t *testing.T) {
	counts, err := sum([]byte(`{"test":"TestNew","broken":"new","holds":"holds","tried":7,"failed":1}
{"test":"TestA","broken":"a pipe | in","holds":"holds","tried":10,"failed":0}
{"test":"TestA","broken":"a pipe | in","holds":"holds","tried":5,"failed":2}
`))
	require.NoError(t, err)
	got, err := update(doc, counts, []string{"TestA", "TestKept", "TestNew"})
	require.NoError(t, err)
	want := "Text.\n\n" + begin + head + "| a pipe \\| in | holds | `TestA` | 15 | 2 |\n" +
		"| kept | holds | `TestKept` | 9 | 0 |\n| new | holds | `TestNew` | 7 | 1 |\n" + end + "More.\n"
	require.Equal(t, want, got)

	again, err := update(got, nil, []string{"TestA", "TestKept", "TestNew"})
	require.NoError(t, err)
	require.Equal(t, want, again)
	_, err = update("no table", nil, nil)
	require.ErrorContains(t, err, begin[:10])
}

// The table in the document has a row for each test that counts, and no other.
func TestTableIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../reliability/counts.md")
	require.NoError(t, err)
	packages, err := counting("github.com/luaccm/ccm/...")
	require.NoError(t, err)
	var want []string
	for _, p := range packages {
		want = append(want, p.tests...)
	}
	var have []string
	for _, r := range rowsOf(t, string(text)) {
		if !slices.Contains(have, r) {
			have = append(have, r)
		}
	}
	require.NotEmpty(t, want)
	require.ElementsMatch(t, want, have, "make reliability RUN=NAME writes a row")
}

func rowsOf(t *testing.T, text string) (tests []string) {
	t.Helper()
	_, table, _, err := split(text)
	require.NoError(t, err)
	rows, err := parse(table)
	require.NoError(t, err)
	for _, r := range rows {
		require.Zero(t, r.Failed, "%s", r.Test)
		require.Positive(t, r.Tried, "%s", r.Test)
		tests = append(tests, r.Test)
	}
	return tests
}
