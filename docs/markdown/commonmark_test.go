package markdown

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// TestCommonMark: Parse reads every page of the repository like a full CommonMark parser. A page with more of
// Markdown than Parse knows has to be simplified.
func TestCommonMark(t *testing.T) {
	full := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()
	pages := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != "..") {
			return filepath.SkipDir // templates of issues have a head that is no Markdown
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		if strings.Contains(path, ".github") { // templates begin with YAML, and GitHub alone reads them
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages++
		want := outline(fromGoldmark(full.Parse(text.NewReader(source)), source))
		require.Equal(t, want, outline(Parse(string(source)).Root.Children), path)
		return nil
	}))
	require.Greater(t, pages, 100)
}

// TestCommonMarkSamples: so it is for what the pages do not use, or not yet.
func TestCommonMarkSamples(t *testing.T) {
	full := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()
	for _, sample := range []string{
		sample, "", "\n\n", "# a #\n", "#a\n", "####### a\n", "a\n# b\nc\n", "a\n- b\nc\n", "a\n2. b\n", "2. b\n3. c\n", "- a\n\n  b\n- c\n", "- a\n- b\n\n- c\n", "- a\n  - b\n  - c\n- d\n",
		"- a\n\n      code\n", "1) a\n2) b\n", "- a\n* b\n", "* * *\n", "***\n", "> a\n> b\n>\n> - c\n", "    code\n\n    more\n\ntext\n", "a\n    b\n", "```\na\n", "~~~ x\n```\n~~~\n", "````\n```\n````\n", "  ```\n  a\n b\n  ```\n",
		"| a | b |\n|---|:-:|\n| `x\\|y` | \\| |\n| only |\n| 1 | 2 | 3 |\n\nend", "a | b\n--|--\nc | d\n# e\n",
		"*a* **b** _c_ __d__ a*b*c a_b_c * a * ** a\n", "\\*a\\* \\a `\\*` &lt; &amp;lt; `&lt;`\n", "`a``b` `` a`b `` ` ` `  x  ` `a\n", "[a](b) [a `]` b](c) [a](b(c)d) [a] (b) [a](b c) ![x](y) [![x](y)](z) <https://x.org/?a=b&c> [*a*](b)\n",
		"*a `*` b* **a *b* c**\n", "a\nb  c\n  d\n", "<!-- a\nb -->\n\nc\n", "a \\\\ b\\", "[a]", "![", "<", "a & b &nope; &#65; &#x42;",
	} {
		want := outline(fromGoldmark(full.Parse(text.NewReader([]byte(sample))), []byte(sample)))
		assert.Equal(t, want, outline(Parse(sample).Root.Children), "%q", sample)
	}
}

// outline writes nodes, one a line.
func outline(list []*Node) string {
	var b strings.Builder
	var write func(list []*Node, indent string)
	write = func(list []*Node, indent string) {
		for _, n := range list {
			n.Text = strings.ReplaceAll(n.Text, "\n", map[bool]string{true: "\n", false: " "}[n.Kind == KindCodeBlock])
			fmt.Fprintf(&b, "%s%d %q %q %q %d %v %v\n", indent, n.Kind, n.Text, n.Info, n.Destination, n.Level, n.Ordered, n.Tight)
			write(n.Children, indent+"  ")
		}
	}
	write(list, "")
	return b.String()
}

// fromGoldmark returns what goldmark has read.
func fromGoldmark(parent ast.Node, source []byte) (list []*Node) {
	lines := func(n ast.Node) string { return string(n.Lines().Value(source)) }
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out := &Node{Children: fromGoldmark(n, source)}
		switch x := n.(type) {
		case *ast.Heading:
			out.Kind, out.Level = KindHeading, x.Level
		case *ast.Paragraph, *ast.TextBlock:
			out.Kind = KindParagraph
		case *ast.List:
			out.Kind, out.Ordered, out.Level, out.Tight = KindList, x.IsOrdered(), x.Start, x.IsTight
		case *ast.ListItem:
			out.Kind = KindItem
		case *ast.Blockquote:
			out.Kind = KindQuotation
		case *ast.FencedCodeBlock:
			out.Kind, out.Text = KindCodeBlock, lines(n)
			if x.Info != nil {
				out.Info = plainOf(x.Info.Segment.Value(source))
			}
		case *ast.CodeBlock:
			out.Kind, out.Text = KindCodeBlock, lines(n)
		case *ast.ThematicBreak:
			out.Kind = KindRule
		case *ast.HTMLBlock:
			continue
		case *table.Table:
			out.Kind = KindTable
		case *table.TableHeader, *table.TableRow:
			out.Kind = KindRow
		case *table.TableCell:
			out.Kind = KindCell
		case *ast.Text:
			out.Kind, out.Text = KindText, plainOf(x.Segment.Value(source))
			if x.SoftLineBreak() {
				out.Text += "\n"
			}
			if last := len(list) - 1; last >= 0 && list[last].Kind == KindText {
				list[last].Text += out.Text
				continue
			}
		case *ast.String:
			out.Kind, out.Text = KindText, string(x.Value)
		case *ast.CodeSpan:
			var code strings.Builder
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				code.Write(c.(*ast.Text).Segment.Value(source))
			}
			out.Kind, out.Text, out.Children = KindCodeSpan, code.String(), nil
		case *ast.Emphasis:
			out.Kind, out.Level = KindEmphasis, x.Level
		case *ast.Link:
			out.Kind, out.Destination = KindLink, string(x.Destination)
		case *ast.Image:
			out.Kind, out.Destination = KindImage, string(x.Destination)
		case *ast.AutoLink:
			out.Kind, out.Destination = KindLink, string(x.URL(source))
			out.Children = []*Node{{Kind: KindText, Text: string(x.Label(source))}}
		default:
			panic(fmt.Sprintf("%s is unknown", n.Kind()))
		}
		list = append(list, out)
	}
	return list
}

func plainOf(text []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text))))
}
