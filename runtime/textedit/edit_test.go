package textedit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

var formats = map[string]Format{".json": JSON, ".yaml": YAML, ".toml": TOML}

// anything is a value that is written in brackets or on several lines.
var anything = map[string]any{"a": []any{"x", int64(2)}, "b": map[string]any{"c d": true}}

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		name, text, path string
		value            any
		want             string
	}{
		{".json", "", "a.b", int64(1), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"},
		{".json", "{}\n", "a", "<x>", "{\n  \"a\": \"<x>\"\n}\n"},
		{".json", `{"a":1}`, "b", int64(2), `{"a":1,"b":2}`},
		{".json", `{"a": 1, "b": 2}`, "b", "x", `{"a": 1, "b": "x"}`},
		{".json", `{"a": 1, "b": 2}`, "c.d", true, `{"a": 1, "b": 2, "c": {"d":true}}`},
		{".json", "{\n\t\"a\": 1 // c\n}\n", "b", []any{"x"}, "{\n\t\"a\": 1, // c\n\t\"b\": [\n\t\t\"x\"\n\t]\n}\n"},
		{".json", "{\n  \"a\": 1, // c\n}\n", "b", int64(2), "{\n  \"a\": 1, // c\n  \"b\": 2,\n}\n"},
		{".json", "{\r\n  \"a\": {}\r\n}\r\n", "a.b", int64(2), "{\r\n  \"a\": {\r\n    \"b\": 2\r\n  }\r\n}\r\n"},
		{".json", "{\n  \"editor.size\": 1\n}\n", `editor\.size`, int64(2), "{\n  \"editor.size\": 2\n}\n"},
		{".json", "{} // c", "a", int64(1), "{\n  \"a\": 1\n} // c"},
		{".json", "{\n  \"l\": [1, 2], // c\n  \"m\": []\n}\n", "l", []any{"x", "y"}, "{\n  \"l\": [\"x\",\"y\"], // c\n  \"m\": []\n}\n"},
		{".json", `{"l": [1, 2]}`, "l.2", int64(3), `{"l": [1, 2, 3]}`},
		{".json", "{\"l\": [ // c\n]}", "l.0", int64(1), "{\"l\": [ // c\n  1\n]}"},
		{".json", "{\"m\": { // c\n  } }", "m.a", int64(1), "{\"m\": { // c\n  \"a\": 1\n} }"},
		{".json", `{"a": []}`, "a", map[string]any{}, `{"a": {}}`},
		{".json", `{"a": {}}`, "a", []any{}, `{"a": []}`},
		{".yaml", "a: []\n", "a", map[string]any{}, "a: {}\n"},
		{".yaml", "a: {} # c\n", "a", []any{}, "a: [] # c\n"},
		{".toml", "a = []\n", "a", map[string]any{}, "a = {}\n"},
		{".toml", "a = {}\n", "a", []any{}, "a = []\n"},
		{".json", `{"l": [1, 2]}`, "l.0", nil, `{"l": [null, 2]}`},
		{".yaml", "", "a.b", int64(1), "a:\n  b: 1\n"},
		{".yaml", "# only this\n", "a", "yes", "# only this\na: \"yes\"\n"},
		{".yaml", "a: 1 # c\nb:\n    c: x\n", "b.d", "0644", "a: 1 # c\nb:\n    c: x\n    d: \"0644\"\n"},
		{".yaml", "a: 1 # c\nb: 2\n", "a", "x", "a: x # c\nb: 2\n"},
		{".yaml", "a: x\n", "a", "<<", "a: \"<<\"\n"},
		{".yaml", "a: x\n", "a", "=", "a: \"=\"\n"},
		{".yaml", "a: x\n", "a", "22:22", "a: \"22:22\"\n"},
		{".yaml", "a: no\n", "a", "no", "a: \"no\"\n"},
		{".yaml", "a: {b: [x, 22:22], c: no}\n", "a.b", []any{"x", "22:22"}, "a: {b: [x, \"22:22\"], c: no}\n"},
		{".yaml", "a: x\n", "a", "\u2028x", "a: \"\\Lx\"\n"},
		{".yaml", "a: x\n", "a", []any{"a\n\u2029b"}, "a: [\"a\\n\\Pb\"]\n"},
		{".yaml", "a: x\n", "a", "2001-12-14 21:59:43 -5", "a: \"2001-12-14 21:59:43 -5\"\n"},
		{".yaml", "a: x\n", "a", 1e-7, "a: 0.0000001\n"},
		{".yaml", "a: x\n", "a", 1e21, "a: 1000000000000000000000\n"},
		{".yaml", "a: x\n", "a", map[string]any{"<<": []any{"="}}, "a:\n  \"<<\": [\"=\"]\n"},
		{".yaml", "a: x\n", "<<", int64(1), "a: x\n\"<<\": 1\n"},
		{".yaml", "a: [b?, {ü?: \"x\\/y\", c: 1}]\n", "a.1.c", int64(2), "a: [b?, {ü?: \"x\\/y\", c: 2}]\n"},
		{".yaml", "a: {\"b\"\n  :1, c: 1}\nd: !  12\n", "d", int64(2), "a: {\"b\"\n  :1, c: 1}\nd: 2\n"},
		{".yaml", "a: {\"b\"\n  :1, c: 1}\n", "a.b", int64(2), "a: {\"b\"\n  : 2, c: 1}\n"},
		{".yaml", "a: |\n  \tb\nc: 1\n", "c", int64(2), "a: |\n  \tb\nc: 2\n"},
		{".yaml", "a: |\n  \tb\nc: 1\n", "a", "x", "a: x\nc: 1\n"},
		{".yaml", "%YAML 1.2\n---\n-\ta\n", "0", "b", "%YAML 1.2\n---\n-\tb\n"},
		{".yaml", "a: 'x'\n", "a", "y", "a: 'y'\n"},
		{".yaml", "a:\n- 1\n- 2\n", "a.2", int64(3), "a:\n- 1\n- 2\n- 3\n"},
		{".yaml", "a: # c\nb: 1\n", "a.x", int64(3), "a: # c\n  x: 3\nb: 1\n"},
		{".yaml", "a: {}\nb: 1\n", "a.x", int64(3), "a:\n  x: 3\nb: 1\n"},
		{".yaml", "a: {x: 1}\n", "a.k", "z", "a: {x: 1, k: z}\n"},
		{".yaml", "a: x # c\n", "a", "one\ntwo\n", "a: | # c\n  one\n  two\n"},
		{".yaml", "a: !!str 5\n", "a", int64(5), "a: 5\n"},
		{".yaml", "a: 2026-01-02\n", "a", "2026-01-02", "a: 2026-01-02\n"},
		{".yaml", "a: &x 1\nb: *x\n", "a", int64(2), "a: &x 2\nb: *x\n"},
		{".yaml", "a: &x 1\nb: *x\n", "b", int64(2), "a: &x 1\nb: 2\n"},
		{".yaml", "a: &x {k: 1}\nb:\n  <<: *x\n  l: 1\n", "b.k", int64(2), "a: &x {k: 1}\nb:\n  <<: *x\n  l: 1\n  k: 2\n"},
		{".yaml", "l:\n  - n: 1\n    m: 2\n", "l.0.m", int64(3), "l:\n  - n: 1\n    m: 3\n"},
		{".toml", "", "a", int64(1), "a = 1\n"},
		{".toml", "", "a.b.c", "x", "[a.b]\nc = \"x\"\n"},
		{".toml", "# c\n[a]\nx = 1\n", "y", int64(1), "y = 1\n\n# c\n[a]\nx = 1\n"},
		{".toml", "[a]\n  x = 1 # c\n\n[b]\n", "a.y", 1.5, "[a]\n  x = 1 # c\n  y = 1.5\n\n[b]\n"},
		{".toml", "[a]\n\n[b]\n", "a.y", []any{"x", int64(1)}, "[a]\ny = [\"x\", 1]\n\n[b]\n"},
		{".toml", "a.b = 1\nc = 2\n", "a.d", int64(3), "a.b = 1\na.d = 3\nc = 2\n"},
		{".toml", "a = { b = 1 }\n", "a.c.d", true, "a = { b = 1, c.d = true }\n"},
		{".toml", "[a]\nx = 1\n[a.b]\ny = 1\n[c]\n", "a.n.z", int64(2), "[a]\nx = 1\n[a.b]\ny = 1\n\n[a.n]\nz = 2\n[c]\n"},
		{".toml", "[a]\nx = 1\n", "b", map[string]any{"k": int64(1)}, "[a]\nx = 1\n\n[b]\nk = 1\n"},
		{".toml", "[[i]]\nn = 1\n[[i]]\nn = 2\n", "i.0.m", int64(3), "[[i]]\nn = 1\nm = 3\n[[i]]\nn = 2\n"},
		{".toml", "[t.black]\nn = 1\n", "t.ruff.n", int64(2), "[t.black]\nn = 1\n\n[t.ruff]\nn = 2\n"},
		{".toml", "[t.black]\nn = 1\n", "t.n", int64(2), "[t.black]\nn = 1\n\n[t]\nn = 2\n"},
		{".toml", "a = 1\n[profile.dev]\nx.y = 1\n[z]\n", "profile.dev.x.z", int64(2), "a = 1\n[profile.dev]\nx.y = 1\nx.z = 2\n[z]\n"},
		{".toml", "[[l.x]]\na = 1\n", "l.c", "v", "[[l.x]]\na = 1\n\n[l]\nc = \"v\"\n"},
		{".toml", "[[l.x]]\na.b = 1\n[l.x.d.e]\nf = 1\n", "l.x.0.d.g", "v", "[[l.x]]\na.b = 1\n[l.x.d.e]\nf = 1\n\n[l.x.d]\ng = \"v\"\n"},
		{".toml", "a = [1]\n", "a", map[string]any{}, "a = {}\n"},
		{".toml", "\ufeffa = 1\n", "a", int64(2), "\ufeffa = 2\n"},
		{".json", "\ufeff{\"a\": 1}\n", "a", int64(2), "\ufeff{\"a\": 2}\n"},
		{".yaml", "\ufeffa: 1\n", "a", int64(2), "\ufeffa: 2\n"},
		{".toml", "d = 1979-05-27\n", "d", "1979-05-27", "d = 1979-05-27\n"},
		{".toml", "a = 1", "b", "x", "a = 1\nb = \"x\""},
		{".toml", "a = [\n  1, # one\n  # two\n  2\n]\n", "a.2", int64(3), "a = [\n  1, # one\n  # two\n  2,\n  3\n]\n"},
		{".toml", "a = [\n  1, # one\n  2, # two\n  # end\n]\n", "a.2", int64(3), "a = [\n  1, # one\n  2, # two\n  # end\n  3,\n]\n"},
		{".toml", "a = [\n  \"]\", # one\n  [2]]\n", "a.2", int64(3), "a = [\n  \"]\", # one\n  [2],\n  3]\n"},
		{".toml", "a = [1, 2 ]\n", "a.2", int64(3), "a = [1, 2, 3 ]\n"},
		{".toml", "a = [1,\n2 # two\n]\n", "a.0", int64(3), "a = [3,\n2 # two\n]\n"},
		{".toml", "a = [1,\r\n     2, ['#]', \"\\\"]\"]]\r\n", "a.3", "x", "a = [1,\r\n     2, ['#]', \"\\\"]\"], \"x\"]\r\n"},
		{".toml", "a = [ # none\n]\n", "a.0", int64(1), "a = [ # none\n  1,\n]\n"},
		{".toml", "[t]\n  a = [\n    # none\n  ]\n", "t.a.0", int64(1), "[t]\n  a = [\n    # none\n    1,\n  ]\n"},
		{".toml", "a = []\n", "a.0", int64(1), "a = [1]\n"},
	} {
		p, err := ParsePath(tt.path)
		require.NoError(t, err)
		got, _, err := formats[tt.name].Set(tt.text, p, tt.value)
		require.NoError(t, err, "%s %q %s", tt.name, tt.text, tt.path)
		require.Equal(t, tt.want, got)
		again, _, err := formats[tt.name].Set(got, p, tt.value)
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
}

func TestRemove(t *testing.T) {
	for _, tt := range []struct{ name, text, path, want string }{
		{".json", "", "a", ""},
		{".json", `{"a": 1}`, "b.c", `{"a": 1}`},
		{".json", `{"a": 1}`, "a", `{}`},
		{".json", `{"a": 1, "b": 2}`, "a", `{"b": 2}`},
		{".json", `{"a": 1, "b": 2}`, "b", `{"a": 1}`},
		{".json", "{\n  // about a\n  \"a\": 1, // beside\n  \"b\": 2\n}\n", "a", "{\n  // about a\n  \"b\": 2\n}\n"},
		{".json", "{\n  \"a\": 1, // beside\n  \"b\": 2 // it\n}\n", "b", "{\n  \"a\": 1 // beside\n}\n"},
		{".json", "{ // c\n\"b\":[ ] }", "b", "{ // c\n }"},
		{".json", "{\"a\": 1, // c\n\"b\": 2}", "b", "{\"a\": 1 // c\n}"},
		{".json", "[ // c\r\n1 ]", "0", "[ // c\r\n ]"},
		{".json", "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "b", "{\n  \"a\": 1,\n}\n"},
		{".yaml", "# c\na: 1\nb:\n  c: 1\n  d: 2\n", "b.c", "# c\na: 1\nb:\n  d: 2\n"},
		{".yaml", "b:\n  c: 1\n", "b.c", "b: {}\n"},
		{".yaml", "l:\n- a: 1\n  b: 2\n- c\n", "l.0.a", "l:\n- b: 2\n- c\n"},
		{".yaml", "l: [1, 2, 3]\n", "l.1", "l: [1, 3]\n"},
		{".yaml", "a: |\n  x\n\nb: 1\n", "a", "\nb: 1\n"},
		{".toml", "# c\na = 1 # it\nb = 2\n", "a", "# c\nb = 2\n"},
		{".toml", "x = 1\n\n[a]\nb = 1\n\n[a.c]\nd = 1\n\n[e]\n", "a", "x = 1\n\n[e]\n"},
		{".toml", "x = 1\n\n[[a]]\nb = 1\n", "a.0", "x = 1\na = []\n"},
		{".toml", "[x]\ny = 1\n[[x.a]]\nb = 1\n[x.a.c]\nd = 1\n[z]\n", "x.a.0", "[x]\ny = 1\na = []\n[z]\n"},
		{".toml", "[[a]]\n[[a.b]]\nc = 1\n[[a]]\n", "a.0.b.0", "[[a]]\nb = []\n[[a]]\n"},
		{".toml", "[[a]]\nb = 1\n[[a]]\nb = 2\n", "a.1", "[[a]]\nb = 1\n"},
		{".toml", "[[a]]\nb = 1\n[[a]]\nb = 2\n", "a.0", "[[a]]\nb = 2\n"},
		{".toml", "x = 1\n[[a]]\nb = 1\n", "a", "x = 1\n"},
		{".toml", "a = { b = 1, c = 2 }\n", "a.b", "a = { c = 2 }\n"},
		{".toml", "a = { b = 1, c = 2 }\n", "a.c", "a = { b = 1 }\n"},
		{".toml", "a.b.c = 1\nd = 2\n", "a.b.c", "d = 2\n"},
		{".toml", "a = [\n  1, # one\n  # two\n  2, # it\n  3\n]\n", "a.1", "a = [\n  1, # one\n  # two\n  3\n]\n"},
		{".toml", "a = [\n  1, # one\n  2 # it\n]\n", "a.1", "a = [\n  1 # one\n]\n"},
		{".toml", "a = [\n  1, # it\n  # two\n]\n", "a.0", "a = [\n  # two\n]\n"},
		{".toml", "a = [\n  1,\n]\n", "a.0", "a = []\n"},
		{".toml", "a = [1, 2, # c\n  3]\n", "a.1", "a = [1, # c\n  3]\n"},
		{".toml", "a = [1, 2,\n  3, 4]\n", "a.1", "a = [1,\n  3, 4]\n"},
		{".toml", "a = [1, 2, # c\n  3, 4]\n", "a.0", "a = [2, # c\n  3, 4]\n"},
		{".toml", "a = [1, 2, # c\n  3, 4]\n", "a.3", "a = [1, 2, # c\n  3]\n"},
	} {
		p, err := ParsePath(tt.path)
		require.NoError(t, err)
		got, _, err := formats[tt.name].Remove(tt.text, p)
		require.NoError(t, err, "%s %q %s", tt.name, tt.text, tt.path)
		require.Equal(t, tt.want, got)
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ name, text, path, want string }{
		{".json", "{", "a", "not valid JSON: line 2, column 1"},
		{".json", `{"a": 1}`, "a.b", `a is a plain value without "b"`},
		{".json", `{"a": [1]}`, "a.b", `a is a list of 1: expected a position from 0 to 1, got "b"`},
		{".json", `{"a": [1]}`, "a.2", `expected a position from 0 to 1`},
		{".json", `{}`, "a.0.b", "a does not exist, and 0 may be a name or a position: set a as a whole"},
		{".json", `{"a": 1, "a": 2}`, "a", "duplicate a"},
		{".json", `[1]`, "a", "the document is a list of 1"},
		{".json", strings.Repeat("[", 5000), "a", "nesting of brackets exceeds the limit of 1000 levels"},
		{".yaml", "a: 1\n---\nb: 1\n", "a", "expected one YAML document, found a second one"},
		{".yaml", "a: [", "a", "not valid YAML: line 1"},
		{".yaml", "a: &x {b: 1}\nc: *x\n", "c.b", "c is an alias: change the anchored value"},
		{".yaml", "a: 1\na: 2\n", "a", "already defined"},
		{".yaml", "? {a: 1}\n: 2\n", "a", "invalid map key"},
		{".toml", "a = ", "a", "not valid TOML: line 1"},
		{".toml", "[a]\nb = 1\n", "a", "a is a table section, which cannot be replaced: set the keys in it"},
		{".toml", "a = [{ b = 1 }]\n", "a.0.b", "a is a list: set it as a whole"},
		{".toml", "[[a]]\nb = 1\n", "a", "a is a table section, which cannot be replaced: set the keys in it"},
	} {
		p, err := ParsePath(tt.path)
		require.NoError(t, err)
		_, _, err = formats[tt.name].Set(tt.text, p, "new")
		require.ErrorContains(t, err, tt.want, "%s %s", tt.text, tt.path)
	}
	for _, path := range []string{"", "a.", ".a", "a..b"} {
		_, err := ParsePath(path)
		require.ErrorContains(t, err, "expected names separated by dots")
	}
}

// paths returns the paths of all values in a document.
func paths(doc any, at Path) (list []Path) {
	next := func(step string, v any) {
		p := append(slices.Clone(at), step)
		list = append(append(list, p), paths(v, p)...)
	}
	switch d := doc.(type) {
	case map[string]any:
		for k, v := range d {
			if k != "" {
				next(k, v)
			}
		}
	case []any:
		for i, v := range d {
			next(fmt.Sprint(i), v)
		}
	}
	return list
}

// TestEveryPlace sets, adds and removes a value at every path of some difficult documents. Few edits may be refused,
// and no comment may be lost; the package itself verifies the values.
func TestEveryPlace(t *testing.T) {
	files, err := filepath.Glob("testdata/hard.*")
	require.NoError(t, err)
	more, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	for _, name := range append(files, more...) {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, text := range []string{string(content), strings.ReplaceAll(string(content), "\n", "\r\n"), strings.TrimSuffix(string(content), "\n")} {
			everyPlace(t, name, text)
		}
	}
}

// sameAsWhole sets a value twice, the second time in the text that a line was added to, and compares the results with
// edits that parse the whole text.
func sameAsWhole(t *testing.T, f Format, text string, path Path, value any) {
	t.Helper()
	whole := f
	whole.split, whole.latest, f.latest = nil, new(latest), new(latest)
	for range 2 {
		after, old, err := f.Set(text, path, value)
		want, wantOld, wantErr := whole.Set(text, path, value)
		require.Equal(t, []any{want, wantOld, wantErr}, []any{after, old, err}, "%s in %q", path, text)
		text, _, err = f.Set(text, Path{"another"}, "line")
		if err != nil {
			return
		}
	}
}

// comments counts the comments of a test document. #! is a marker inside its strings.
func comments(text string) int {
	return strings.Count(text, "//") + strings.Count(text, "#") - strings.Count(text, "#!")
}

func everyPlace(t *testing.T, name, text string) {
	f := formats[filepath.Ext(name)]
	doc, err := f.decode(text)
	require.NoError(t, err, name)
	tried, refused := 0, 0
	try := func(what string, p Path, keeps bool, edit func() (string, any, error)) {
		tried++
		after, _, err := edit()
		if errors.Is(err, errPlace) {
			refused++
			t.Logf("%s: %s %s: %v", name, what, p, err)
		}
		if err != nil {
			return
		}
		if keeps {
			require.GreaterOrEqual(t, comments(after), comments(text), "%s: %s %s\n%s", name, what, p, after)
		}
		if strings.Contains(text, "\r\n") {
			require.NotContains(t, strings.ReplaceAll(after, "\r\n", ""), "\n", "%s: %s %s", name, what, p)
		}
	}
	for _, p := range append(paths(doc, nil), Path{"zz"}) {
		value, _, _ := find(doc, p)
		_, isMap := value.(map[string]any)
		_, isList := value.([]any)
		for what, v := range map[string]any{"word": "changed", "hard": "yes: #! {no} 'it' \"is\" \t é", "number": int64(4711), "lines": "one\n  two\n\nthree\n", "map": anything} {
			try("set "+what, p, !isMap && !isList, func() (string, any, error) {
				sameAsWhole(t, f, text, p, v)
				return f.Set(text, p, v)
			})
		}
		if isMap {
			try("add", p, true, func() (string, any, error) {
				at := append(slices.Clone(p), "zz new")
				sameAsWhole(t, f, text, at, "x")
				return f.Set(text, at, "x")
			})
		}
		try("remove", p, false, func() (string, any, error) { return f.Remove(text, p) })
	}
	t.Logf("%s: %d of %d refused", name, refused, tried)
	require.LessOrEqual(t, refused, 16, name) // such as removing an anchor that an alias needs
}

// FuzzEdit: any text is edited or refused; after an edit the value is found, and the same edit changes nothing.
func FuzzEdit(f *testing.F) {
	for _, name := range []string{"hard.json", "minified.json", "hard.yaml", "hard.toml"} {
		content, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(string(content), "deep.list.0.a", "x")
		f.Add(string(content), "server.limits.max", "two\nlines")
	}
	f.Add("a: {x: &y 1, z: *y}", "a.x", "yes")
	f.Add("a: {:b\n  c: 1}", "a.x", "y")
	f.Add("[[a]]\nb.c = [{d = 1}]", "a.0.b", "")
	f.Add("? a\n: - b\n", "a.0", "\u2028")
	f.Fuzz(func(t *testing.T, text, at, value string) {
		path, err := ParsePath(at)
		if err != nil || len(text) > 1<<12 || len(path) > 20 {
			t.Skip()
		}
		for name, format := range formats {
			sameAsWhole(t, format, text, path, value)
			after, _, err := format.Set(text, path, value)
			if err == nil {
				again, old, err := format.Set(after, path, value)
				require.NoError(t, err, name)
				require.Equal(t, after, again, name)
				require.True(t, same(old, value), name)
			}
			gone, _, err := format.Remove(text, path)
			if err == nil {
				again, _, err := format.Remove(gone, path)
				require.NoError(t, err, name)
				require.Equal(t, gone, again, name)
			}
		}
	})
}

// An edit finds the document of the text that an earlier one has left, and no edit changes it.
func TestSuccessiveEdits(t *testing.T) {
	for name, f := range map[string]Format{"json": JSON, "yaml": YAML, "toml": TOML} {
		t.Run(name, func(t *testing.T) {
			set := func(text string, path Path, value, was any) string {
				t.Helper()
				after, old, err := f.Set(text, path, value)
				require.NoError(t, err)
				require.Equal(t, was, old)
				return after
			}
			one := set("", Path{"a", "b"}, []any{int64(1), int64(2)}, nil)
			require.Same(t, unsafe.StringData(one), unsafe.StringData(f.latest.doc.text))
			two := set(one, Path{"a", "c"}, "x", nil)
			three := set(two, Path{"a", "b"}, []any{int64(7), int64(2)}, []any{int64(1), int64(2)})
			require.Equal(t, one, set(one, Path{"a", "b"}, []any{int64(1), int64(2)}, []any{int64(1), int64(2)}))
			four, old, err := f.Remove(three, Path{"a", "b"})
			require.NoError(t, err)
			require.Equal(t, []any{int64(7), int64(2)}, old)
			old.([]any)[0] = "changed by the caller"
			set(three, Path{"a", "b"}, "y", []any{int64(7), int64(2)})
			_, _, err = f.Set(four+"]", Path{"a", "c"}, "x")
			require.ErrorContains(t, err, "not valid")
			require.Equal(t, four, set(four, Path{"a", "c"}, "x", "x"))
		})
	}
}

// Many edits of one text parse a few lines each, and not the whole text.
func TestEditsParseAnExcerpt(t *testing.T) {
	for name, tt := range map[string]struct{ text, begins string }{
		".yaml": {"# settings\n---\nfirst: 1 # one\nmap:\n    k: v\n\n# the end\n", "# settings\n---\nfirst: 299 # one\nmap:\n    k: v\n    k0: 1\n    k1: 3\n"},
		".json": {"{\n\t\"first\": 1, // one\n\t\"map\": {\n\t\t\"k\": \"v\"\n\t}\n\t// the end\n}\n", "{\n\t\"first\": 299, // one\n\t\"map\": {\n\t\t\"k\": \"v\",\n\t\t\"k0\": 1,\n\t\t\"k1\": 3,\n"},
		".toml": {"# settings\nfirst = 1 # one\n\n[map]\n  k = \"v\"\n\n# the end\n", "# settings\nfirst = 299 # one\nkey0 = 0\nkey1 = 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, edits, text := 0, 0, tt.text
			f := formats[name]
			f.latest, f.decode = new(latest), func(text string) (*document, error) {
				parsed += len(text)
				return formats[name].decode(text)
			}
			for i := range 300 {
				for _, path := range []Path{{fmt.Sprintf("key%d", i)}, {"map", fmt.Sprintf("k%d", i)}, {"map", fmt.Sprintf("k%d", i/2)}, {"first"}} {
					after, _, err := f.Set(text, path, int64(i))
					require.NoError(t, err)
					again, old, err := f.Set(after, path, int64(i))
					require.NoError(t, err)
					require.Equal(t, after, again)
					require.Equal(t, int64(i), old)
					text = after
					edits++
				}
			}
			require.Less(t, parsed/edits, 800, "%d bytes for each edit of %d", parsed/edits, len(text))
			require.True(t, strings.HasPrefix(text, tt.begins), "%.300s", text)
		})
	}
}

// Series of edits have the same results as edits that parse the whole text.
func TestSeriesOfEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := []any{int64(1), "x", "two\nlines", true, 1.5, []any{"a", int64(1)}, map[string]any{}, map[string]any{"k": "v", "l": []any{}}}
	for name, texts := range map[string][]string{
		".json": {"", "{}\n", "{\n  \"a\": 1, // one\n  // b\n  \"b\": {\n    \"c\": 1\n  },\n}\n", "{\n\t\"a\": {\n\t\t\"b\": {}\n\t\t// none\n\t} // end\n}", "{\"a\": {\n\"b\": 1}, \"c\": 2}"},
		".yaml": {"", "# c\n", "a: 1 # one\n# b\nb:\n    c: 1\n    # d\n\n    d:\n        a: |+\n          x\n\n# end\n", "---\nb:\n  a: 1\n  b: [1]\nc: {a: 1}\n...\n"},
		".toml": {"", "# c\n", "a = 1 # one\n\n# b\n[b]\nc = 1\n# d\n[b.d]\n  a = 2\n\n# end\n", "[a.b]\nc = 1\n[[d]]\na = 1\n[[d]]\n[c]\na.b = 1\n[c.d]\n# end", "a.b = 1\n\n# d\n[d.a]\n[b]\n[d.c]\n"},
	} {
		whole := formats[name]
		whole.split, whole.latest = nil, new(latest)
		f := formats[name]
		f.latest = new(latest)
		for n := range 60 {
			text := texts[n%len(texts)]
			for range 25 {
				var path Path
				for range 1 + random.IntN(3) {
					path = append(path, string(rune('a'+random.IntN(6))))
				}
				value := values[random.IntN(len(values))]
				after, old, err := f.Set(text, path, value)
				want, wantOld, wantErr := whole.Set(text, path, value)
				require.Equal(t, []any{want, wantOld, wantErr}, []any{after, old, err}, "%s in %q", path, text)
				if err == nil {
					text = after
				}
			}
		}
	}
}
