package data

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mergeKeys returns texts of about n lines in which every merge key names much.
func mergeKeys(n int) map[string]string {
	table, chain := "a: &a\n", "a0: &a0 {k: 1}\n"
	for i := range n {
		table += fmt.Sprintf("  k%d: 1\n", i)
		chain += fmt.Sprintf("a%d: &a%d {<<: *a%d, k%d: 1}\n", i+1, i+1, i, i)
	}
	return map[string]string{
		"one key":     table + "b:\n  <<: *a\n",
		"many keys":   table + "b:\n" + strings.Repeat("  <<: *a\n", n),
		"one list":    table + "b:\n  <<: [" + strings.Repeat("*a, ", n) + "]\n",
		"chain":       chain,
		"many tables": table + strings.Repeat("b: {<<: *a}\n", n),
	}
}

// What merge keys name is counted, and each is looked up once.
func TestMergeWork(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	for name, text := range mergeKeys(3000) {
		t.Run(name, func(t *testing.T) {
			s := newSource("x.yaml", text)
			raw, err := s.parse()
			require.NoError(t, err)
			c := s.converter()
			c.node(raw[0])
			require.LessOrEqual(t, c.work, c.limit+len(text))
			_, err = Parse("x.yaml", text)
			if name == "one key" {
				require.NoError(t, err)
				require.Less(t, c.work, 5*3000)
				return
			}
			require.ErrorContains(t, err, "x.yaml:")
		})
	}
}

// A document that is read for a script ends with the evaluation of the script.
func TestParseUnder(t *testing.T) {
	stop := errors.New("stop")
	for name, text := range map[string]string{
		"list":  strings.Repeat("- a\n", 100_000),
		"items": "[" + strings.Repeat("a, ", 100_000) + "]",
		"keys":  strings.Repeat("k: v\n", 100_000),
		"wrong": strings.Repeat("k: v\n", 100_000) + "\t[",
		"text":  "a: \"" + strings.Repeat("x\n", 100_000) + "\"",
		"merge": mergeKeys(2000)["many keys"],
	} {
		calls := 0
		_, err := ParseUnder(func() error {
			if calls++; calls > 3 {
				return stop
			}
			return nil
		}, "text", text)
		require.ErrorIs(t, err, stop, name)
		require.Less(t, calls, 500, name)
	}
	docs, err := ParseUnder(func() error { return nil }, "text", "a: 1\n---\nb: 2\n")
	require.NoError(t, err)
	require.Len(t, docs, 2)
}

// A mistake far down in a long document is found without reading it again hundreds
// of times.
func TestFaultyLineWork(t *testing.T) {
	text := strings.Repeat("key: value\n", 100_000) + "\tx: [\n"
	reads := 0
	_, err := ParseUnder(func() error { reads++; return nil }, "x.yaml", text)
	require.ErrorContains(t, err, "x.yaml:100001")
	require.Less(t, reads*4096, 30*len(text))
}
