package template

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// The operator matches searches with package regexp, which takes no context: a search takes
// as many steps as the text has bytes, times the instructions of the pattern. All three are
// bounded, so that the longest takes about a second.
const (
	maxSearched     = 1 << 20 // bytes of the text
	maxInstructions = 4096    // of the pattern, compiled
	maxSearch       = 1 << 26 // bytes times instructions
)

// Names of functions that only the compiler writes into expressions.
const (
	searchedFunc = "count searched" // for a pattern that is known
	matchFunc    = "match text"     // for a pattern that is not constant
)

// A matchBound inserts calls that bound the operands of matches.
type matchBound map[ast.Node]bool

// Visit implements ast.Visitor.
func (m matchBound) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || n.Operator != "matches" || m[n] {
		return
	}
	m[n] = true
	if text, ok := n.Right.(*ast.StringNode); ok {
		if most, err := searchable(text.Value); err == nil {
			call := callOf(searchedFunc, n.Left)
			call.Arguments = append(call.Arguments, &ast.IntegerNode{Value: most})
			n.Left = call
			return
		}
	}
	call := callOf(matchFunc, n.Left)
	call.Arguments = append(call.Arguments, n.Right)
	*node = call
}

// callOf returns the call of a function with a node as its argument, at the place of the node.
func callOf(name string, arg ast.Node) *ast.CallNode {
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: []ast.Node{arg}}
	call.Callee.SetLocation(arg.Location())
	call.SetLocation(arg.Location())
	return call
}

// checkSearched bounds the left operand of matches.
func checkSearched(val any, most int) (any, error) {
	if s, ok := val.(string); ok && len(s) > most {
		return nil, fmt.Errorf("matches: %w", diag.Expected("a text of at most %d bytes", most).Got("one of %d", len(s)))
	}
	return val, nil
}

// match is the operator matches. A missing value does not match.
func match(val, pattern any) (bool, error) {
	if val == nil || pattern == nil {
		return false, nil
	}
	text, ok := val.(string)
	expr, ok2 := pattern.(string)
	if !ok || !ok2 {
		return false, fmt.Errorf("matches: %w", diag.Expected("a text and a pattern").Got("%s and %s", describe(val), describe(pattern)))
	}
	most, err := searchable(expr)
	if err == nil {
		_, err = checkSearched(text, most)
	}
	if err != nil {
		return false, err
	}
	return regexp.MatchString(expr, text)
}

// searchable returns the maximum length in bytes of a text in which a regular expression may be
// searched, and an error if the expression is too large. Invalid expressions are left to package
// regexp.
func searchable(pattern string) (most int, err error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return maxSearched, nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return maxSearched, nil
	}
	if len(prog.Inst) > maxInstructions {
		return 0, fmt.Errorf("matches: %w", diag.Expected("a pattern of at most %d instructions", maxInstructions).Got("one of %d", len(prog.Inst)))
	}
	return min(maxSearched, maxSearch/len(prog.Inst)), nil
}
