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
		fmt.Fprintf(&b, "%*s%s %q %d:%d style %d size %d %v\n", depth, "", n.Kind, n.Text, n.line, n.col, n.style, n.size, n.annotations())
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

// requireSame compares the results of a blockReader and of the library for a text. It reports whether the blockReader
// could read it.
func requireSame(t *testing.T, text string) bool {
	t.Helper()
	source := newSource("x", text)
	root := source.readBlocks()
	if root == nil {
		return false
	}
	docs, err := newSource("x", text).parseWhole()
	require.NoError(t, err, "%q", text)
	require.Equal(t, tree(docs), tree([]*Document{{Root: root, source: source}}), "%q", text)
	return true
}

// FuzzBlocks changes texts.
func FuzzBlocks(f *testing.F) {
	for _, seed := range blockSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { requireSame(t, text) })
}

// FuzzBlockLines puts texts together from lines, which gives more that can be read.
func FuzzBlockLines(f *testing.F) {
	f.Add([]byte("0123456789"))
	f.Add([]byte("\x02\x03\x24\x45\x26\x67\x28"))
	f.Fuzz(func(t *testing.T, choice []byte) { requireSame(t, linesOf(choice)) })
}

// TestBlockLines is FuzzBlockLines for a while, and sees to it that texts are read.
func TestBlockLines(t *testing.T) {
	rnd, read := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		choice := make([]byte, 1+rnd.IntN(8))
		for i := range choice {
			choice[i] = byte(rnd.Uint32())
		}
		if requireSame(t, linesOf(choice)) {
			read++
		}
	}
	require.Greater(t, read, 300)
}

// TestBlockDocuments compares documents that are put together by the rules of YAML.
func TestBlockDocuments(t *testing.T) {
	rnd, read := rand.New(rand.NewPCG(3, 4)), 0
	for range 20_000 {
		if requireSame(t, randomBlock(rnd, 0, 0)) {
			read++
		}
	}
	require.Greater(t, read, 2000)
}

// randomBlock returns a list or mapping that is indented by some spaces.
func randomBlock(rnd *rand.Rand, indent, depth int) string {
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	var b strings.Builder
	list := rnd.IntN(2) == 0
	for i := range 1 + rnd.IntN(4) {
		lead, inner := strings.Repeat(" ", indent), indent+1+rnd.IntN(3)
		if rnd.IntN(12) == 0 {
			b.WriteString(pick([]string{"\n", "   \n", lead + "# comment\n", lead + "# @required\n", "# admin@example.com\n", "# @validate x\n"}))
		}
		head := "-"
		if !list {
			head = pick(blockKeys) + ":"
			if rnd.IntN(20) > 0 {
				head = fmt.Sprintf("k%d:", i)
			}
			inner -= rnd.IntN(2)
		}
		b.WriteString(lead + head)
		switch deep := depth < 4 && rnd.IntN(3) == 0; {
		case deep && list && rnd.IntN(2) == 0: // it begins on the line of the dash
			inner = indent + 2
			b.WriteString(" " + strings.TrimLeft(randomBlock(rnd, inner, depth+1), " "))
		case deep:
			b.WriteString("\n" + randomBlock(rnd, inner, depth+1))
		default:
			b.WriteString(" " + strings.ReplaceAll(pick(blockValues), "\n", "\n"+lead+"  ") + pick([]string{"", "", "", " ", " # comment", " # @required"}) + "\n")
		}
	}
	return b.String()
}

var (
	blockKeys   = []string{"a", "\"b\"", "'c'", "d e", "1.10", "true", "/etc/f.conf", "é", "f#g", "~", "<<", "- h", "i:j", "\"k\\n\"", "l "}
	blockValues = []string{
		"a", "\"b\"", "'it''s'", "\"é\\t\\\"\\\\\"", "0644", "1.10", "1e3", "0x1f", "-1", "-", "- a", ".5", "null", "~", "", "yes", "true", "2026-01-02", "a b  c", "a: b", "a:b", "a#b", "http://x/y",
		"[]", "{}", "[a, \"b\", 'c']", "{a: b, \"c\": [1, {d: e}]}", "[ a , b ]", "[a, b,]", "[a b]", "{a: b c}", "{a:b}", "{a: }", "[a: b]", "[[], [x]]", "{a}", "[-]", "[-1, ~]", "{a: b, a: c}",
		"|\na\n  b\nc", "|-\na\n\nb", "|\n\ta", ">\na\nb", "a\nb", "\"a\nb\"", "&x a", "*x", "!!str 1", "@a", "`a", "%a", "--flag", "---", "...", "?a", "? a", "=", "a\tb", "\"\tb\"", "\"\\u00e9\"", "'a", "\"a",
	}
)

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

var blockSeeds = []string{
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
