package splice_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

func TestApply(t *testing.T) {
	got, err := splice.Apply("one two three", []splice.Splice{{From: 8, To: 13, Text: "3"}, {From: 0, To: 3, Text: "1"}, {From: 3, To: 3, Text: "."}})
	require.NoError(t, err)
	require.Equal(t, "1. two 3", got)
	for _, bad := range [][]splice.Splice{{{From: -1, To: 0}}, {{From: 2, To: 1}}, {{From: 0, To: 14}}, {{From: 0, To: 2}, {From: 1, To: 3}}} {
		_, err := splice.Apply("one two three", bad)
		require.Error(t, err, "%v", bad)
	}
}

// TestJoin: the joined splices give the same text as the splices one after another.
func TestJoin(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := strings.Repeat("abcdefgh", 3)
		now := text
		var list []splice.Splice
		for range random.IntN(6) {
			from := random.IntN(len(now) + 1)
			s := splice.Splice{From: from, To: from + random.IntN(len(now)-from+1), Text: "ABCDEFGH"[:random.IntN(5)]}
			list = append(list, s)
			now = now[:s.From] + s.Text + now[s.To:]
		}
		joined := splice.Join(text, list)
		got, err := splice.Apply(text, joined)
		require.NoError(t, err, "%v becomes %v", list, joined)
		require.Equal(t, now, got, "%v becomes %v", list, joined)
		for i := 1; i < len(joined); i++ {
			require.Greater(t, joined[i].From, joined[i-1].To, "%v", joined)
		}
	}
}

func TestUTF16(t *testing.T) {
	text := "aé€😀b\xffc"
	units := []int{0, 1, 2, 3, 5, 6, 7, 8}
	bytes := []int{0, 1, 3, 6, 10, 11, 12, 13}
	for i := range bytes {
		require.Equal(t, []splice.Splice{{From: units[i], To: 8}}, splice.UTF16(text, []splice.Splice{{From: bytes[i], To: len(text)}}))
		require.Equal(t, []splice.Splice{{From: bytes[i], To: len(text)}}, splice.FromUTF16(text, []splice.Splice{{From: units[i], To: 8}}))
	}
	require.Equal(t, 10, splice.FromUTF16(text, []splice.Splice{{From: 4, To: 4}})[0].From) // inside a surrogate pair
}
