package data

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// at finds a node by dotted keys and list positions.
func at(t *testing.T, n *Node, path string) *Node {
	t.Helper()
	for step := range strings.SplitSeq(path, ".") {
		if n.Kind == schema.List {
			var i int
			_, err := fmt.Sscan(step, &i)
			require.NoError(t, err)
			n = n.Items[i]
			continue
		}
		n = n.Get(step)
		require.NotNil(t, n, path)
	}
	return n
}

func TestScalarsArriveAsWritten(t *testing.T) {
	for _, tt := range []struct {
		yaml string
		kind schema.Kind
		text string
		data any
	}{
		{"0644", schema.Int, "0644", "0644"},
		{"0o644", schema.Int, "0o644", "0o644"},
		{"1.10", schema.Float, "1.10", "1.10"},
		{"1.5", schema.Float, "1.5", 1.5},
		{"8080", schema.Int, "8080", int64(8080)},
		{"-3", schema.Int, "-3", int64(-3)},
		{"0x1F", schema.Int, "0x1F", "0x1F"},
		{"1_000", schema.Int, "1_000", "1_000"},
		{"2026-01-02", schema.String, "2026-01-02", "2026-01-02"},
		{"yes", schema.String, "yes", "yes"},
		{"off", schema.String, "off", "off"},
		{"true", schema.Bool, "true", true},
		{"False", schema.Bool, "False", false},
		{"~", schema.Nil, "~", nil},
		{"", schema.Nil, "", nil},
		{`"0644"`, schema.String, "0644", "0644"},
		{`'it''s'`, schema.String, "it's", "it's"},
		{`"tab\tend"`, schema.String, "tab\tend", "tab\tend"},
		{"!!str 80", schema.String, "80", "80"},
		{`!!int "80"`, schema.Int, "80", int64(80)},
		{"!!binary aGVsbG8=", schema.String, "hello", "hello"},
		{"12345678901234567890123", schema.Float, "12345678901234567890123", "12345678901234567890123"},
		{"|\n  a\n\n  b\n", schema.String, "a\n\nb\n", "a\n\nb\n"},
		{"|-\n  a\n", schema.String, "a", "a"},
		{">\n  a\n  b\n\n  c\n", schema.String, "a b\nc\n", "a b\nc\n"},
	} {
		doc, err := Parse("x.yaml", "v: "+tt.yaml+"\n")
		require.NoError(t, err, tt.yaml)
		n := doc.Root.Get("v")
		require.Equal(t, tt.kind, n.Kind, tt.yaml)
		require.Equal(t, tt.text, n.Text, tt.yaml)
		require.Equal(t, tt.data, n.Go(), tt.yaml)
		require.Equal(t, tt.kind, n.Scalar().Kind, tt.yaml)
	}
}

func TestAnchorsAliasesMergeKeys(t *testing.T) {
	doc, err := Parse("x.yaml", `
base: &base {owner: root, mode: "0644"}
more: &more {group: wheel, mode: "0600"}
one: *base
two:
  <<: [*base, *more]
  owner: app
list: [&x a, *x]
`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"owner": "root", "mode": "0644"}, doc.Root.Get("one").Go())
	require.Equal(t, map[string]any{"owner": "app", "mode": "0644", "group": "wheel"}, doc.Root.Get("two").Go())
	require.Equal(t, []any{"a", "a"}, doc.Root.Get("list").Go())
	require.Equal(t, diag.Pos{File: "x.yaml", Line: 2, Col: 33, Len: 6}, at(t, doc.Root, "two.mode").Pos(), "a merged value has the place where it is written")
}

func TestPlaces(t *testing.T) {
	doc, err := Parse("x.yaml", strings.Join([]string{
		`plain: hello world # comment`,   // 1
		`"quoted": "a\tb ${ x }"`,        // 2
		`é: 'it''s ${ x }'`,              // 3
		`flow: {a: 1, b: [x, "${ y }"]}`, // 4
		`anchored: &a !!str 80`,          // 5
		`literal: |`,                     // 6
		`  first`,                        // 7
		`    indented ${ z }`,            // 8
		``,                               // 9
		`  last ${ w }`,                  // 10
		`folded: >-`,                     // 11
		`    some text`,                  // 12
		`    and ${ v }`,                 // 13
		`multi: this goes`,               // 14
		`  on ${ u }`,                    // 15
		`unicode: "\u00e9\x41 ${ t }"`,   // 16
		`cont: "a \`,                     // 17
		`  b ${ s }"`,                    // 18
	}, "\n")+"\n")
	require.NoError(t, err)
	pos := func(line, col, length int) diag.Pos {
		return diag.Pos{File: "x.yaml", Line: line, Col: col, Len: length}
	}
	require.Equal(t, pos(1, 1, 5), doc.Root.Key("plain").Pos())
	require.Equal(t, pos(2, 1, 8), doc.Root.Key("quoted").Pos())
	require.Equal(t, pos(3, 1, 2), doc.Root.Key("é").Pos(), "columns count bytes")
	require.Equal(t, pos(3, 5, 14), doc.Root.Get("é").Pos())
	require.Equal(t, pos(6, 10, 1), doc.Root.Get("literal").Pos())
	require.Equal(t, pos(4, 7, 0), doc.Root.Get("flow").Pos())
	for _, tt := range []struct {
		path, find string
		want       diag.Pos
	}{
		{"plain", "world", pos(1, 14, 5)},
		{"quoted", "${ x }", pos(2, 17, 6)},
		{"é", "${ x }", pos(3, 12, 6)},
		{"flow.b.1", "${ y }", pos(4, 22, 6)},
		{"anchored", "80", pos(5, 20, 2)},
		{"literal", "${ z }", pos(8, 14, 6)},
		{"literal", "${ w }", pos(10, 8, 6)},
		{"folded", "some", pos(12, 5, 4)},
		{"folded", "${ v }", pos(13, 9, 6)},
		{"multi", "${ u }", pos(15, 6, 6)},
		{"unicode", "A", pos(16, 17, 4)},
		{"unicode", "${ t }", pos(16, 22, 6)},
		{"cont", "${ s }", pos(18, 5, 6)},
	} {
		n := at(t, doc.Root, tt.path)
		i := strings.Index(n.Text, tt.find)
		require.GreaterOrEqual(t, i, 0, tt.path)
		require.Equal(t, tt.want, n.At(i, len(tt.find)), "%s %s", tt.path, tt.find)
	}
}

func TestBadDocuments(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'k'; c++ {
		p := string(c - 1)
		bomb += fmt.Sprintf("%c: &%c [*%s, *%s, *%s, *%s, *%s, *%s, *%s, *%s, *%s]\n", c, c, p, p, p, p, p, p, p, p, p)
	}
	for _, tt := range []struct{ yaml, want string }{
		{"a: 1\nb: 2\na: 3\n", "x.yaml:3:1: duplicate key \"a\"\n  x.yaml:1:1: first one"},
		{"a: {b: 1, b: 2}\n", "x.yaml:1:11: duplicate key \"b\"\n  x.yaml:1:5: first one"},
		{"a: *nope\n", "x.yaml:1:4: unknown anchor &nope"},
		{"x: &name 1\ny: *nmae\n", "x.yaml:2:4: unknown anchor &nmae (did you mean &name?)"},
		{"x: &a [1, *a]\n", "x.yaml:1:11: the anchor &a contains itself"},
		{"[a, b]: c\n", "x.yaml:1:1: expected a text as key, got a list"},
		{"a: !foo b\n", "x.yaml:1:9: unknown tag !foo"},
		{"a: !!int b\n", "x.yaml:1:10: expected an integer, got \"b\""},
		{"<<: 3\na: 1\n", "x.yaml:1:5: expected a table or a list of tables after <<, got the number 3"},
		{"a: 1\n---\nb: 2\n", "x.yaml:3:1: expected one document, found a second one"},
		{"a: b\n  c: d\n", "x.yaml:2:3: not valid YAML: mapping values are not allowed in this context (check the indentation of this line)"},
		{"a: b: c\n", "x.yaml:1:5: not valid YAML: mapping values are not allowed in this context (quote strings that contain a colon and a space)"},
		{"a:\n\t- b\n", "x.yaml:2:1: not valid YAML: tab used for indentation (use spaces)"},
		{"a: 1\nb: [1, 2\nc: 3\n", "x.yaml:2:4: not valid YAML: \"[\" is not closed"},
		{"a: 1\nb:\n  - {c: 1\n  - d\n", "x.yaml:3:5: not valid YAML: \"{\" is not closed"},
		{"a: 1\nb: 'x\nc: y\n", "x.yaml:2:4: not valid YAML: ' is not closed"},
		{"a: @x\n", "x.yaml:1:4: not valid YAML: found character that cannot start any token (quote strings that begin with \"@\")"},
		{"a: 1\nb: [1, *.log]\n", "x.yaml:2:8: not valid YAML: the name of an alias may contain only letters, digits, _ and -, got *.log (quote strings that begin with *)"},
		{"a: 1\n- b\n", "x.yaml:2:1: not valid YAML: did not find expected key (check the indentation of this line)"},
		{"a: \"x\\q\"\n", "x.yaml:1:6: not valid YAML: found unknown escape character (use single quotes, in which \\ is not special)"},
		{"a: 1\nb: \x01\n", "x.yaml:2:4: not valid YAML: control characters are not allowed"},
		{"a: 1\nb: x\xff\n", "x.yaml:2:5: not valid YAML: invalid leading UTF-8 octet"},
		{"a: |\n   x\n  y\n", "x.yaml:3:3: not valid YAML: did not find expected key (check the indentation of this line)"},
		{bomb, "x.yaml:7:12: aliases in this document expand to more than 10"},
	} {
		_, err := Parse("x.yaml", tt.yaml)
		require.Error(t, err, tt.yaml)
		require.Contains(t, err.Error(), tt.want, tt.yaml)
		require.False(t, strings.Contains(tt.want, "\n") && err.Error() != tt.want, err)
	}
}
