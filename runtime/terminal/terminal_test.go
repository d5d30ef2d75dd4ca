package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"plain text, 100%":              "plain text, 100%",
		"\x1b]0;title\a":                `\x1b]0;title\a`,
		"a\r\nb\tc":                     `a\r\nb\tc`,
		"\x00\b\v\f\x7f":                `\x00\b\v\f\x7f`,
		"\x9b2J \u009b2J":               `\x9b2J \u009b2J`,
		"\u202egnp\u2069 \u2028 \ufeff": `\u202egnp\u2069 \u2028 \ufeff`,
		"\xc3(\xff":                     `\xc3(\xff`,
		"äöü 日本語 🙂 \ufffd":              "äöü 日本語 🙂 \ufffd",
		"👩\u200d💻 می\u200cخواهم":        "👩\u200d💻 می\u200cخواهم",
		"\U000e0041":                    `\U000e0041`,
		`C:\x1b`:                        `C:\x1b`,
		"12345678\x1b":                  `12345678\x1b`,
		"1234567ä\u202e":                `1234567ä\u202e`,
	} {
		require.Equal(t, want, Line(text), "%q", text)
	}
	require.Equal(t, "a\\r\n\tb", Lines("a\r\n\tb"))
	require.Equal(t, "a\n  b\n  \\rc", Indented(" a\r\nb\n\rc\n", "  "))
	require.Equal(t, "a\n\tb\n   c", Indented("a\n\tb\n   c", "  "))
	require.Equal(t, "a\n  \tb\n  c", Indented("a\n\tb\nc", "  "))
}

// Any byte in any position of a text is harmless in the output, and the rest of the text is unchanged.
func TestEveryByteEverywhere(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := []byte(strings.Repeat("x", length))
				text[at] = byte(c)
				got := Line(string(text))
				requireHarmless(t, got, false)
				require.True(t, strings.HasPrefix(got, string(text[:at])) && strings.HasSuffix(got, string(text[at+1:])))
				require.Equal(t, c >= ' ' && c < 0x7f, got == string(text))
			}
		}
	}
}

// requireHarmless fails the test if a terminal would act on a text.
func requireHarmless(t *testing.T, text string, lines bool) {
	t.Helper()
	require.True(t, utf8.ValidString(text), "%q", text)
	for _, r := range text {
		if lines && (r == '\n' || r == '\t') {
			continue
		}
		require.False(t, unicode.IsControl(r), "%q", text)
		require.False(t, unicode.Is(unicode.Bidi_Control, r), "%q", text)
		require.NotContains(t, "\u2028\u2029\ufeff\u200b", string(r), "%q", text)
	}
}

type word string

type number int

func (number) String() string { return "\x1bseven" }

func TestSprintf(t *testing.T) {
	evil := "\x1b[2J\n"
	require.Equal(t, `a \x1b[2J\n b`, Sprintf("a %s b", evil).String())
	require.Equal(t, `\x1b[2J\n`, Sprintf("%v", word(evil)).String())
	require.Equal(t, `bad \x1b[2J\n 7`, Sprintf("%v %d", errors.New("bad "+evil), number(7)).String())
	require.Equal(t, `\x1bseven`, Sprintf("%s", number(7)).String())
	require.Equal(t, `"\x1b[2J\n"`, Sprintf("%q", evil).String())
	require.Equal(t, `[\x1b[2J\n]`, Sprintf("%v", []string{evil}).String())
	require.Equal(t, `{X:\x1b[2J\n}`, Sprintf("%+v", struct{ X string }{evil}).String())
	require.Equal(t, `[  \r][\r  ]`, Sprintf("[%4s][%-4s]", "\r", "\r").String(), "the width is that of what is shown")
	require.Equal(t, "1 x true 0.5", Sprintf("%d %s %v %.1f", 1, "x", true, 0.5).String())
	args := []any{evil}
	_ = Sprintf("%s", args...)
	require.Equal(t, evil, args[0], "the arguments are left alone")
}

func TestStyles(t *testing.T) {
	red := Red.Paint(LineText("\x1b[32mgreen"))
	require.Equal(t, "\x1b[31m\\x1b[32mgreen\x1b[0m", red.String())
	require.Equal(t, "it is "+red.String(), Sprintf("it is %s", red).String())
	require.Equal(t, "x", Red.On(false).Paint(LineText("x")).String())
	require.Equal(t, "", Red.Paint(Text{}).String())
	require.Equal(t, "a, b", Join([]Text{LineText("a"), LineText("b")}, ", ").String())
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	fmt.Fprintf(w, "%s", "\x1b[31mred\x1b[0m\r\n\ttab ")
	Fprintf(w, "%s\n", Red.Paint(LineText("ours")))
	require.Equal(t, "\\x1b[31mred\\x1b[0m\\r\n\ttab \x1b[31mours\x1b[0m\n", b.String())

	// A character may be split between two writes.
	b.Reset()
	for _, c := range []byte("ä日🙂\u009b\xffx\xe2\x80") {
		n, err := w.Write([]byte{c})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.Equal(t, `ä日🙂\u009b\xffx`, b.String())
	_, err := w.Print(LineText("|"))
	require.NoError(t, err)
	require.Equal(t, `ä日🙂\u009b\xffx\xe2\x80|`, b.String())
	_, _ = w.Write([]byte("\xe2"))
	require.NoError(t, w.Flush())
	require.True(t, strings.HasSuffix(b.String(), `|\xe2`))
}

func TestLog(t *testing.T) {
	say := func(color bool, do func(*slog.Logger)) string {
		var b bytes.Buffer
		log := slog.New(NewLogHandler(NewWriter(&b), slog.LevelInfo, color))
		do(log)
		return regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(b.String(), "TIME")
	}
	record := func(l *slog.Logger) {
		l.Debug("not told")
		l.With("a", 1).WithGroup("g").Warn("x\r\x1b[2J", "path", "/etc/motd", "text", "two words", "evil", "\x1b[95m\u202e", slog.Group("h", "error", errors.New("it's \"so\"")), "none", "")
	}
	require.Equal(t, `TIME WRN x\r\x1b[2J a=1 g.path=/etc/motd g.text="two words" g.evil="\x1b[95m\u202e" g.h.error="it's \"so\"" g.none=""`+"\n", say(false, record))
	require.Equal(t, "\x1b[2mTIME\x1b[0m \x1b[92mINF\x1b[0m \\x1b[31m \x1b[2mk=\x1b[0mv\n", say(true, func(l *slog.Logger) { l.Info("\x1b[31m", "k", "v") }))
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	text := "\x1b \u009b \u202e \u2028 \x7f \U000e0041 ä 🙂"
	enc := json.NewEncoder(JSON(&b))
	enc.SetIndent("", "\t")
	require.NoError(t, enc.Encode(map[string]string{text: text}))
	requireHarmless(t, b.String(), true)
	var back map[string]string
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Equal(t, text, back[text])
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{"plain\n", "\x1b]0;t\a", "\x9b2J", "\u202e", "a\r\n", "\xf0\x9f", "12345678\x7f"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		line, lines := Line(s), Lines(s)
		requireHarmless(t, line, false)
		requireHarmless(t, lines, true)
		require.Equal(t, line, Line(line), "what is escaped stays")
		require.Equal(t, lines, Lines(lines))
		require.Equal(t, line, Line(lines), "what is escaped for several lines can be for one")
		if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
			require.Equal(t, s, line)
		}
		var b bytes.Buffer
		w := NewWriter(&b)
		cut = max(0, min(cut, len(s)))
		_, _ = w.Write([]byte(s[:cut]))
		_, _ = w.Write([]byte(s[cut:]))
		_ = w.Flush()
		require.Equal(t, lines, b.String(), "however it is cut")
	})
}

func BenchmarkLines(b *testing.B) {
	text := strings.Repeat("x file#/etc/nginx/sites-enabled/default.conf: created the file\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_ = Lines(text)
	}
}

func TestCut(t *testing.T) {
	for _, x := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "..."}, {"abcdef", 5, "ab..."}, {"abc", 2, ".."}, {"abc", 0, ""}, {"abc", -1, ""},
		{"日本語日本語", 12, "日本語日本語"}, {"日本語日本語", 11, "日本語日..."}, {"日本語日本語", 10, "日本語..."}, // two columns each
		{"e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301e\u0301e\u0301e\u0301"}, {"e\u0301e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301..."},
		{"👩\u200d👩\u200d👧👩\u200d👩\u200d👧👩\u200d👩\u200d👧", 5, "👩\u200d👩\u200d👧..."},
	} {
		got := Cut(LineText(x.text), x.columns)
		require.Equal(t, x.want, got.String(), "%q in %d", x.text, x.columns)
		require.LessOrEqual(t, Width(got), max(0, x.columns))
	}
}

// Bytes are text, as in package fmt, and not a list of numbers.
func TestBytes(t *testing.T) {
	require.Equal(t, `{"a":"\u001b"}`+" 7", Sprintf("%s %d", []byte(`{"a":"\u001b"}`), 7).String())
	require.NotContains(t, Sprintf("%s", []byte("\x1b[31m")).String(), "\x1b")
}
