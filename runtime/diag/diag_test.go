package diag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestPosString(t *testing.T) {
	require.Equal(t, "-", Pos{}.String())
	require.Equal(t, "a.lua", Pos{File: "a.lua"}.String())
	require.Equal(t, "a.lua:3", Pos{File: "a.lua", Line: 3}.String())
	require.Equal(t, "a.lua:3:4", Pos{File: "a.lua", Line: 3, Col: 4}.String())
}

// Render prints the forms that the package comment describes.
func TestRender(t *testing.T) {
	src := func(string) (string, bool) { return "file {\n  mdoe = \"0644\",\n\tx = 1,\n}\n", true }
	var list List
	list.Add(&Error{Pos: Pos{File: "site.lua", Line: 3, Col: 2, Len: 1}, Err: errors.New("bad"), Notes: []Note{{Pos{File: "b.lua", Line: 1}, "called from here"}}})
	list.Add(&Error{Pos: Pos{"site.lua", 2, 3, 4}, Subject: "file#/etc/motd", Err: errors.New(`unknown property "mdoe"`), Hint: `did you mean "mode"?`})
	list.Add(errors.New("no place"))
	var b strings.Builder
	Render(&b, "", list.Err(), src)
	require.Equal(t, `no place
site.lua:2:3: file#/etc/motd: unknown property "mdoe" (did you mean "mode"?)
  2 |   mdoe = "0644",
    |   ^^^^
site.lua:3:2: bad
  3 | `+"\tx = 1,\n    | \t^"+`
  b.lua:1: called from here
`, b.String())
}

func TestListKeepsEverythingOnce(t *testing.T) {
	one := Errorf(Pos{File: "a", Line: 1}, "one")
	var inner List
	inner.Add(one)
	var list List
	list.Add(nil)
	list.Add(errors.Join(inner.Err(), Errorf(Pos{File: "a", Line: 1}, "one"), fmt.Errorf("two")))
	require.EqualError(t, list.Err(), "two\na:1: one")
	require.ErrorIs(t, list.Err(), one)
	require.NoError(t, List(nil).Err())
}

func TestNearest(t *testing.T) {
	props := []string{"name", "ensure", "content", "source", "owner", "group", "mode", "require", "subscribe"}
	for typo, want := range map[string]string{
		"mdoe": "mode", "Mode": "mode", "contents": "content", "conten": "content", "ownr": "owner",
		"user": "", "requires": "require", "sub": "subscribe", "zz": "", "": "",
	} {
		require.Equal(t, want, Nearest(typo, props), typo)
	}
	require.Equal(t, "ab", Nearest("ba", []string{"zz", "ab"}))
}

func TestMisspelling(t *testing.T) {
	for word, want := range map[string]string{
		"prot": "port", "Port": "port", "prt": "", "ports": "", "host": "", "home": "", "uid": "", "gdi": "gid", "membrship": "membership", "membrshp": "membership", "port": "",
	} {
		require.Equal(t, want, Misspelling(word, []string{"name", "port", "gid", "membership"}), word)
	}
}

// For a property with one letter removed, replaced or inserted, the hint is right in at least 95 % of all cases.
func TestNearestFindsSlips(t *testing.T) {
	props := []string{"name", "ensure", "content", "contents", "source", "content_once", "owner", "group", "mode", "force", "alias",
		"provider", "require", "before", "notify", "subscribe", "health_checks", "command", "cwd", "environment", "path", "returns",
		"timeout", "creates", "onlyif", "unless", "refreshonly", "logoutput"}
	tried, found := 0, 0
	try := func(typo, want string) {
		if slices.Contains(props, typo) {
			return
		}
		tried++
		if Nearest(typo, props) == want {
			found++
		}
	}
	for _, p := range props {
		for i := range p {
			try(p[:i]+p[i+1:], p)
			try(p[:i]+"x"+p[i:], p)
			if i > 0 && p[i] != p[i-1] {
				try(p[:i-1]+string(p[i])+string(p[i-1])+p[i+1:], p)
			}
		}
	}
	require.Greater(t, found*100, tried*95, "%d of %d", found, tried)
}

// Of a long line only the part around the position is printed, and of many mistakes the first MaxShown.
func TestRenderBounds(t *testing.T) {
	line := strings.Repeat("ä", 1000) + "here" + strings.Repeat("ö", 1000)
	src := func(string) (string, bool) { return "x\n" + line, true }
	for _, col := range []int{0, 1, 7, 2001, 2005, len(line), len(line) + 1, len(line) + 2} {
		var out strings.Builder
		Render(&out, "", Errorf(Pos{File: "f", Line: 2, Col: col, Len: 4}, "wrong"), src)
		require.Less(t, out.Len(), 1500)
		require.True(t, utf8.ValidString(out.String()), "%d", col)
		if col == 2001 {
			lines := strings.Split(out.String(), "\n")
			at := strings.Index(lines[2], "^^^^")
			require.Equal(t, "here", string([]rune(lines[1])[at:at+4]))
		}
	}
	var list List
	for i := range 1000 {
		list.Add(Errorf(Pos{File: "f", Line: i + 1}, "wrong"))
	}
	var out strings.Builder
	Render(&out, "ccm: ", list, nil)
	require.Equal(t, MaxShown+1, strings.Count(out.String(), "\n"))
	require.True(t, strings.HasSuffix(out.String(), "\nccm: and 900 more mistakes\n"))
}

// The caret is below its letter even after tabs, wide letters and escaped characters.
func TestRenderColumns(t *testing.T) {
	line := "\ta\x1b日本 = here\u202e"
	var out strings.Builder
	Render(&out, "", &Error{Pos: Pos{File: "f\n", Line: 1, Col: strings.Index(line, "here") + 1, Len: 4}, Subject: "file#/a\nb", Err: errors.New("bad\r\nx ok")}, func(string) (string, bool) { return line, true })
	require.Equal(t, `f\n:1:13: file#/a\nb: bad
    x ok
  1 | `+"\t"+`a\x1b日本 = here\u202e
    | `+"\t            ^^^^\n", out.String())
}
