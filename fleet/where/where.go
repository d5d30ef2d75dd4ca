// Package where answers conditions about nodes: facts.os.family == "debian" && state.outcome ==
// "failed". The language is that of expressions in manifests (expr-lang).
//
// Begin with [Parse]. Conditions are about the nodes' own claims, and make these no more
// trustworthy.
package where

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/runtime/diag"
)

// MaxLength is the most bytes of a condition.
const MaxLength = 1000

// A Condition is a parsed condition about nodes.
type Condition struct {
	Text    string
	program *vm.Program
	names   map[string]bool
	facts   Facts
}

// empty has the names that conditions can use, with values of their types.
var empty = map[string]any{
	"node": "", "environment": "", "facts": map[string]any{}, "labels": map[string]any{}, "state": map[string]any{}, "seen": time.Duration(0),
}

// Parse parses a condition. The empty one holds for all nodes.
func Parse(text string) (*Condition, error) {
	c := &Condition{Text: text, names: make(map[string]bool)}
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	if len(text) > MaxLength {
		return nil, diag.Exceeds("the condition", "%d bytes, got %d", MaxLength, len(text))
	}
	program, err := expr.Compile(text, expr.Env(empty), expr.AsBool(), expr.Patch(c))
	if err != nil {
		return nil, diag.Invalid("condition", err)
	}
	c.program = program
	node := program.Node()
	c.facts = factsOf(&node)
	return c, nil
}

// Visit implements ast.Visitor. It notes the names in a condition, and makes values that a node
// lacks nil: a field of nil is nil, nil is neither less nor greater than any value, and it is not
// true.
func (c *Condition) Visit(n *ast.Node) {
	switch x := (*n).(type) {
	case *ast.IdentifierNode:
		c.names[x.Value] = true
	case *ast.MemberNode:
		x.Optional = true
		ast.Patch(n, &ast.ChainNode{Node: x})
	case *ast.UnaryNode:
		if _, ok := x.Node.(*ast.ChainNode); ok && (x.Operator == "!" || x.Operator == "not") {
			ast.Patch(n, &ast.BinaryNode{Operator: "!=", Left: x.Node, Right: &ast.BoolNode{Value: true}})
		}
	case *ast.BinaryNode:
		switch x.Operator {
		case "<", "<=", ">", ">=":
			for _, side := range []ast.Node{x.Left, x.Right} {
				if _, ok := side.(*ast.ChainNode); ok {
					ast.Patch(n, &ast.BinaryNode{Operator: "&&", Left: &ast.BinaryNode{Operator: "!=", Left: side, Right: &ast.NilNode{}}, Right: *n})
				}
			}
		}
	}
}

// Asks reports whether a condition asks about facts, labels, state, seen, node or environment.
func (c *Condition) Asks(name string) bool { return c.names[name] || c.names[everything] }

// everything is the name of all values in expr-lang.
const everything = "$env"

// A Node has the data of a node that conditions use.
type Node struct {
	Name           string
	Environment    string
	Facts          map[string]any // nil if they were not read
	State          *record.State  // nil if there is none
	SinceHeartbeat time.Duration  // since its last heartbeat
}

// Holds reports whether the condition holds for a node. Values that the node lacks are nil.
func (c *Condition) Holds(n Node) (bool, error) {
	if c.program == nil {
		return true, nil
	}
	env := map[string]any{"node": n.Name, "environment": n.Environment, "facts": n.Facts, "seen": n.SinceHeartbeat}
	state, labels := map[string]any{}, map[string]any{}
	if n.State != nil {
		if c.Asks("state") {
			text, err := json.Marshal(n.State)
			if err != nil {
				return false, err
			}
			if err := json.Unmarshal(text, &state); err != nil {
				return false, err
			}
		}
		for k, v := range n.State.Labels {
			labels[k] = v
			nest(labels, k, v)
		}
	}
	env["state"], env["labels"] = state, labels
	out, err := expr.Run(c.program, env)
	if err != nil {
		return false, c.explain(err)
	}
	return out == true, nil
}

// explain says in a line why a condition has no answer, and in which part.
func (c *Condition) explain(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return err
	}
	message := strings.ReplaceAll(at.Message, "<nil>", "nothing")
	if strings.Contains(message, "reflect: ") || strings.Contains(message, "interface conversion: ") {
		message = "a value is missing or has another type" // Go's own message helps nobody
	} else if kind, ok := strings.CutPrefix(message, "invalid operation: bool("); ok {
		message = diag.Expected("true or false").Got("%s", strings.TrimSuffix(kind, ")")).Error()
	}
	text := []rune(c.Text)
	if at.Line != 1 || at.Column >= len(text) {
		return errors.New(message)
	}
	return fmt.Errorf("%s, at %q", message, string(text[at.Column:]))
}

// nest makes a label such as os.family available as labels.os.family too.
func nest(labels map[string]any, name, value string) {
	parts := strings.Split(name, ".")
	at := labels
	for _, p := range parts[:len(parts)-1] {
		next, ok := at[p].(map[string]any)
		if !ok {
			if at[p] != nil {
				return // a label has this shorter name
			}
			next = map[string]any{}
			at[p] = next
		}
		at = next
	}
	if last := parts[len(parts)-1]; at[last] == nil {
		at[last] = value
	}
}
