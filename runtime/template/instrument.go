package template

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/CloudyKit/jet/v6"
)

// Names of functions that only an instrument inserts into templates.
const (
	atFunc       = "ccm at"    // records the line that is running
	sortFunc     = "ccm sort"  // ranges over a table in the order of its keys
	hasValueFunc = "ccm given" // an error if the value is missing or cannot be printed
)

// An instrument changes a parsed Jet template: range goes over tables in the order of
// their keys, so that the same input gives the same output; printing a missing value is
// an error; and the line that is running is recorded.
type instrument struct{ path, text string }

func (in *instrument) list(list *jet.ListNode) {
	if list == nil {
		return
	}
	nodes := make([]jet.Node, 0, 2*len(list.Nodes))
	for _, n := range list.Nodes {
		if base := baseOf(n); base != nil {
			_, isText := n.(*jet.TextNode)
			nodes = append(nodes, action(*base, call(*base, atFunc,
				str(*base, in.path), number(*base, in.line(base)), boolean(*base, isText))))
			in.node(n)
		}
		nodes = append(nodes, n)
	}
	list.Nodes = nodes
}

// body instruments the body of a loop or block: each iteration counts as a step, also of
// an empty body.
func (in *instrument) body(list *jet.ListNode) {
	if list == nil {
		return
	}
	before := len(list.Nodes)
	if in.list(list); len(list.Nodes) == before {
		at := action(list.NodeBase, call(list.NodeBase, atFunc, str(list.NodeBase, in.path), number(list.NodeBase, in.line(&list.NodeBase)), boolean(list.NodeBase, false)))
		list.Nodes = append([]jet.Node{at}, list.Nodes...)
	}
}

// line returns the line of a node. Jet does not give one to text.
func (in *instrument) line(base *jet.NodeBase) int {
	if base.Line > 0 || int(base.Pos) > len(in.text) {
		return base.Line
	}
	return 1 + strings.Count(in.text[:base.Pos], "\n")
}

func (in *instrument) node(n jet.Node) {
	switch n := n.(type) {
	case *jet.ActionNode:
		if n.Pipe != nil && len(n.Pipe.Cmds) > 0 {
			pipedDefault(n.Pipe)
			hasValue(n.Pipe.Cmds[0], len(n.Pipe.Cmds) == 1)
		}
	case *jet.IfNode:
		in.list(n.List)
		in.list(n.ElseList)
	case *jet.RangeNode:
		if n.Set != nil {
			n.Set.Right[0] = call(n.NodeBase, sortFunc, n.Set.Right[0])
		} else {
			n.Expression = call(n.NodeBase, sortFunc, n.Expression)
		}
		in.body(n.List)
		in.list(n.ElseList)
	case *jet.BlockNode:
		in.body(n.List)
		in.body(n.Content)
	case *jet.YieldNode:
		in.body(n.Content)
	case *jet.TryNode:
		in.list(n.List)
		if n.Catch != nil {
			in.list(n.Catch.List)
		}
	}
}

// baseOf returns the common part of the nodes that are instrumented.
func baseOf(n jet.Node) *jet.NodeBase {
	switch n := n.(type) {
	case *jet.TextNode:
		return &n.NodeBase
	case *jet.ActionNode:
		return &n.NodeBase
	case *jet.IfNode:
		return &n.NodeBase
	case *jet.RangeNode:
		return &n.NodeBase
	case *jet.BlockNode:
		return &n.NodeBase
	case *jet.YieldNode:
		return &n.NodeBase
	case *jet.TryNode:
		return &n.NodeBase
	case *jet.IncludeNode:
		return &n.NodeBase
	}
	return nil
}

// pipedDefault rewrites value | default: other as default(value, other): Jet would fail on an
// undefined value before it calls default.
func pipedDefault(p *jet.PipeNode) {
	if len(p.Cmds) < 2 || p.Cmds[0].Exprs != nil || len(p.Cmds[1].Exprs) != 1 || p.Cmds[1].HasPipeSlot {
		return
	}
	if f, ok := p.Cmds[1].BaseExpr.(*jet.IdentifierNode); !ok || f.Ident != Default {
		return
	}
	p.Cmds[1].Exprs = []jet.Expression{p.Cmds[0].BaseExpr, p.Cmds[1].Exprs[0]}
	p.Cmds = p.Cmds[1:]
}

// hasValue makes the first command of a pipeline fail if it has no value, and one that is printed as it is also if
// the value is a list or a table.
func hasValue(c *jet.CommandNode, printed bool) {
	if c.Exprs == nil {
		c.BaseExpr = call(c.NodeBase, hasValueFunc, c.BaseExpr, str(c.NodeBase, fmt.Sprint(c.BaseExpr)), boolean(c.NodeBase, printed))
	}
}

func typedValue(base jet.NodeBase, t jet.NodeType) jet.NodeBase {
	base.NodeType = t
	return base
}

func call(base jet.NodeBase, name string, args ...jet.Expression) *jet.CallExprNode {
	return &jet.CallExprNode{
		NodeBase: typedValue(base, jet.NodeCallExpr),
		BaseExpr: &jet.IdentifierNode{NodeBase: typedValue(base, jet.NodeIdentifier), Ident: name},
		CallArgs: jet.CallArgs{Exprs: args},
	}
}

func action(base jet.NodeBase, c *jet.CallExprNode) *jet.ActionNode {
	cmd := &jet.CommandNode{NodeBase: typedValue(base, jet.NodeCommand), CallExprNode: jet.CallExprNode{NodeBase: c.NodeBase, BaseExpr: c}}
	return &jet.ActionNode{
		NodeBase: typedValue(base, jet.NodeAction),
		Pipe:     &jet.PipeNode{NodeBase: typedValue(base, jet.NodePipe), Cmds: []*jet.CommandNode{cmd}},
	}
}

func str(base jet.NodeBase, s string) *jet.StringNode {
	return &jet.StringNode{NodeBase: typedValue(base, jet.NodeString), Quoted: fmt.Sprintf("%q", s), Text: s}
}

func number(base jet.NodeBase, n int) *jet.NumberNode {
	return &jet.NumberNode{NodeBase: typedValue(base, jet.NodeNumber), IsInt: true, Int64: int64(n), Text: fmt.Sprint(n)}
}

func boolean(base jet.NodeBase, b bool) *jet.BoolNode {
	return &jet.BoolNode{NodeBase: typedValue(base, jet.NodeBool), True: b}
}

// ordered returns v as a value over which Jet ranges in a fixed order.
func ordered(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && !v.IsNil() {
		if v.Type().Implements(reflect.TypeFor[jet.Ranger]()) {
			return v
		}
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() != reflect.Map {
		return v
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return reflect.ValueOf(&sortedMap{table: v, keys: keys})
}

// sortedMap ranges over a table in the order of its keys.
type sortedMap struct {
	table reflect.Value
	keys  []reflect.Value
}

var _ jet.Ranger = (*sortedMap)(nil)

// Range implements jet.Ranger.
func (s *sortedMap) Range() (key, val reflect.Value, end bool) {
	if len(s.keys) == 0 {
		return key, val, true
	}
	key, s.keys = s.keys[0], s.keys[1:]
	return key, s.table.MapIndex(key), false
}

// ProvidesIndex implements jet.Ranger.
func (s *sortedMap) ProvidesIndex() bool { return true }
