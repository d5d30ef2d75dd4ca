package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var formatConstants = map[string]any{
	"n": int64(7), "neg": int64(-42), "big": int64(1234567), "foo": "ab", "x": 1.5, "y": 10.5, "z": -0.0001234, "it": "it's", "w": int64(6),
	"l": []any{int64(1), "a"}, "d": map[string]any{"k": "v"},
}

// TestFormatSpecs holds formats against what Python 3.11 makes of them.
func TestFormatSpecs(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"{n:03d}", "007"},
		{"{foo!s:>6}", "    ab"},
		{"{n:>6}", "     7"},
		{"{n:<6}|", "7     |"},
		{"{foo:<6}|", "ab    |"},
		{"{foo:^7}|", "  ab   |"},
		{"{foo:*^7}", "**ab***"},
		{"{foo:.1}", "a"},
		{"{foo:5.1}|", "a    |"},
		{"{n:+}", "+7"},
		{"{neg:+}", "-42"},
		{"{n: d}", " 7"},
		{"{neg:06d}", "-00042"},
		{"{n:x}", "7"},
		{"{big:X}", "12D687"},
		{"{big:#x}", "0x12d687"},
		{"{n:b}", "111"},
		{"{n:#010b}", "0b00000111"},
		{"{n:o}", "7"},
		{"{big:,}", "1,234,567"},
		{"{big:_}", "1_234_567"},
		{"{big:012,}", "0,001,234,567"},
		{"{x:.2f}", "1.50"},
		{"{x:08.3f}", "0001.500"},
		{"{x:e}", "1.500000e+00"},
		{"{x:g}", "1.5"},
		{"{x:%}", "150.000000%"},
		{"{x:.0%}", "150%"},
		{"{y}", "10.5"},
		{"{y:.1f}", "10.5"},
		{"{n:.2f}", "7.00"},
		{"{n:f}", "7.000000"},
		{"{z:.2e}", "-1.23e-04"},
		{"{z:g}", "-0.0001234"},
		{"{it!r}", "\"it's\""},
		{"{foo!r:>8}", "    'ab'"},
		{"{foo!a}", "'ab'"},
		{"{n!s:>4}", "   7"},
		{"{n!r:<4}|", "7   |"},
		{"{foo:{w}}|", "ab    |"},
		{"{n:0{w}d}", "000007"},
		{"{l[0]:03}", "001"},
		{"{d[k]:>3}", "  v"},
		{"{foo:05}", "ab000"},
		{"{neg:=6}", "-   42"},
		{"{neg:0=6}", "-00042"},
		{"{n:c}", "\u0007"},
		{"{n:*>5d}", "****7"},
		{"{x:10}|", "       1.5|"},
		{"{x:<10}|", "1.5       |"},
		{"{big:.3g}", "1.23e+06"},
		{"{foo:é>5}", "éééab"},
	} {
		got, err := format(x.text, formatConstants)
		require.NoError(t, err, x.text)
		require.Equal(t, x.want, got, x.text)
	}
}

func TestFormatMistakes(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"{foo:03d}", `expected a number for this format, got the text "ab" in {foo:03d}`},
		{"{n:q}", `expected a format such as 03d, >6 or .2f, got "q" in {n:q}`},
		{"{n!x}", `expected !s, !r or !a in {n!x}, got "!x"`},
		{"{x:d}", "expected an integer for the format d, got 1.5 in {x:d}"},
		{"{n:.2d}", "precision is not allowed for integers in {n:.2d}"},
		{"{n:99999999}", "expected a width of at most 10000, got 99999999 in {n:99999999}"},
		{"{n:{nosuch}}", `no constant "nosuch" in {n:{nosuch}}`},
		{"{n:{w:{w}}}", "missing } after {"},
		{"{l:>3}", "expected a string or number constant in {l:>3}, got"},
	} {
		_, err := format(x.text, formatConstants)
		require.ErrorContains(t, err, x.want, x.text)
	}
}

// FuzzFormat: no text causes a panic, and the output is bounded.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{"{n:03d}", "{foo!s:>6}", "{n:{w}}", "{x:.2f} {big:012,}", "{l[0]!r:é^9}", "}{", "{n:.99999f}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := format(text, formatConstants)
		if err == nil && len(out) > (4*maxWidth+400)*(len(text)+1) {
			t.Fatalf("%d bytes from %q", len(out), text)
		}
	})
}
