package yamledit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/studio/yamledit"
)

// corpus returns YAML texts of all kinds. CCM_YAML_LIST names a file with a list of more files, one a line.
func corpus(t *testing.T) map[string]string {
	texts := make(map[string]string)
	var names []string
	for _, pattern := range []string{"testdata/*.yaml", "../../examples/*.yaml", "../../examples/*/*.yaml", "../../runtime/manifest/testdata/*.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		names = append(names, found...)
	}
	if list := os.Getenv("CCM_YAML_LIST"); list != "" {
		content, err := os.ReadFile(list)
		require.NoError(t, err)
		names = append(names, strings.Split(strings.TrimSpace(string(content)), "\n")...)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		if len(content) <= 12_000 {
			texts[name] = string(content)
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		for i, block := range strings.Split(string(content), "```yaml")[1:] {
			_, block, _ = strings.Cut(block, "\n")
			block, _, _ = strings.Cut(block, "```")
			texts[fmt.Sprintf("%s block %d", page, i)] = block
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 25 {
		texts[fmt.Sprintf("generated %d", i)] = generated(random, 0)
	}
	hard := texts["testdata/hard.yaml"]
	require.NotEmpty(t, hard)
	texts["hard, CRLF"] = strings.ReplaceAll(hard, "\n", "\r\n")
	texts["hard, no last newline"] = strings.TrimSuffix(hard, "\n")
	texts["hard, BOM"] = "\ufeff" + hard
	return texts
}

// generated returns a random block of a map or a list, with comments.
func generated(random *rand.Rand, indent int) string {
	var b strings.Builder
	words := []string{"plain", "'single ''q'''", `"double \"q\""`, "12", "0644", "~", "", "[a, {b: c}]", "{x: 1}", "two words", "ünï"}
	blanks := strings.Repeat(" ", indent)
	isList := random.IntN(3) == 0
	for i := range 1 + random.IntN(4) {
		if random.IntN(4) == 0 {
			b.WriteString(blanks + "# above " + fmt.Sprint(i) + "\n")
		}
		head := fmt.Sprintf("%skey %d:", blanks, i)
		if isList {
			head = blanks + "-"
		}
		switch k := random.IntN(6); {
		case k == 0 && indent < 8:
			b.WriteString(head + " # nested\n" + generated(random, indent+2))
		case k == 1:
			b.WriteString(head + " |\n" + blanks + "  text\n" + blanks + "    more\n")
		case k == 2 && random.IntN(2) == 0:
			b.WriteString(head + " first\n" + blanks + "  second\n\n")
		default:
			line := head + " " + words[random.IntN(len(words))]
			if random.IntN(4) == 0 {
				line += " # beside"
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return b.String()
}

// A tally counts the edits of one kind.
type tally struct{ tried, refused, shared, lines int }

// places tries edits at all paths of a text.
type places struct {
	t      *testing.T
	name   string
	text   string
	doc    *yamledit.Doc
	counts map[string]*tally
}

// TestEveryPlace edits every path of every text of the corpus. Comments must stay, and few lines may change and few
// edits be refused; the package itself verifies each result.
func TestEveryPlace(t *testing.T) {
	counts := make(map[string]*tally)
	files := 0
	for name, text := range corpus(t) {
		doc, err := yamledit.Parse(text)
		if err != nil {
			continue // such as a text of two documents
		}
		files++
		p := &places{t, name, text, doc, counts}
		p.each(doc.Root(), nil)
	}
	require.Greater(t, files, 40)
	t.Logf("%d files", files)
	for _, op := range slices.Sorted(maps(counts)) {
		c := counts[op]
		t.Logf("%-14s tried %6d  refused %5d (%.2f%%)  behind aliases %d  lines per edit %.2f", op, c.tried, c.refused,
			100*float64(c.refused)/float64(c.tried), c.shared, float64(c.lines)/float64(max(1, c.tried-c.refused-c.shared)))
		most := 0.03
		if op == "move" || op == "split" || op == "item" {
			most = 0.20
		}
		require.LessOrEqual(t, float64(c.refused), most*float64(c.tried)+3, op)
	}
}

func maps(m map[string]*tally) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// try makes an edit. lines is the number of lines that may change, 0 for any; gone is the part of the text that may
// disappear with its comments.
func (p *places) try(op string, at path, lines int, gone, come string, do func() (*yamledit.Doc, yamledit.Splice, error)) {
	c := p.counts[op]
	if c == nil {
		c = &tally{}
		p.counts[op] = c
	}
	c.tried++
	out, s, err := do()
	switch {
	case errors.Is(err, yamledit.ErrShared):
		c.shared++
		return
	case errors.Is(err, yamledit.ErrShape):
		if c.refused++; os.Getenv("CCM_YAML_REFUSED") != "" {
			p.t.Logf("refused: %s %s %v", op, p.name, at)
		}
		return
	}
	require.NoError(p.t, err, "%s %s %v", op, p.name, at)
	require.Equal(p.t, out.Text, p.text[:s.From]+s.Text+p.text[s.To:])
	require.Equal(p.t, strings.Count(p.text, "#")-strings.Count(gone, "#")+strings.Count(come, "#"), strings.Count(out.Text, "#"),
		"%s %s %v: a comment is lost\n%s", op, p.name, at, out.Text)
	if strings.Count(p.text, "\r\n") == strings.Count(p.text, "\n") && strings.Contains(p.text, "\n") {
		require.Equal(p.t, strings.Count(out.Text, "\n"), strings.Count(out.Text, "\r\n"), "%s %s %v", op, p.name, at)
	}
	removed, added := changed(p.text, out.Text)
	c.lines += max(removed, added)
	if lines > 0 {
		require.LessOrEqual(p.t, max(removed, added), lines, "%s %s %v: %+v", op, p.name, at, s)
	}
}

// each tries the edits of a node and of all nodes in it.
func (p *places) each(n *yaml.Node, at path) {
	if len(at) > 0 {
		p.value(n, at)
	}
	switch n.Kind {
	case yaml.MappingNode:
		p.keys(n, at)
	case yaml.SequenceNode:
		p.items(n, at)
		for i, c := range n.Content {
			p.each(c, append(slices.Clone(at), i))
		}
	}
}

// value tries the edits of a value.
func (p *places) value(n *yaml.Node, at path) {
	set := func(op string, lines int, gone, come string, v any) {
		p.try(op, at, lines, gone, come, func() (*yamledit.Doc, yamledit.Splice, error) { return p.doc.Set(at, v) })
	}
	if n.Kind == yaml.ScalarNode {
		s := p.doc.Span(n)
		old := p.text[s.Start:s.End]
		had := 2 + strings.Count(old, "\n")
		set("set word", had, old, "", "changed")
		set("set hard text", had, old, "#", "yes: # {no} 'it' \"is\" \t é")
		set("set number", had, old, "", 4711)
		set("set lines", 0, old, "", "one\n  two\n\nthree\n")
		set("set map", 0, old, "", map[string]any{"a": []string{"x", "y"}})
	}
	p.counts["remove"] = p.removed(at)
}

// removed tries to remove the node at a path. At most the comments on the removed lines may disappear.
func (p *places) removed(at path) *tally {
	c := p.counts["remove"]
	if c == nil {
		c = &tally{}
	}
	c.tried++
	out, s, err := p.doc.Remove(at)
	if err != nil {
		require.ErrorIs(p.t, err, yamledit.ErrShape)
		c.refused++
		return c
	}
	require.Equal(p.t, out.Text, p.text[:s.From]+s.Text+p.text[s.To:])
	removed, added := changed(p.text, out.Text)
	c.lines += max(removed, added)
	return c
}

// keys tries the edits of a map.
func (p *places) keys(n *yaml.Node, at path) {
	added := append(slices.Clone(at), "zz_new")
	p.try("add key", at, 2, "", "", func() (*yamledit.Doc, yamledit.Splice, error) { return p.doc.Set(added, "0644") })
	p.try("add map", at, 0, "", "", func() (*yamledit.Doc, yamledit.Splice, error) {
		return p.doc.Set(added, map[string]any{"a": "b\nc\n", "d": []int{1}})
	})
	seen := make(map[string]bool)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" || seen[key.Value] {
			continue
		}
		seen[key.Value] = true
		to := append(slices.Clone(at), key.Value)
		if _, _, err := p.doc.Find(to); err != nil {
			continue // a duplicate key
		}
		s := p.doc.Span(key)
		p.try("rename", to, 1+strings.Count(p.text[s.Start:s.End], "\n"), p.text[s.Start:s.End], "#",
			func() (*yamledit.Doc, yamledit.Splice, error) { return p.doc.Rename(to, "ren amed: #") })
		p.each(n.Content[i+1], to)
	}
}

// items tries the edits of a list.
func (p *places) items(n *yaml.Node, at path) {
	for i := range len(n.Content) + 1 {
		p.try("insert", at, 0, "", "", func() (*yamledit.Doc, yamledit.Splice, error) {
			return p.doc.Insert(at, i, map[string]any{"file": map[string]any{"/x": nil}})
		})
	}
	for i := 1; i < len(n.Content); i++ {
		p.try("move", at, 0, "", "", func() (*yamledit.Doc, yamledit.Splice, error) { return p.doc.Move(at, 0, i) })
		p.try("move", at, 0, "", "", func() (*yamledit.Doc, yamledit.Splice, error) { return p.doc.Move(at, i, i-1) })
	}
	for i := range n.Content {
		p.item(n, at, i)
	}
}

// item copies an item to the end of its list.
func (p *places) item(n *yaml.Node, at path, i int) {
	text, err := p.doc.Item(at, i)
	if err != nil || strings.Contains(text, "&") || strings.Contains(text, "*") {
		return // the copy would have the same anchor
	}
	p.try("item", append(slices.Clone(at), i), 0, "", text, func() (*yamledit.Doc, yamledit.Splice, error) {
		return p.doc.InsertText(at, len(n.Content), text)
	})
}

// changed returns the numbers of old and new lines between the first and the last difference.
func changed(a, b string) (int, int) {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x), len(y)
}

// FuzzEdit: any text is edited or refused; after an edit the value is found.
func FuzzEdit(f *testing.F) {
	hard, err := os.ReadFile("testdata/hard.yaml")
	require.NoError(f, err)
	f.Add(string(hard), "data.flow.b.2.c", "x", 0)
	f.Add(small, "ccm.resources.0.file", "two\nlines", 1)
	f.Add("a: {x: &y 1, z: *y}", "a.x", "yes", 2)
	f.Add("? a\n: - b\n- - c", "a.0", "\u2028", 0)
	f.Fuzz(func(t *testing.T, text, at, value string, n int) {
		var to path
		for step := range strings.SplitSeq(at, ".") {
			if len(step) == 1 && step[0] >= '0' && step[0] <= '9' {
				to = append(to, int(step[0]-'0'))
			} else {
				to = append(to, step)
			}
		}
		d, err := yamledit.Parse(text)
		if err != nil || len(text) > 1<<12 || len(to) > 20 {
			return
		}
		if out, _, err := d.Set(to, value); err == nil {
			got, _, err := out.Find(to)
			require.NoError(t, err)
			require.Equal(t, value, got.Value)
		}
		for _, do := range []func() (*yamledit.Doc, yamledit.Splice, error){
			func() (*yamledit.Doc, yamledit.Splice, error) { return d.Remove(to) },
			func() (*yamledit.Doc, yamledit.Splice, error) { return d.Insert(to, n, value) },
			func() (*yamledit.Doc, yamledit.Splice, error) { return d.InsertText(to, n, value) },
			func() (*yamledit.Doc, yamledit.Splice, error) { return d.Move(to, n, 0) },
			func() (*yamledit.Doc, yamledit.Splice, error) { return d.Rename(to, value) },
			func() (*yamledit.Doc, yamledit.Splice, error) { return d.Split(to, n, []int{0}) },
		} {
			if out, s, err := do(); err == nil {
				require.Equal(t, out.Text, text[:s.From]+s.Text+text[s.To:])
			}
		}
		if item, err := d.Item(to, n); err == nil {
			_, _, _ = d.InsertText(to, 0, item)
		}
	})
}
