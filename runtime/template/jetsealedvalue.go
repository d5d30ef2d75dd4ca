package template

import (
	"reflect"
	"slices"

	"github.com/CloudyKit/jet/v6"

	"github.com/luaccm/ccm/runtime/data"
)

// openFunc is the name of a function that only openList inserts into templates: it decrypts the
// encrypted texts in a value.
const openFunc = "ccm open"

// passing are functions whose arguments stay encrypted: they check whether a value exists, or pass
// it on.
var passing = []string{"isset", Default, sortFunc}

// opened is openFunc. It panics if a text cannot be decrypted.
func opened(v reflect.Value) reflect.Value {
	if !v.IsValid() || !v.CanInterface() {
		return v
	}
	val := v.Interface()
	if !data.HoldsSealed(val) {
		return v
	}
	open, err := data.Unseal(val)
	if err != nil {
		panic(err)
	}
	return reflect.ValueOf(open)
}

// openList makes a parsed Jet template decrypt the encrypted texts of a value where the value is
// printed, compared or passed to a function, but not where it is assigned, ranged over, or passed
// to another template or block. So only used data is decrypted.
func openList(list *jet.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		openNode(n)
	}
}

func openNode(n jet.Node) {
	switch n := n.(type) {
	case *jet.ActionNode:
		openSet(n.Set)
		openPipe(n.Pipe)
	case *jet.IfNode:
		openSet(n.Set)
		n.Expression = openUse(n.Expression)
		openList(n.List)
		openList(n.ElseList)
	case *jet.RangeNode:
		openSet(n.Set)
		openWithin(n.Expression)
		openList(n.List)
		openList(n.ElseList)
	case *jet.BlockNode:
		openParameters(n.Parameters)
		openWithin(n.Expression)
		openList(n.List)
		openList(n.Content)
	case *jet.YieldNode:
		openParameters(n.Parameters)
		openWithin(n.Expression)
		openList(n.Content)
	case *jet.IncludeNode:
		n.Name = openUse(n.Name)
		openWithin(n.Context)
	case *jet.TryNode:
		openList(n.List)
		if n.Catch != nil {
			openList(n.Catch.List)
		}
	case *jet.ReturnNode:
		n.Value = openUse(n.Value)
	}
}

func openSet(s *jet.SetNode) {
	if s == nil {
		return
	}
	for _, e := range s.Right {
		openWithin(e)
	}
}

func openParameters(p *jet.BlockParameterList) {
	if p == nil {
		return
	}
	for _, x := range p.List {
		openWithin(x.Expression)
	}
}

func openPipe(p *jet.PipeNode) {
	if p == nil {
		return
	}
	for i, c := range p.Cmds {
		if i == 0 && c.Exprs == nil {
			c.BaseExpr = openUse(c.BaseExpr)
			continue
		}
		openCall(&c.CallExprNode)
	}
}

func openCall(c *jet.CallExprNode) {
	f, _ := c.BaseExpr.(*jet.IdentifierNode)
	passes := f != nil && slices.Contains(passing, f.Ident)
	for i, arg := range c.Exprs {
		if passes {
			openWithin(arg)
			continue
		}
		c.Exprs[i] = openUse(arg)
	}
}

// openUse returns an expression whose value is used.
func openUse(e jet.Expression) jet.Expression {
	openWithin(e)
	var base jet.NodeBase
	switch n := e.(type) {
	case *jet.IdentifierNode:
		base = n.NodeBase
	case *jet.FieldNode:
		base = n.NodeBase
	case *jet.ChainNode:
		base = n.NodeBase
	case *jet.IndexExprNode:
		base = n.NodeBase
	case *jet.SliceExprNode:
		base = n.NodeBase
	case *jet.TernaryExprNode:
		base = n.NodeBase
	default:
		return e // a constant, or made of values that are used
	}
	return call(base, openFunc, e)
}

// openWithin handles an expression whose value is passed on. The parts it is computed from may need
// decryption.
func openWithin(e jet.Node) {
	switch n := e.(type) {
	case *jet.ChainNode:
		openWithin(n.Node)
	case *jet.PipeNode:
		openPipe(n)
	case *jet.CallExprNode:
		openCall(n)
	case *jet.IndexExprNode:
		openWithin(n.Base)
		n.Index = openUse(n.Index)
	case *jet.SliceExprNode:
		openWithin(n.Base)
		n.Index, n.EndIndex = openUse(n.Index), openUse(n.EndIndex)
	case *jet.TernaryExprNode:
		n.Boolean = openUse(n.Boolean)
		openWithin(n.Left)
		openWithin(n.Right)
	case *jet.NotExprNode:
		n.Expr = openUse(n.Expr)
	case *jet.AdditiveExprNode:
		n.Left, n.Right = openUse(n.Left), openUse(n.Right)
	case *jet.MultiplicativeExprNode:
		n.Left, n.Right = openUse(n.Left), openUse(n.Right)
	case *jet.LogicalExprNode:
		n.Left, n.Right = openUse(n.Left), openUse(n.Right)
	case *jet.ComparativeExprNode:
		n.Left, n.Right = openUse(n.Left), openUse(n.Right)
	case *jet.NumericComparativeExprNode:
		n.Left, n.Right = openUse(n.Left), openUse(n.Right)
	}
}
