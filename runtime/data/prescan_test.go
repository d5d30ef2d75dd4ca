package data

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree writes all that is known of a document.
func tree(docs []*Document) string {
	var b strings.Builder
	budget := 10_000
	var write func(n *Node, depth int)
	write = func(n *Node, depth int) {
		if budget--; budget < 0 {
			return
		}
		fmt.Fprintf(&b, "%*s%s %q %d:%d style %d size %d %v\n", depth, "", n.Kind, n.Text, n.line, n.col, n.style, n.size, n.src.annotations[n])
		for _, item := range n.Items {
			write(item, depth+1)
		}
		for _, e := range n.Entries {
			write(e.Key, depth+1)
			write(e.Val, depth+1)
		}
	}
	for _, doc := range docs {
		write(doc.Root, 0)
	}
	return b.String()
}

// worths are what is tried of every text.
var worths = []prescanLimits{
	{scalar: 3, small: 1, large: 2}, {scalar: 8, small: 20, large: 40}, {scalar: 1 << 20, small: 1, large: 2}, {scalar: 3},
}

// requireSame holds what is read of a text that was placeholder against what is read of it
// as it is. It returns how often that could be done.
func requireSame(t *testing.T, text string) (compared int) {
	t.Helper()
	var want string
	for _, worth := range worths {
		cut, ok := newSource("x", text).parsePrescannedWith(worth, 2)
		if !ok {
			continue
		}
		if want == "" {
			docs, err := newSource("x", text).parseWhole()
			require.NoError(t, err, "%q cut as %+v", text, worth)
			want = tree(docs)
		}
		compared++
		require.Equal(t, want, tree(cut), "%q cut as %+v", text, worth)
	}
	return compared
}

// FuzzCut changes texts.
func FuzzCut(f *testing.F) {
	for _, seed := range cutSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { requireSame(t, text) })
}

// FuzzCutLines puts texts together from lines, which gives more that can be read.
func FuzzCutLines(f *testing.F) {
	f.Add([]byte("0123456789"))
	f.Add([]byte("\x02\x03\x24\x45\x26\x67\x28"))
	f.Fuzz(func(t *testing.T, choice []byte) { requireSame(t, linesOf(choice)) })
}

// TestCutLines is FuzzCutLines for a while, and sees to it that texts are placeholder.
func TestCutLines(t *testing.T) {
	rnd, compared := rand.New(rand.NewPCG(1, 2)), 0
	for range 10_000 {
		choice := make([]byte, 2+rnd.IntN(12))
		for i := range choice {
			choice[i] = byte(rnd.Uint32())
		}
		compared += requireSame(t, linesOf(choice))
	}
	require.Greater(t, compared, 300)
}

// linesOf returns a text with a line for each byte.
func linesOf(choice []byte) string {
	var b strings.Builder
	for _, c := range choice {
		b.WriteString("          "[:int(c)%5*2] + lineKinds[int(c)/5%len(lineKinds)] + "\n")
	}
	return b.String()
}

var lineKinds = []string{
	"- a: b", "- c:", "- d", "-", "- - e", "- \"long text\"", "- f: \"long text\"", "- g: |", "- {h: i}", "- [j,", "k]",
	"a: b", "b: \"long text\"", "c: 'it''s long'", "d: |", "e: |-", "f: >", "g:", "h: [i, j]", "i: \"open", "closed\"", "j: 0644", "k: null",
	"l: \"a\\nb\\\"\"", "some words", "", "# comment", "# @required", "m: n # @validate x", "n: &x y", "o: *x", "<<: {p: q}", "? r", ": s", "---", "...", "t: {", "}",
	"u: yes", "v: 1.10", "w: a |", "\"x\": \"long text\"", "é: \"ü long\"", "z: 'long", "!t u: v", "a: 'b'", "\ttab", "x: \"\"", "- \"\"",
}

var cutSeeds = []string{
	"a: \"long text\"\nb: 'it''s long'\nc: |\n  first\n\n    second\n  third\nd: |-\n  last\n\n\ne: 1\n",
	"ccm:\n  resources:\n    - file:\n        - \"/a\":\n            content: \"a text\"\n            mode: \"0644\"\n        - /b:\n            content: |\n              some\n              lines\n        - /c: {}\n    - exec:\n        - x:\n            command: \"true \\\"that\\\"\"\n        - y:\n",
	"- a: \"foo\n- b: x\n- c\"\n- d\n- e\n", "- a: |\n    text\n# comment\n- b\n- c\n  # @required\n- d: 1\n", "- - a\n  - b\n- - c\n-\n  - d\n- [x,\n- y]\n",
	"k:\n- a\n- b: \"text\"\n- c\nl:\n- d\n- e\n", "a: &x \"long\"\nb: *x\nc: !!str \"long\"\n", "? \"long\"\n: 'long'\n? |\n  long\n: |-\n  long\n", "a: |2\n   xy\n   zz\nb: >\n  fold\n  ed\n",
	"a:\n  # @validate isIP(value)\n  b: \"long text\" # no\n  # foot\n\n  c: \"long text\"\n# head\nd: x\n", "---\n- a\n- b\n---\n- c\n- d\n", "a: |\n  x y z\n  \n   \n  w\n \nb: 'x y z'\n",
	"<<: {a: \"long\n  text\"}\nb: \"some\"\n", "- a: &l \"long\"\n- b: *l\n- c: {<<: *l}\n", "a: plain |\n  more text\n  - x\n  - y\nb: \"q # w\"\n", "é: \"ü ö ä\"\n- \"é\"\n", "\"k\": \"v v v\"\n'k2': '''v'''\nk3: \"\\n\\t\\\\\"\n",
	"- x: |\n    abcdef\n  y: 1\n- x: |\n    ghijkl\n    mnop\n  y: \"some text\"\n- z: >-\n    abc\n    - not\n    - items\n- w\n", "%TAG ! tag:x,2000:\n---\n- !a b\n- c\n- d\n", "- \"\"\n- \"\"\n- ''\n- x\n",
	"a: b\nc: \"d\"\ne: 'f'\n  g\nh: 1\ni: word\n\n   more\nj: true\nk: 0644\nl: 1.10\n", "{\n  a: \"x\"\n  b: \"y\"\n}\n", "- a: b\n  c: d\n  e: \"f\"\n  g: [h]\n  i: null\n  c: j\n", "  a: 2026-01-02\n  b: 1e3\n  c: y\n  null: ~\n",
	"k:\n  a: b\n  c: \"d\"\nl:\n  # c\n  e: f\n\n# g\nm:\n - n:\n   o: p\n q:\n  r: s\n", "{k:\n  a: \"b\"\n}\n", "- k:\n  a: \"b\"\n- l:\n    c: d\n    e:\n      f: \"g\"\n", "a:\n  v: 1.10\n",
	"- f: \"long text\"\n  ? r\n- f: \"long text\"\n", "e: |-\n  \ttab\n", "? a: b\n  c: d\n: e\n", "a:\n  b: c\n  # @required\n  d: e\n  f: g\n", "a: \"\n- b\n- c\n\"\n", "- {a: b,\n- c: d}\n", "a: >\n\n - x\n - y\n", "- a\n # c\n- b\n#d\n  e: f\n- g\n",
}
