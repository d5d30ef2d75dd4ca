package pattern

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// show returns the matched text and the captures.
func show(s string, m Match, ok bool) string {
	if !ok {
		return "-"
	}
	out := fmt.Sprintf("%q", s[m.Start:m.End])
	for _, c := range m.Captures {
		if c.IsPosition() {
			out += fmt.Sprintf(" @%d", c.Start+1)
			continue
		}
		out += fmt.Sprintf(" %q", s[c.Start:c.End])
	}
	return out
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ s, p, want string }{
		{"hello world", "o w", `"o w"`},
		{"hello", "", `""`},
		{"hello", "xyz", "-"},
		{"hello", "l+", `"ll"`},
		{"hello", "l*", `""`},
		{"hello", "hel-o", `"hello"`},
		{"hello", "x?h", `"h"`},
		{"hello", "^ello", "-"},
		{"hello", "^hell", `"hell"`},
		{"hello", "llo$", `"llo"`},
		{"hello", "hell$", "-"},
		{"a$b", "a$b", `"a$b"`},
		{"a^b", "a^b", `"a^b"`},
		{"a.b", "a%.b", `"a.b"`},
		{"key = value", "^(%w+)%s*=%s*(%w+)$", `"key = value" "key" "value"`},
		{"  trim  ", "^%s*(.-)%s*$", `"  trim  " "trim"`},
		{"2026-01-02", "(%d+)-(%d+)-(%d+)", `"2026-01-02" "2026" "01" "02"`},
		{"abc", "()b()", `"b" @2 @3`},
		{"f(a(b)c)d", "%b()", `"(a(b)c)"`},
		{"f(a(b", "%b()", "-"},
		{"THE (quick) fox", "%f[%a]%a+%f[%A]", `"THE"`},
		{"the 'q' word", `(['"])(.-)%1`, `"'q'" "'" "q"`},
		{"abab", "(ab)%1", `"abab" "ab"`},
		{"x]y", "[]]", `"]"`},
		{"x]y", "[^]]+", `"x"`},
		{"a-z", "[a-]+", `"a-"`},
		{"b", "[a-c]", `"b"`},
		{"5", "[%a%d]", `"5"`},
		{"-", "[%-]", `"-"`},
		{"a%b", "%%", `"%"`},
		{"\x00x", "%z", `"\x00"`},
		{"Abc", "%u%l%l", `"Abc"`},
		{"ab1_", "%W", `"_"`},
		{"ab1_", "%p", `"_"`},
		{"\x80\xff", "%A+", `"\x80\xff"`},
		{"a*", "(a)*", `"a*" "a"`},
		{"caf\xc3\xa9", "[\x80-\xff]+", `"é"`},
		{"a\nb", "a.b", `"a\nb"`},
		{"abcabc", "((a)(b))c", `"abc" "ab" "a" "b"`},
		{"0x1F", "%x+$", `"1F"`},
		{"x", "[%", "!"},
		{"x", "[a", "!"},
		{"x", "(a", "!"},
		{"x", "a)", "!"},
		{"x", "%", "!"},
		{"x", "%b(", "!"},
		{"x", "%fa", "!"},
		{"x", "%1", "!"},
		{"x", "(%1)", "!"},
		{"x", strings.Repeat("()", 33), "!"},
		{"x", strings.Repeat("a", maxItems+1), "!"},
	} {
		p, err := Compile(tt.p, true)
		if tt.want == "!" {
			require.Error(t, err, tt.p)
			continue
		}
		require.NoError(t, err, tt.p)
		m, ok, err := p.Find(tt.s, 0, &Budget{Steps: 1e6}, nil)
		require.NoError(t, err, tt.p)
		require.Equal(t, tt.want, show(tt.s, m, ok), "%q in %q", tt.p, tt.s)
	}
}

func TestAnchorOfGmatchIsALetter(t *testing.T) {
	p, err := Compile("^a", false)
	require.NoError(t, err)
	m, ok, err := p.Find("a^a", 0, &Budget{Steps: 100}, nil)
	require.NoError(t, err)
	require.Equal(t, `"^a"`, show("a^a", m, ok))
}

func TestBudget(t *testing.T) {
	text := strings.Repeat("a", 28)
	for _, tt := range []struct{ s, p string }{
		{text, strings.Repeat("a?", 28) + text + "b"},
		{strings.Repeat("()a", 2000), "(.-)(.-)(.-)(.-)(.-)(.-)x"},
		{strings.Repeat("()a", 2000), ".*.*.*.*.*.*.*.*x"},
		{strings.Repeat("(", 20_000), "%b()"},
	} {
		c, err := Compile(tt.p, true)
		require.NoError(t, err)
		_, _, err = c.Find(tt.s, 0, &Budget{Steps: 1e6}, nil)
		require.ErrorIs(t, err, ErrTooComplex, tt.p)
	}
}

func TestCheckIsAsked(t *testing.T) {
	stop := errors.New("stop")
	asked := 0
	b := Budget{Steps: 1 << 30, Check: func() error {
		if asked++; asked == 3 {
			return stop
		}
		return nil
	}}
	c, err := Compile(".-.-.-.-x", true)
	require.NoError(t, err)
	_, _, err = c.Find(strings.Repeat("a", 10_000), 0, &b, nil)
	require.ErrorIs(t, err, stop)
	require.Equal(t, 3, asked)
	require.Greater(t, b.Steps, 1<<30-4*checkEvery-10_000)
}

func FuzzFind(f *testing.F) {
	f.Add("key = value", "^(%w+)%s*=%s*(.-)$", 0)
	f.Add("f(a)", "%b()%f[%w]()", 1)
	f.Fuzz(func(t *testing.T, s, p string, init int) {
		c, err := Compile(p, true)
		if err != nil || init < 0 || init > len(s) {
			return
		}
		m, ok, err := c.Find(s, init, &Budget{Steps: 1e5}, nil)
		if err != nil || !ok {
			return
		}
		if m.Start < init || m.End < m.Start || m.End > len(s) {
			t.Fatalf("match of %q in %q from %d to %d", p, s, m.Start, m.End)
		}
		for _, c := range m.Captures {
			if !c.IsPosition() && (c.Start < m.Start || c.End < c.Start || c.End > m.End) {
				t.Fatalf("capture of %q in %q from %d to %d", p, s, c.Start, c.End)
			}
		}
	})
}
