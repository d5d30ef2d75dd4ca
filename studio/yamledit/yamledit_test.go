package yamledit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/studio/yamledit"
)

type path = yamledit.Path

const small = `# the site
ccm:
  resources:
    - file:
        - defaults: {owner: root}   # for all
        # the message
        - /etc/motd:
            content: "hi"   # short
            mode: 0644
        - /etc/issue: {mode: "0600", tags: [a, b]}
    # at the end
    - package:
        - vim:
`

// edit makes one edit of a text.
func edit(t *testing.T, text string, do func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error)) (string, error) {
	t.Helper()
	d, err := yamledit.Parse(text)
	require.NoError(t, err)
	out, s, err := do(d)
	if err != nil {
		return "", err
	}
	require.Equal(t, out.Text, text[:s.From]+s.Text+text[s.To:])
	return out.Text, nil
}

func TestEdits(t *testing.T) {
	motd := path{"ccm", "resources", 0, "file", 1, "/etc/motd"}
	in := func(p path, more ...any) path { return append(p[:len(p):len(p)], more...) }
	type doc = yamledit.Doc
	type answer = func(*doc) (*doc, yamledit.Splice, error)
	set := func(p path, v any) answer {
		return func(d *doc) (*doc, yamledit.Splice, error) { return d.Set(p, v) }
	}
	for _, c := range []struct {
		name     string
		do       answer
		old, new string // replacement in the small text
	}{
		{"a word in quotes", set(in(motd, "content"), `a "b"`), `"hi"`, `"a \"b\""`},
		{"lines", set(in(motd, "content"), "one\ntwo\n"), `"hi"   # short`, "|   # short\n              one\n              two"},
		{"a word that reads as a number", set(in(motd, "mode"), "0600"), "0644", `"0600"`},
		{"a list", set(in(motd, "mode"), []any{"a", "b"}), "0644", "[a, b]"},
		{"a new key", set(in(motd, "owner"), "web"), "0644\n", "0644\n            owner: web\n"},
		{"keys that are missing", set(in(motd, "control", "if"), "x"), "0644\n", "0644\n            control:\n              if: x\n"},
		{"a key in braces", set(path{"ccm", "resources", 0, "file", 2, "/etc/issue", "owner"}, "web"), `[a, b]}`, `[a, b], owner: web}`},
		{"a key of nothing", set(path{"ccm", "resources", 1, "package", 0, "vim", "ensure"}, "latest"), "vim:\n", "vim:\n            ensure: latest\n"},
		{"remove with its comment", func(d *doc) (*doc, yamledit.Splice, error) { return d.Remove(path{"ccm", "resources", 0, "file", 1}) },
			small[strings.Index(small, "        # the message"):strings.Index(small, "        - /etc/issue")], ""},
		{"remove the last", func(d *doc) (*doc, yamledit.Splice, error) {
			return d.Remove(path{"ccm", "resources", 1, "package", 0})
		}, "package:\n        - vim:", "package: []"},
		{"insert", func(d *doc) (*doc, yamledit.Splice, error) {
			return d.Insert(path{"ccm", "resources", 1, "package"}, 0, map[string]any{"zsh": nil})
		}, "        - vim", "        - zsh: null\n        - vim"},
		{"insert text", func(d *doc) (*doc, yamledit.Splice, error) {
			return d.InsertText(path{"ccm", "resources", 1, "package"}, 1, "# shell\n- zsh:\n    ensure: latest\n")
		}, "vim:\n", "vim:\n        # shell\n        - zsh:\n            ensure: latest\n"},
		{"rename", func(d *doc) (*doc, yamledit.Splice, error) { return d.Rename(motd, "/etc/m: d") }, "/etc/motd", "'/etc/m: d'"},
		{"move groups", func(d *doc) (*doc, yamledit.Splice, error) { return d.Move(path{"ccm", "resources"}, 1, 0) },
			small[strings.Index(small, "    - file"):], small[strings.Index(small, "    # at"):] + small[strings.Index(small, "    - file"):strings.Index(small, "    # at")]},
		{"split a group with its defaults", func(d *doc) (*doc, yamledit.Splice, error) {
			return d.Split(path{"ccm", "resources", 0, "file"}, 2, []int{0})
		}, "        - /etc/issue", "    - file:\n        - defaults: {owner: root}   # for all\n        - /etc/issue"},
	} {
		for _, crlf := range []bool{false, true} {
			text, want := small, strings.Replace(small, c.old, c.new, 1)
			require.NotEqual(t, text, want, c.name)
			if crlf {
				text, want = strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(want, "\n", "\r\n")
			}
			got, err := edit(t, text, c.do)
			require.NoError(t, err, c.name)
			require.Equal(t, want, got, c.name)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		text string
		do   func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error)
		want error
	}{
		{"a: &x {b: 1}\nc: *x\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Set(path{"c", "b"}, 2) }, yamledit.ErrShared},
		{"a: &x 1\nc: *x\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Remove(path{"a"}) }, yamledit.ErrShape},
		{"a: 1\na: 2\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Set(path{"a"}, 2) }, yamledit.ErrShape},
		{"a: 1\nb: 2\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Rename(path{"a"}, "b") }, yamledit.ErrShape},
		{"a: [1]\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Set(path{"a", 1}, 2) }, yamledit.ErrPath},
		{"a: [1]\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Set(path{"a", 0, "b"}, 2) }, yamledit.ErrPath},
		{"a: [1]\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Remove(path{}) }, yamledit.ErrPath},
		{"a: [1]\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Move(path{"a"}, 0, 1) }, yamledit.ErrPath},
		{"a: 1\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Set(path{"a"}, "\xe2") }, yamledit.ErrShape},
		{"a: 1\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) {
			return d.Set(path{"b", "c"}, []any{"\xe2"})
		}, yamledit.ErrShape},
		{"a: 1\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Rename(path{"a"}, "\xe2") }, yamledit.ErrShape},
		{"a: 1\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) {
			return d.Set(path{"b"}, []any{yamledit.Pairs{{Key: "x", Value: "\xe2"}}})
		}, yamledit.ErrShape},
		// An alias refers to the last anchor of that name before it; a move would change that.
		{"- &x 1\n- *x\n- &x 2\n- *x\n", func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Move(path{}, 2, 1) }, yamledit.ErrShape},
	} {
		_, err := edit(t, c.text, c.do)
		require.ErrorIs(t, err, c.want, "%q", c.text)
	}
}

// TestEmptyLines: texts with empty lines at their start keep them as values, items and keys.
func TestEmptyLines(t *testing.T) {
	for _, text := range []string{"\n", "\n\n", "\nx", "\n x\n", "\t\n", "\n\u2028"} {
		for _, at := range []path{{"a"}, {"b"}, {"b", text}} {
			d, err := yamledit.Parse("a: 1\n")
			require.NoError(t, err)
			out, _, err := d.Set(at, text)
			require.NoError(t, err, "%q", text)
			n, _, err := out.Find(at)
			require.NoError(t, err, "%q", out.Text)
			require.Equal(t, text, n.Value)
			out, _, err = d.Set(at, []any{text, map[string]any{"k": text}})
			require.NoError(t, err, "%q", text)
			for _, in := range []path{{0}, {1, "k"}} {
				n, _, err = out.Find(append(at[:len(at):len(at)], in...))
				require.NoError(t, err, "%q", out.Text)
				require.Equal(t, text, n.Value)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, line := range map[string]int{
		"a: 1\n---\nb: 2\n": 0, "a: 1\nb: [\n": 2, "a: 1\n\tb: 2\n": 2, strings.Repeat("[", 2000): 1, strings.Repeat("#", 9<<20): 0,
	} {
		_, err := yamledit.Parse(text)
		var m *yamledit.Mistake
		require.ErrorAs(t, err, &m)
		require.Equal(t, line, m.Line, "%.30q: %v", text, err)
	}
}

func TestEmpty(t *testing.T) {
	for text, want := range map[string]string{
		"": "a:\n  b: x\n", "# only words": "# only words\na:\n  b: x\n", "---\n": "---\na:\n  b: x\n", "\ufeff": "\ufeffa:\n  b: x\n",
	} {
		got, err := edit(t, text, func(d *yamledit.Doc) (*yamledit.Doc, yamledit.Splice, error) { return d.Set(path{"a", "b"}, "x") })
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got)
	}
}

func TestAliases(t *testing.T) {
	d, err := yamledit.Parse("a: &x {b: {c: 1}}\nd: *x\ne: [*x]\nf: 1\n")
	require.NoError(t, err)
	require.Equal(t, 2, d.Aliases(path{"a", "b", "c"}))
	require.Equal(t, 0, d.Aliases(path{"f"}))
}

// site returns a manifest of n files.
func site(n int) string {
	var b strings.Builder
	b.WriteString("ccm:\n  resources:\n    - file:\n")
	for i := range n {
		fmt.Fprintf(&b, "        - /etc/app/%03d.conf: # no %d\n            content: |\n              a = %d\n              b\n            owner: root\n            group: root\n            mode: \"0644\"\n", i, i, i)
	}
	return b.String()
}

func BenchmarkSetIn500(b *testing.B) {
	d, err := yamledit.Parse(site(500))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := d.Set(path{"ccm", "resources", 0, "file", 250, "/etc/app/250.conf", "owner"}, "www")
		require.NoError(b, err)
	}
}
