package syntax_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// TestLayout: the source range of each name, literal, table and call agrees with the syntax tree.
func TestLayout(t *testing.T) {
	texts := syntax.Corpus(t)
	for _, text := range texts {
		texts = append(texts, strings.ReplaceAll(text, "\n", "\r\n"), "#!/usr/bin/ccm\n"+text, "\ufeff"+text)
	}
	calls := 0
	for _, text := range texts {
		l, err := syntax.ReadLayout("x", text)
		if _, wrong := syntax.Parse("x", text); wrong != nil {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, "%q", text)
		syntax.Walk(l.Statements, func(n ast.PositionHolder) {
			switch n.(type) {
			case *ast.IdentExpr, *ast.StringExpr, *ast.NumberExpr, *ast.TableExpr, *ast.FuncCallExpr, *ast.FunctionExpr:
			default:
				return
			}
			from, to, ok := l.Span(n)
			if _, isFunction := n.(*ast.FunctionExpr); isFunction && !ok {
				return // without a word in it
			}
			require.True(t, ok, "%q", text)
			part := text[from:to]
			switch n := n.(type) {
			case *ast.IdentExpr:
				require.Equal(t, n.Value, part)
			case *ast.StringExpr:
				if part == n.Value {
					return // the name behind a dot
				}
				require.Contains(t, `"'[`, part[:1], "%q", text)
			case *ast.NumberExpr: // the tree has no leading zeros
				require.Equal(t, strings.TrimLeft(n.Value, "0"), strings.TrimLeft(part, "0"))
			case *ast.TableExpr:
				require.Equal(t, "{}", part[:1]+part[len(part)-1:])
			case *ast.FunctionExpr:
				// In a definition the keyword is before the name.
				require.True(t, !strings.HasPrefix(part, "function") || strings.HasSuffix(part, "end"), "%q", part)
			case *ast.FuncCallExpr:
				if strings.HasSuffix(strings.TrimRight(text[:from], " "), "(") {
					return // its first word is in parentheses
				}
				calls++
				_, err := parse.Parse(strings.NewReader("return "+part), "x")
				require.NoError(t, err, "%q of %q", part, text)
			}
		}, nil)
	}
	require.Greater(t, calls, 100)
}
