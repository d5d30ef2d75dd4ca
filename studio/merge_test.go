package studio

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMerged(t *testing.T) {
	base := "a\nb\nc\nd\ne\n"
	chunks, n := merged(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n")
	require.Zero(t, n)
	require.Equal(t, []Chunk{{Text: "A\nb\nc\nd\nE\nf\n"}}, chunks)

	chunks, n = merged(base, "a\nb\nmine\nd\ne\n", "a\nb\ntheirs\nd\nE\n")
	require.Equal(t, 1, n)
	require.Equal(t, []Chunk{{Text: "a\nb\n"}, {Conflict: true, Base: "c\n", PageText: "mine\n", DiskText: "theirs\n"}, {Text: "d\nE\n"}}, chunks)

	chunks, n = merged(base, "a\nsame\nc\nd\ne\n", "a\nsame\nc\nd\ne\n")
	require.Zero(t, n, "both did the same")
	require.Equal(t, []Chunk{{Text: "a\nsame\nc\nd\ne\n"}}, chunks)

	chunks, n = merged("no end", "no end", "no end\nmore")
	require.Zero(t, n)
	require.Equal(t, []Chunk{{Text: "no end\nmore"}}, chunks)
	chunks, _ = merged("", "", "")
	require.Empty(t, chunks)
}

// TestMergedKeepsAll: both versions can be restored from the chunks of a merge.
func TestMergedKeepsAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	change := func(lines []string) string {
		out := ""
		for _, l := range lines {
			switch random.IntN(8) {
			case 0:
			case 1:
				out += "x" + l
			case 2:
				out += l + "new\n"
			default:
				out += l
			}
		}
		return out
	}
	for range 2000 {
		var lines []string
		for range random.IntN(12) {
			lines = append(lines, string(rune('a'+random.IntN(6)))+"\n")
		}
		base := strings.Join(lines, "")
		other := change(lines)
		for _, sides := range [][2]string{{base, other}, {other, base}, {other, other}} {
			chunks, n := merged(base, sides[0], sides[1])
			require.Zero(t, n)
			text := ""
			for _, c := range chunks {
				text += c.Text
			}
			require.Equal(t, other, text)
		}
		mine := change(lines)
		chunks, n := merged(base, mine, other)
		found, bases := 0, 0
		for _, c := range chunks {
			if c.Conflict {
				found++
				bases += len(c.Base)
				require.NotEqual(t, c.PageText, c.DiskText)
				require.Contains(t, mine, c.PageText)
				require.Contains(t, other, c.DiskText)
			}
		}
		require.Equal(t, found, n)
		require.LessOrEqual(t, bases, len(base))
	}
}

// FuzzMerged: a change by one side is taken, both versions can be restored, and a conflict contains no lines that
// both sides have in common.
func FuzzMerged(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n")
	f.Add("a", "a\n", "b\r\na")
	f.Add("", "x\n", "y")
	f.Fuzz(func(t *testing.T, base, mine, theirs string) {
		if len(base)+len(mine)+len(theirs) > 1<<12 {
			return
		}
		text := func(chunks []Chunk, side func(Chunk) string) (out string, conflicts int) {
			for _, c := range chunks {
				if c.Conflict {
					require.NotEqual(t, c.PageText, c.DiskText)
					out += side(c)
					conflicts++
				} else {
					out += c.Text
				}
			}
			return out, conflicts
		}
		chunks, n := merged(base, mine, theirs)
		_, found := text(chunks, func(c Chunk) string { return c.PageText })
		require.Equal(t, found, n)
		turned, m := merged(base, theirs, mine)
		require.Equal(t, n, m, "who is who makes no difference")
		a, _ := text(chunks, func(c Chunk) string { return c.PageText })
		b, _ := text(turned, func(c Chunk) string { return c.DiskText })
		require.Equal(t, a, b)
		for _, sides := range [][3]string{{base, theirs, theirs}, {mine, base, mine}, {mine, mine, mine}} {
			chunks, n := merged(base, sides[0], sides[1])
			require.Zero(t, n)
			all, _ := text(chunks, nil)
			require.Equal(t, sides[2], all)
		}
	})
}
