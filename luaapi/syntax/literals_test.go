package syntax

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/parse"
)

// checkLiterals compares the tree of a text whose strings were set aside with that of the parser.
func checkLiterals(t *testing.T, text string) {
	want, wantErr := parse.Parse(strings.NewReader(text), "x")
	got, err := parseShort(text, "x", 0)
	require.Equal(t, wantErr, err, "%q", text)
	require.Equal(t, want, got, "%q", text)
}

func TestLiterals(t *testing.T) {
	for _, text := range corpus(t) {
		checkLiterals(t, text)
	}
	short, literals := withoutLiterals("local a, b = [==[\none]]\n]==], 'two' -- \"no\"\n--[[ 'no' ]] f\"a\\\"b\" return a[ [[x]] ], ''", 1)
	require.Equal(t, []string{"one]]\n", "two", "x"}, literals)
	require.Equal(t, "local a, b = \"\x01ccm 0\"\n\n, \"\x01ccm 1\" -- \"no\"\n--[[ 'no' ]] f\"a\\\"b\" return a[ \"\x01ccm 2\" ], ''", short)
}

func FuzzLiterals(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(checkLiterals)
}
