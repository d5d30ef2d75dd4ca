package template

import (
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/luadata"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// A Part is a piece of a text: either itself, or an expression.
type Part struct {
	Text string
	Code string // of an expression, "" for text
}

// Parts splits a text into its expressions and the texts between them.
func Parts(text string) ([]Part, error) {
	spans, err := scan(text)
	if err != nil {
		return nil, err
	}
	var parts []Part
	done := 0
	for _, s := range spans {
		if s.begin > done {
			parts = append(parts, Part{Text: text[done:s.begin]})
		}
		parts = append(parts, Part{Text: text[s.begin:s.end], Code: s.code})
		done = s.end
	}
	if done < len(text) {
		parts = append(parts, Part{Text: text[done:]})
	}
	return parts, nil
}

// Lua translates an expression to Lua for a script of ccm. It is false if Lua cannot express it.
func Lua(code string) (string, bool) {
	tree, err := parser.Parse(code)
	if err != nil {
		return "", false
	}
	w := luaWriter{}
	out := w.write(tree.Node, 0)
	return out, !w.failed
}

// A luaWriter translates a syntax tree.
type luaWriter struct{ failed bool }

func (w *luaWriter) fail() string {
	w.failed = true
	return ""
}

// luaOps are the operators that have the same meaning in Lua, with their precedence there.
var luaOps = map[string]struct {
	op    string
	level int
}{
	"or": {"or", 1}, "||": {"or", 1}, "and": {"and", 2}, "&&": {"and", 2},
	"==": {"==", 3}, "!=": {"~=", 3}, "<": {"<", 3}, ">": {">", 3}, "<=": {"<=", 3}, ">=": {">=", 3},
	"-": {"-", 5}, "*": {"*", 6}, "%": {"%", 6},
}

// write translates a node to Lua, in parentheses if the surrounding operator binds more tightly.
func (w *luaWriter) write(n ast.Node, level int) string {
	switch n := n.(type) {
	case *ast.NilNode:
		return "nil"
	case *ast.BoolNode:
		return strconv.FormatBool(n.Value)
	case *ast.IntegerNode:
		return strconv.Itoa(n.Value)
	case *ast.FloatNode:
		return strconv.FormatFloat(n.Value, 'g', -1, 64)
	case *ast.StringNode:
		return luadata.Quote(n.Value)
	case *ast.MemberNode:
		return w.member(n)
	case *ast.CallNode:
		return w.call(n)
	case *ast.UnaryNode:
		switch n.Operator {
		case "not", "!":
			return parens("not "+w.write(n.Node, 7), level > 6)
		case "-":
			return parens("-"+w.write(n.Node, 7), level > 6)
		}
	case *ast.BinaryNode:
		return w.binary(n, level)
	case *ast.ConditionalNode:
		// a and b or c is not a ? b : c unless b is true for Lua.
		switch n.Exp1.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
			return parens(w.write(n.Cond, 2)+" and "+w.write(n.Exp1, 2)+" or "+w.write(n.Exp2, 1), level > 1)
		}
	}
	return w.fail()
}

func parens(s string, yes bool) string {
	if yes {
		return "(" + s + ")"
	}
	return s
}

func (w *luaWriter) binary(n *ast.BinaryNode, level int) string {
	if n.Operator == "+" {
		// + also joins texts, which Lua writes in another way.
		op, at := "+", 5
		if isText(n.Left) || isText(n.Right) {
			op, at = "..", 4
		} else if !isNumber(n.Left) && !isNumber(n.Right) {
			return w.fail()
		}
		return parens(w.write(n.Left, at)+" "+op+" "+w.write(n.Right, at+1), level > at)
	}
	if n.Operator == "??" {
		path, ok := pathOf(n.Left)
		if !ok {
			return w.fail()
		}
		return "lookup(" + luadata.Quote(path) + ", " + w.write(n.Right, 0) + ")"
	}
	op, ok := luaOps[n.Operator]
	if !ok {
		return w.fail()
	}
	return parens(w.write(n.Left, op.level)+" "+op.op+" "+w.write(n.Right, op.level+1), level > op.level)
}

func isText(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.StringNode:
		return true
	case *ast.BinaryNode:
		return n.Operator == "+" && (isText(n.Left) || isText(n.Right))
	}
	return false
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}

// pathOf returns the path for lookup of a read such as Data.users.name.
func pathOf(n ast.Node) (string, bool) {
	steps, ok := stepsOf(n)
	if !ok {
		return "", false
	}
	for _, s := range steps {
		if !isSimple(s) || strings.Contains(s, ".") {
			return "", false
		}
	}
	return strings.Join(steps, "."), true
}

// stepsOf returns the steps of a read: the name of a tree, and names and
// positions in it.
func stepsOf(n ast.Node) ([]string, bool) {
	switch n := n.(type) {
	case *ast.ChainNode:
		return stepsOf(n.Node)
	case *ast.IdentifierNode:
		r := roots[n.Value]
		return []string{string(r)}, r != ""
	case *ast.MemberNode:
		steps, ok := stepsOf(n.Node)
		if !ok || n.Method {
			return nil, false
		}
		switch p := n.Property.(type) {
		case *ast.StringNode:
			return append(steps, p.Value), true
		case *ast.IntegerNode:
			return append(steps, strconv.Itoa(p.Value)), p.Value >= 0
		}
	}
	return nil, false
}

func (w *luaWriter) member(n *ast.MemberNode) string {
	steps, ok := stepsOf(n)
	if !ok || n.Optional {
		return w.fail()
	}
	return luaPath(steps)
}

// luaPath translates a read to Lua, where lists begin at 1.
func luaPath(steps []string) string {
	out := steps[0]
	for _, s := range steps[1:] {
		if i, ok := index(s); ok {
			out += "[" + strconv.Itoa(i+1) + "]"
			continue
		}
		out += LuaKey(s, true)
	}
	return out
}

func (w *luaWriter) call(n *ast.CallNode) string {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok || callee.Value != "lookup" || len(n.Arguments) == 0 || len(n.Arguments) > 2 {
		return w.fail()
	}
	path, ok := n.Arguments[0].(*ast.StringNode)
	if !ok {
		return w.fail()
	}
	if len(n.Arguments) == 2 {
		return "lookup(" + luadata.Quote(path.Value) + ", " + w.write(n.Arguments[1], 0) + ")"
	}
	steps := strings.Split(path.Value, ".")
	if r := roots[steps[0]]; r != "" && isSimple(path.Value) {
		return luaPath(append([]string{string(r)}, steps[1:]...))
	}
	return "lookup(" + luadata.Quote(path.Value) + ")"
}

// LuaKey returns a name as a key of a table or, with field, as a field with a dot before it.
func LuaKey(s string, field bool) string {
	switch {
	case !luadata.IsName(s):
		return "[" + luadata.Quote(s) + "]"
	case field:
		return "." + s
	}
	return s
}
