package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// nodeBase is the number of the first node of a tree in these tests.
const nodeBaseOfTests = 1 << 24

// corpus returns Lua texts of all kinds.
func corpus(t testing.TB) []string {
	t.Helper()
	texts := []string{
		"", ";", "return", "return;", "local x", "local a, b = 1", "a.b.c, d[1] = f(), g:h 'x' { y }",
		"function a.b.c:d(e, ...) return ... end", "local function f(...) local x = { ..., n = ..., [1] = 2; 3, } end",
		"for i = 1, 2, 3 do break end", "for a, b in c do goto continue ::continue:: end", "repeat local x until x",
		"while not a and -b or #c ^ 2 ~= 1 .. 'x' do end", "if a then elseif b then else end", "do local x <= 5 end",
		"x = function() end", "x = [[\nlong\n]] y = [==[ ]] ]==] --[[ comment ]] z = 'a\\'b\\\nc' -- end",
		"f{}{}()'x'.y:z''", "(a)(b)", "local t = {f = function(self) end; ['k'] = nil, true, false, ...}",
		"x = 0xFF + 1e3 + .5 + 3.", "a = b\n(c or d)()", "x = -2 ^ -3", "local a = {} ; ; ; b = a",
		"return function() return function() end end", "x = a.and", "x = 'unfinished", "x = [[", "--[[", "x = ~", "\x00", "x = 1 = 2",
		"::a:: goto a", "local x = f\n{\n}\n", "function f(a,) end", "if x then", "f(", "{}", "x.y", "for i do", "local 5", "x = }", "return 1 2",
	}
	files, err := filepath.Glob("../testdata/*.lua")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts = append(texts, strings.Split(string(text), "\n---\n")...)
	}
	return texts
}

// checkTree checks that the positions of all nodes of a text are known, and that the checker finds a mistake exactly
// when the parser does.
func checkTree(t *testing.T, text string) {
	_, err := parse.Parse(strings.NewReader(text), "x")
	tokens, lexical := Tokenize(text)
	if err != nil {
		m := Mistake("x", text, err)
		require.NotNil(t, m)
		require.NotEmpty(t, m.Err.Error())
		return
	}
	require.NoError(t, lexical, "%q", text)
	c := checker{tokens: tokens}
	if m := c.check(); m != nil {
		require.NoError(t, m, "the parser accepts %q", text)
	}
	tr := NewTree(nodeBaseOfTests, text)
	lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	w := Walker{Enter: func(n ast.PositionHolder) {
		id, ok := n.(*ast.IdentExpr)
		if !ok || strings.Contains(text, "\r") {
			return
		}
		p := tr.PosOf(n)
		require.Positive(t, p.Line, "no place for %s in %q", id.Value, text)
		require.Equal(t, id.Value, lines[p.Line-1][p.Col-1:p.Col-1+p.Len], "%q", text)
	}}
	w.Stmts(tr.Stmts)
	for i := range tr.Nodes {
		if p := tr.NodePos(nodeBaseOfTests + i); p.Line > 0 {
			require.Positive(t, p.Col)
		}
	}
}

func TestTree(t *testing.T) {
	for _, text := range corpus(t) {
		checkTree(t, text)
	}
}

func FuzzTree(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(checkTree)
}

// The checker explains every syntax error itself; the parser's message is used only for errors that the checker does
// not know.
func TestCheckerExplains(t *testing.T) {
	for _, text := range corpus(t) {
		if _, err := parse.Parse(strings.NewReader(text), "x"); err != nil {
			require.NotContains(t, Mistake("x", text, err).Error(), "syntax error", "%q", text)
		}
	}
}
