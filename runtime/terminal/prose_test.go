package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProse: prose is broken between words with a hanging indent; commands and quotations are not broken.
func TestProse(t *testing.T) {
	for _, x := range []struct {
		columns    int
		head, text string
		keep       []string
		want       string
	}{
		{0, "a: ", "no terminal, however long it is", nil, "a: no terminal, however long it is"},
		{40, "a: ", "it is short", nil, "a: it is short"},
		{20, "x f: ", "failed to reach the desired state", nil, "x f: failed to reach\n    the desired\n    state"},
		{20, "x a long/head: ", "failed at once", nil, "x a long/head:      \n    failed at once"},
		{20, "", "日本語 日本語 日本語 日本語", nil, "日本語 日本語 日本語\n    日本語"}, // two columns each
		{24, "", "not believed (chmod o-w /srv/my, or not)", nil, "not believed\n    (chmod o-w /srv/my,\n    or not)"},
		{23, "", "run ccm run --sudo x.lua or do it", nil, "run\n    ccm run --sudo x.lua\n    or do it"},
		{20, "", `it wants "two words of it" here`, nil, "it wants\n    \"two words of it\"\n    here"},
		{20, "", `it's so that one is "not closed at all`, nil, "it's so that one is\n    \"not closed at\n    all"},
		{24, "", "see file { x, mode = ... } there", nil, "see\n    file { x, mode = ... }\n    there"},
		{24, "", "because file#/my own dir/f has changed", []string{"file#/my own dir/f"}, "because\n    file#/my own dir/f\n    has changed"},
		{24, "", "sh -c 'exit 3' of that: exit status 3: it is so bad", nil, "sh -c 'exit 3' of that:\n    exit status 3: it is\n    so bad"},
		{10, "", "a /path/that/is/far/too/long b", nil, "a\n    /path/that/is/far/too/long\n    b"},
		{16, "", "the first line is long\nthe others are left alone", nil, "the first line\n    is long\nthe others are left alone"},
	} {
		got := prose(x.columns, LineText(x.head), LinesText(x.text), func() []string { return x.keep })
		want := strings.ReplaceAll(x.want, ":      \n", ": \n")
		require.Equal(t, want, got.String())
		blank := strings.NewReplacer(" ", "", "\n", "")
		require.Equal(t, blank.Replace(x.head+x.text), blank.Replace(got.String()))
	}
	styled := Sprintf("%s to reach it", Red.Paint(LineText("failed")))
	require.Equal(t, styled, prose(20, Text{}, styled, nil), "styles take no room")
}

// TestBeside: further lines are below the first word, unless there is too little room.
func TestBeside(t *testing.T) {
	head, text := LineText("warning  clock     "), LineText("nothing keeps the time of this machine right")
	require.Equal(t, "warning  clock     nothing keeps the time of this machine right", hangingIndent(0, head, text).String())
	require.Equal(t, "warning  clock     nothing keeps the time of\n                   this machine right", hangingIndent(44, head, text).String())
	require.Equal(t, "warning  clock     nothing keeps the time\n    of this machine right", hangingIndent(42, head, text).String())
}

func TestFit(t *testing.T) {
	page := "It does this, and\nthat as well.\n\nFlags:\n      --long NAME   what it is good for, in a few words\n  ccm run site.lua     make it so\n"
	require.Equal(t, page, fit(0, page).String())
	require.Equal(t, page, fit(60, page).String())
	require.Equal(t, "It does this, and\nthat as well.\n\nFlags:\n      --long NAME   what it is good for, in\n                    a few words\n  ccm run site.lua     make it so\n", fit(44, page).String())
	require.Equal(t, "It does this,\nand that as\nwell.\n\nFlags:\n      --long NAME\n          what\n          it is\n          good\n          for,\n          in a\n          few\n          words\n  ccm run site.lua\n      make it so\n", fit(19-3, page).String())
	require.NotContains(t, fit(30, "a\x1b[2Jb "+page).String(), "\x1b")
}

func FuzzProse(f *testing.F) {
	f.Add("x f: ", "failed to \"reach\" ccm run { it } --a b: exit status 3", 12)
	f.Fuzz(func(t *testing.T, head, text string, columns int) {
		got := prose(columns%200, LineText(head), LineText(text), func() []string { return []string{"a b", ""} }).String()
		requireHarmless(t, got, true)
		blank := strings.NewReplacer(" ", "", "\n", "")
		require.Equal(t, blank.Replace(Line(head)+Line(text)), blank.Replace(got))
	})
}
