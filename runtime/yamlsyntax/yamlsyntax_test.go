package yamlsyntax

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// read returns the documents of a text as JSON, separated by spaces, and its nodes with their places.
func read(text string) (docs string, nodes []string, err error) {
	d := NewDecoder(text, nil)
	var all []string
	for {
		doc, err := d.Decode()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, " "), nodes, nil
		}
		if err != nil {
			return "", nil, err
		}
		var v any
		if err := doc.Decode(&v); err != nil {
			return "", nil, err
		}
		out, err := json.Marshal(v)
		if err != nil {
			return "", nil, err
		}
		all = append(all, string(out))
		var list func(n *yaml.Node)
		list = func(n *yaml.Node) {
			if n.Kind == yaml.ScalarNode {
				nodes = append(nodes, fmt.Sprintf("%d:%d %s", n.Line, n.Column, n.Value))
			}
			for _, c := range n.Content {
				list(c)
			}
		}
		list(doc)
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"question mark before a key", `{ ?foo: bar }`, `{"?foo":"bar"}`},
		{"question mark before an item", `[?x, ? y]`, `["?x",{"y":null}]`},
		{"question mark behind a text", "[a, b?, c?d]\n", `["a","b?","c?d"]`},
		{"question mark behind a key", "{a?: 1, '?': b ?}", `{"?":"b ?","a?":1}`},
		{"question mark in a text of two lines", "[a\n b?,\n c]", `["a b?","c"]`},
		{"question mark outside brackets", "a: b?\nc?: '?'\n# [?x]\nd: [\"?\", '?x'] # ?\n", `{"a":"b?","c?":"?","d":["?","?x"]}`},
		{"question mark in a block scalar", "a: |\n  [?x]\nb: [?x]\n", `{"a":"[?x]\n","b":["?x"]}`},
		{"explicit key", "? a\n: b\n", `{"a":"b"}`},
		{"colon before an item", `[::vector, {a: :x}, "k":v]`, `["::vector",{"a":":x"},{"k":"v"}]`},
		{"colon in an item", `[a:b, http://x?y=1]`, `["a:b","http://x?y=1"]`},
		{"slash", `a: "b\/c\\/d"`, `{"a":"b/c\\/d"}`},
		{"slash, not in double quotes", `{a: 'b\/c', d: e\/f}`, `{"a":"b\\/c","d":"e\\/f"}`},
		{"text tag", "! 12", `"12"`},
		{"text tag and anchor", "a: &x ! 12\nb: *x\nc: ! [1]\nd: ! '1'\n", `{"a":"12","b":"12","c":[1],"d":"1"}`},
		{"text tag of a key", "a: 1\n! 12: ! true\n", `{"12":"true","a":1}`},
		{"kept blanks", "- |+\n   ", `["\n"]`},
		{"literal blanks", "foo: |\n  x\n   ", `{"foo":"x\n \n"}`},
		{"version", "%YAML 1.2\n---\na: 1\n", `{"a":1}`},
		{"version, twice", "%YAML 1.2\n--- a\n...\n# c\n%YAML 1.3\n---\nb\n", `"a" "b"`},
		{"version in a text", "--- |\n %YAML 1.2\n", `"%YAML 1.2\n"`},
		{"tab behind a dash", "-\ta\n- \tb\n-\t-1\n", `["a","b",-1]`},
		{"tab before brackets", "\t[a]", `["a"]`},
		{"tab before brackets on its line", "k:\n \t[a,\n\tb]\nl:\n\t{a: 1}\n", `{"k":["a","b"],"l":{"a":1}}`},
		{"tab in an empty line", "a: 1\n\t\n \t # c\nb:\n\t\n  c: 2\n\t", `{"a":1,"b":{"c":2}}`},
		{"tab before a text on its line", "a:\n \tb\nc:\n\t'd'\n", `{"a":"b","c":"d"}`},
		{"tab at the beginning of a literal", "a: |\n  \tb\n  c\nd:\n  - >-\n     \te\n  - |\n   \t\n", `{"a":"\tb\nc\n","d":["\te","\t\n"]}`},
		{"tab at the beginning of a literal of the document", "--- |\n  \tb\n", `"\tb\n"`},
		{"tab in a text", "a: b\n\tc\nd: |\n  -\tx\n  \t[y]\ne: 'f\n\t[g'\n", ""},
		{"colon on the next line", "{ \"foo\"\n  :bar }", `{"foo":"bar"}`},
		{"colon without blanks around", "{\"foo\"\n:\nbar,a: b,\nc\n: d }", `{"a":"b","c":"d","foo":"bar"}`},
		{"colon behind a comment", "k: { \"foo\" # comment\n  : bar }", `{"k":{"foo":"bar"}}`},
		{"key of two lines", "- { single line: a}\n- { multi\n  line: b}", `[{"single line":"a"},{"multi line":"b"}]`},
		{"colon behind brackets", "{[a]\n: b}", ""},
		{"value on the next line", "{a:\n b, \"c\":\n d}", `{"a":"b","c":"d"}`},
		{"bare documents", "a: 1\n...\n# c\nb\n...\n...\n- c\n...\n", `{"a":1} "b" ["c"]`},
		{"documents", "a\n---\nb\n...\n---\nc\n", `"a" "b" "c"`},
		{"end of a document in a literal", "--- |\n a\n ...\n...\nb\n", `"a\n...\n" "b"`},
		{"plain text of several lines", "a: this is\n  \"quoted\" [and\n  ?more\nb: {c?: 1}\n", `{"a":"this is \"quoted\" [and ?more","b":{"c?":1}}`},
		{"literals in lists", "- - |\n    [?\n  - ' ?'\n- a: >-\n    {?\n  b: |2\n      [?\n", `[["[?\n"," ?"],{"a":"{?","b":"  [?\n"}]`},
		{"anchors", "a: &x-1_b 1\nb: *x-1_b\nc: [*x-1_b, &y z]\n", `{"a":1,"b":1,"c":[1,"z"]}`},
		{"merge", "a: &x {k: 1}\nb:\n  <<: *x\n  l?: 2\n", `{"a":{"k":1},"b":{"k":1,"l?":2}}`},
		{"a stand-in of the package", "[\"\uFDD3\", ?x]\n", "[\"\uFDD3\",\"?x\"]"},
		{"UTF-16", "\xff\xfe[\x00?\x00\xe9\x00]\x00", ""},
		{"byte order mark", "\ufeff[?x]\n", `["?x"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := read(tt.text)
			if tt.want == "" { // what the library reads or refuses
				var v any
				liberr := yaml.Unmarshal([]byte(tt.text), &v)
				require.Equal(t, liberr == nil, err == nil, "%v", err)
				if out, err := json.Marshal(v); liberr == nil && err == nil {
					require.Equal(t, string(out), got)
				}
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestDecodeKeepsPlaces(t *testing.T) {
	_, nodes, err := read("\ufeffx: [é?, ü]\ny: {\"é\"\n:1, b\n: 2, c: 3}\nz: [\"\\/\", ?q]\n...\nv: ! 1\n")
	require.NoError(t, err)
	require.Equal(t, []string{"1:1 x", "1:5 é?", "1:9 ü", "2:1 y", "2:5 é", "3:2 1", "3:5 b", "4:3 2", "4:6 c", "4:9 3", "5:1 z", "5:5 /", "5:11 ?q", "7:1 v", "7:4 1"}, nodes)
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"k: 1\nl: &an:chor value\n", "yaml: line 2: the name of an anchor may contain only letters, digits, _ and -, got &an:chor (quote strings that begin with &)"},
		{"- [a, *.log]\n", "yaml: line 1: the name of an alias may contain only letters, digits, _ and -, got *.log (quote strings that begin with *)"},
		{"-\ta: 1\n", "yaml: found character that cannot start any token"},
		{"a: 1\n\tb: 2\n", "yaml: line 2: found a tab character that violates indentation"},
		{"a:\n\t- b\n", "yaml: line 2: found character that cannot start any token"},
		{"-\t- a\n", "yaml: found character that cannot start any token"},
		{"a: [b\n", "yaml: line 1: did not find expected ',' or ']'"},
		{"a\n%YAML 1.2\n---\n: b", "yaml: line 3: did not find expected"},
	} {
		_, _, err := read(tt.text)
		require.ErrorContains(t, err, tt.want, "%q", tt.text)
	}
	_, err := NewDecoder("a\nb: &ö.x 1", nil).Decode()
	var at *Error
	require.ErrorAs(t, err, &at)
	require.Equal(t, [2]int{2, 4}, [2]int{at.Line, at.Column})
	gone := errors.New("gone")
	_, err = NewDecoder("a", func() error { return gone }).Decode()
	require.ErrorContains(t, err, "gone")
}

func TestReadsAsOther(t *testing.T) {
	for _, s := range []string{"22:22", "1:30", "12:30", "0:30", "00:30", "190:20:30", "0b_", "0x_f", "1_0.5", "1_.", "-1:30", "1:30.5", "1_0:30", "=", "<<", "y", "No", "~", "", "0644", "1e3", "nan", "\u2028x", "a\u2028b", "a\n\u2029b", "a\u0085",
		"2026-01-02", "2026-1-2", "2001-12-14 21:59:43 -5", "2001-12-14t21:59:43.10-05:00"} {
		require.True(t, ReadsAsOther(s), s)
	}
	for _, s := range []string{"1:60", "a:30", "22:22:", ":22", "80:8080", "10.0.0.1:80", "==", "<", "1.2.3", "2026-01-02-x", "12:30pm", "yess", "a=b"} {
		require.False(t, ReadsAsOther(s), s)
	}
}

// FuzzDecode compares with the library: where nothing is corrected, both read the same.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"a: [b, {c: d}]\n", "- |\n  x\n-\ty\n", "%YAML 1.2\n---\n{a\n: b}\n...\nc", "? &a 'b'\n: *a\n", "a: \"b\\/\"\n", "k: >-\n\n  a\n  - b\n", "a: b\n  c\n\td\n", "\xfe\xff\x00a\n "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, lib := NewDecoder(text, nil), yaml.NewDecoder(strings.NewReader(text))
		if len(d.text.edits) > 0 || d.texts != nil || d.text.failed != nil {
			return
		}
		for {
			got, err := d.Decode()
			var want yaml.Node
			require.Equal(t, lib.Decode(&want), err, "%q", text)
			if err != nil {
				return
			}
			require.Equal(t, &want, got, "%q", text)
		}
	})
}

// FuzzEdited: a text that the library reads is read with corrections too.
func FuzzEdited(f *testing.F) {
	for _, seed := range []string{"[?a, b?]\n", "a:\n\tb\n", "{a\n: b}\n...\nc", "a: |\n  \tb\n", "- \"\\/\"\n", "! 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lib := yaml.NewDecoder(strings.NewReader(text))
		for {
			if err := lib.Decode(new(yaml.Node)); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return
			}
		}
		d := NewDecoder(text, nil)
		for d.text.failed == nil {
			if _, err := d.Decode(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				require.NoError(t, err, "%q", text)
			}
		}
	})
}
