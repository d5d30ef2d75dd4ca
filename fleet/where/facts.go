package where

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Facts are the facts that conditions use.
type Facts struct {
	All   bool
	Names []string // of the first level, if not all; sorted
}

// None reports whether the conditions use no facts.
func (f Facts) None() bool { return !f.All && len(f.Names) == 0 }

// With returns the facts of f and of other.
func (f Facts) With(other Facts) Facts {
	if f.All || other.All {
		return Facts{All: true}
	}
	names := slices.Concat(f.Names, other.Names)
	slices.Sort(names)
	return Facts{Names: slices.Compact(names)}
}

// Facts returns the facts that the condition uses.
func (c *Condition) Facts() Facts { return c.facts }

// factsOf returns the facts that an expression uses: all if it has the word facts without the name of a fact after it.
func factsOf(expression *ast.Node) Facts {
	v := &factVisitor{}
	ast.Walk(expression, v)
	if v.whole > 0 {
		return Facts{All: true}
	}
	return Facts{}.With(Facts{Names: v.names})
}

// A factVisitor collects the facts of an expression. Parts of an expression are visited before the whole.
type factVisitor struct {
	names []string
	whole int // how often the word facts stands without the name of a fact
}

// Visit implements ast.Visitor.
func (v *factVisitor) Visit(n *ast.Node) {
	switch x := (*n).(type) {
	case *ast.IdentifierNode:
		if x.Value == "facts" || x.Value == everything {
			v.whole++
		}
	case *ast.MemberNode:
		of, ok := x.Node.(*ast.IdentifierNode)
		if !ok || of.Value != "facts" {
			return
		}
		if name, ok := x.Property.(*ast.StringNode); ok {
			v.names = append(v.names, name.Value)
			v.whole--
		}
	}
}
