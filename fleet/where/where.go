// Package where answers conditions about nodes: facts.os.family == "debian" && state.outcome ==
// "failed". The language is that of expressions in manifests (expr-lang).
//
// Begin with [Parse]. What a node says of itself is not believed by being asked about: a condition
// chooses among what nodes claim.
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
)

// MaxLength is how long a condition may be, in bytes.
const MaxLength = 1000

// A Condition is a parsed condition about nodes.
type Condition struct {
	Text    string
	program *vm.Program
	names   map[string]bool
}

// empty has the names and types that conditions can use.
var empty = map[string]any{
	"node": "", "environment": "", "facts": map[string]any{}, "labels": map[string]any{}, "state": map[string]any{}, "seen": time.Duration(0),
}

// Parse reads a condition. The empty one holds for all.
func Parse(text string) (*Condition, error) {
	c := &Condition{Text: text, names: make(map[string]bool)}
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	if len(text) > MaxLength {
		return nil, fmt.Errorf("the condition has %d bytes, and may have %d", len(text), MaxLength)
	}
	program, err := expr.Compile(text, expr.Env(empty), expr.AsBool(), expr.Patch(c))
	if err != nil {
		return nil, fmt.Errorf("the condition cannot be read: %w", err)
	}
	c.program = program
	return c, nil
}

// Visit implements ast.Visitor: it notes what is asked about, and has what a node does not have be nil, in which
// there is nothing, which is neither more nor less than anything, and not true.
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
func (c *Condition) Asks(name string) bool { return c.names[name] }

// A Node is what is known of a node.
type Node struct {
	Name           string
	Environment    string
	Facts          map[string]any // nil if they were not read
	State          *record.State  // nil if there is none
	SinceHeartbeat time.Duration  // since its last heartbeat
}

// Holds reports whether the condition holds for a node. What the node does not have is nil.
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

// explain says in a line why a condition has no answer, and at what of it.
func (c *Condition) explain(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return err
	}
	message := strings.ReplaceAll(at.Message, "<nil>", "nothing")
	if strings.Contains(message, "reflect: ") || strings.Contains(message, "interface conversion: ") {
		message = "a value is missing, or of another type" // what Go says of it is for nobody
	} else if kind, ok := strings.CutPrefix(message, "invalid operation: bool("); ok {
		message = "want true or false, got " + strings.TrimSuffix(kind, ")")
	}
	text := []rune(c.Text)
	if at.Line != 1 || at.Column >= len(text) {
		return errors.New(message)
	}
	return fmt.Errorf("%s, at %q", message, string(text[at.Column:]))
}

// nest lets a label such as os.family be asked for as labels.os.family too.
func nest(labels map[string]any, name, value string) {
	parts := strings.Split(name, ".")
	at := labels
	for _, p := range parts[:len(parts)-1] {
		next, ok := at[p].(map[string]any)
		if !ok {
			if at[p] != nil {
				return // a label has this name itself
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
