package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

func TestChangeLine(t *testing.T) {
	mtime := time.Date(2026, 2, 3, 4, 5, 6, 7_000, time.UTC)
	file := Version{Kind: safepath.Regular, Mode: 0o4755, UID: 1, GID: 2, Size: 3, MTime: mtime, Dev: 1 << 63, Ino: 5, Object: "ab", Unkept: `it is "large"`}
	link := Version{Kind: safepath.Symlink, Mode: 0o777, MTime: mtime, Target: "\xff"}
	for _, c := range []Change{
		{Path: "/f"},
		{Path: "/ä <&> \u2028\n\"", Resource: "file#/f", Content: true, Sensitive: true, Before: file, Next: &file, After: &link},
		{Path: "/\xff\xfe", Before: link, After: &Version{}},
	} {
		text, err := changeLine{changeProtocol, &c}.appendJSON(nil)
		require.NoError(t, err)
		require.NotContains(t, string(text), "\n")
		var back Change
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, c, back)
		require.NoError(t, recordReader{new(Record), make(map[Name]int), make(map[Name][]int), true}.line(text))
	}
	text, err := changeLine{changeProtocol, &Change{Path: "/\xff", Resource: "file#/f", Before: file, Content: true, After: &Version{}}}.appendJSON(nil)
	require.NoError(t, err)
	require.Equal(t, `{"protocol":"io.choria.ccm.v1.session.change","path":{"base64":"L/8="},"resource":"file#/f","before":`+
		`{"kind":"file","mode":"4755","uid":1,"gid":2,"size":3,"mtime":"2026-02-03T04:05:06.000007Z","dev":9223372036854775808,"ino":5,"object":"ab","unkept":"it is \"large\""}`+
		`,"content":true,"after":{"kind":"absent"}}`, string(text))

	_, err = changeLine{changeProtocol, &Change{Path: "/f", Before: Version{Kind: safepath.Regular, MTime: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}}}.appendJSON(nil)
	require.Error(t, err, "nobody could read it")
}

func TestDeclaredLine(t *testing.T) {
	for _, d := range []catalogEntry{
		{ID: "a#b", Type: "a"},
		{ID: "a#\"<\xc3\xa4", Type: "a", File: "/s.lua", Line: 3, Properties: json.RawMessage(`{"name":"b"}`)},
		{ID: "a#b", Type: "a", Ciphertext: []byte{0, 255}, Lazy: true},
	} {
		line, err := d.appendLine(nil)
		require.NoError(t, err)
		var back catalogEntry
		require.NoError(t, json.Unmarshal(line, &back))
		require.Equal(t, d, back)
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(d))
		require.Equal(t, want.String(), string(line))
	}
}

func TestWishLine(t *testing.T) {
	for _, w := range []lastApplied{
		{},
		{id: "file#/etc/motd", spec: 1, whole: 1<<64 - 1, digest: resource.DesiredDigest{Text: "0123456789abcdef"}},
		{id: "file#/a b \"\\ \xff\n ä", spec: 0xabcdef, digest: resource.DesiredDigest{Text: `"`}},
	} {
		line := string(w.append(nil))
		require.Equal(t, fmt.Sprintf("%016x %016x %s %s", w.spec, w.whole, strconv.Quote(w.digest.Text), strconv.Quote(w.id)), line)
		back, err := parseLastApplied(line)
		require.NoError(t, err)
		require.Equal(t, w, back)
		for i := range line {
			_, err := parseLastApplied(line[:i])
			require.Error(t, err, line[:i])
		}
		_, err = parseLastApplied(line + "x")
		require.Error(t, err)
	}
}

// Records of desired states are found in any order of queries.
func TestWishes(t *testing.T) {
	var text []byte
	for i := range 10 {
		text = append(lastApplied{id: fmt.Sprint("a#", i), spec: uint64(i)}.append(text), '\n')
	}
	for _, order := range [][]int{{0, 1, 2, 9}, {3, 2, 1, 0, 9}, {5, 5}, {-1, 4}, {9, 0}} {
		w, damaged := readLastApplied(string(text))
		require.False(t, damaged)
		for _, i := range order {
			x, ok := w.find(fmt.Sprint("a#", i))
			require.Equal(t, i >= 0, ok)
			require.EqualValues(t, max(i, 0), x.spec)
		}
	}
	for _, end := range []string{"nonsense\n", "nonsense", strings.Repeat("nonsense", 200)} {
		w, damaged := readLastApplied(string(text) + end)
		require.True(t, damaged)
		require.Len(t, w.list, 10)
	}
	w, damaged := readLastApplied("")
	require.False(t, damaged)
	require.Empty(t, w.list)
}
