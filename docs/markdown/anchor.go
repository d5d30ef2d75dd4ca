package markdown

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// anchors names headings as the web sites do on which Markdown is read (small letters, digits,
// hyphens and underscores; a blank becomes a hyphen), so that a link holds there too.
type anchors map[string]int

var _ parser.IDs = anchors{}

// Generate implements parser.IDs.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ', r == '-':
			return '-'
		case r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	n := a[id]
	a[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (a anchors) Put(value []byte) { a[string(value)]++ }

// unescaped returns the text of a node without the backslashes and entities of Markdown, which
// code does not have.
func unescaped(text []byte, n ast.Node) []byte {
	if p := n.Parent(); p != nil && p.Kind() == ast.KindCodeSpan {
		return text
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text)))
}
