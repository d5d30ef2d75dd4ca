package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
)

func TestMark(t *testing.T) {
	require.Equal(t, resource.SourceStat("12"), resource.SourceStatOf(12, ""))
	require.Equal(t, resource.SourceStat("0 x"), resource.SourceStatOf(0, "x"))
	for mark, want := range map[resource.SourceStat]int64{"": -1, "0": 0, "0 x": 0, "12 x": 12, "x": -1, " x": -1} {
		size, ok := mark.Size()
		require.Equal(t, want >= 0, ok, mark)
		require.Equal(t, max(want, 0), size, mark)
	}
	for _, x := range []struct {
		first, other resource.SourceStat
		same, known  bool
	}{
		{"", "", false, false},
		{"5", "", false, false},
		{"5", "5", true, false},
		{"5", "6", false, true},
		{"5 a", "6 a", false, true},
		{"5 a", "5 a", true, true},
		{"5 a", "5 b", true, false},
		{"5 a", "5", true, false},
	} {
		for range 2 {
			same, known := x.first.Same(x.other)
			require.Equal(t, x.known, known, x)
			if known {
				require.Equal(t, x.same, same, x)
			}
			x.first, x.other = x.other, x.first
		}
	}
}

// Earlier and present digests are compared, and a slow digest is computed only if nothing else decides.
func TestDesiredDigestSame(t *testing.T) {
	type digestState = resource.DesiredDigest
	for name, x := range map[string]struct {
		then, now digestState
		text      string
		same      bool
		asks      bool
	}{
		"nothing is known of then":                 {digestState{}, digestState{Text: "a", Stat: "5 x"}, "", true, false},
		"nothing is known of now":                  {digestState{Text: "a", Stat: "5 x"}, digestState{}, "b", true, false},
		"the texts are equal":                      {digestState{Text: "a"}, digestState{Text: "a"}, "", true, false},
		"the texts are not":                        {digestState{Text: "a"}, digestState{Text: "b"}, "", false, false},
		"another size":                             {digestState{Text: "a", Stat: "5 x"}, digestState{Stat: "6 y"}, "", false, false},
		"another size, and no stamps":              {digestState{Text: "a", Stat: "5"}, digestState{Stat: "6"}, "", false, false},
		"the same stamp":                           {digestState{Text: "a", Stat: "5 x"}, digestState{Stat: "5 x"}, "", true, false},
		"another stamp of the same":                {digestState{Text: "a", Stat: "5 x"}, digestState{Stat: "5 y"}, "a", true, true},
		"another stamp of something else":          {digestState{Text: "a", Stat: "5 x"}, digestState{Stat: "5 y"}, "b", false, true},
		"no stamp":                                 {digestState{Text: "a", Stat: "5"}, digestState{Stat: "5"}, "b", false, true},
		"another stamp, and it is known already":   {digestState{Text: "a", Stat: "5 x"}, digestState{Text: "b", Stat: "5 y"}, "", false, false},
		"another stamp, and nobody knows of what":  {digestState{Stat: "5 x"}, digestState{Stat: "5 y"}, "b", true, false},
		"another stamp, and nobody can tell":       {digestState{Text: "a", Stat: "5 x"}, digestState{Stat: "5 y"}, "", true, true},
		"recorded without a mark, the same":        {digestState{Text: "a"}, digestState{Stat: "5 x"}, "a", true, true},
		"recorded without a mark, something else":  {digestState{Text: "a"}, digestState{Stat: "5 x"}, "b", false, true},
		"the same with another value of later":     {digestState{Text: "a", Stat: "5 x", LazyValues: "1"}, digestState{Stat: "5 x", LazyValues: "2"}, "a", false, false},
		"the same with a value of later":           {digestState{Text: "a", Stat: "5 x", LazyValues: "1"}, digestState{Stat: "5 x", LazyValues: "1"}, "", true, false},
		"another one with the same value of later": {digestState{Text: "a", LazyValues: "1"}, digestState{Stat: "5 x", LazyValues: "1"}, "b", false, true},
		"a value of later that was unknown":        {digestState{Text: "a"}, digestState{Text: "a", LazyValues: "1"}, "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := false
			same := x.now.Same(x.then, func() string { asked = true; return x.text })
			require.Equal(t, x.same, same)
			require.Equal(t, x.asks, asked)
		})
	}
}

func TestSizeText(t *testing.T) {
	require.Equal(t, "0 bytes", resource.SizeText(0))
	require.Equal(t, "268435456 bytes", resource.SizeText(256<<20))
	for text, want := range map[string]bool{"": false, " bytes": false, "5 bytes": true, "05 bytes": true, "x bytes": false, "-5 bytes": false, "5": false, "sha256:55": false, "5 bytes more": false} {
		require.Equal(t, want, resource.IsSizeText(text), text)
	}
}
