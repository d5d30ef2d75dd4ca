package template

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// Limits of one evaluation. What needs more has gone astray. They are counted, so
// that they are the same on any machine.
const (
	maxSteps  = 1_000_000 // items of loops, and pieces of templates
	maxFrames = 10_000    // calls inside one another: templates can call themselves
	maxCode   = 64 << 10  // bytes of an expression: its nesting takes stack
	maxText   = 1 << 20   // bytes of a template, for the same reason
	maxOutput = 64 << 20  // bytes that a template writes
)

// checkEvery is after how many steps the limits that take time are looked at.
const checkEvery = 256

// work is what an evaluation has done so far.
type work struct{ active, steps, made, begun int }

// Under returns a copy of e whose evaluations end with the error of check, which
// they ask now and then.
func (e *Env) Under(check func() error) *Env {
	c := *e
	c.o.Check, c.work = check, work{}
	c.vars = c.variables()
	return &c
}

// begin begins an evaluation, perhaps inside another one.
func (e *Env) begin() (end func()) {
	if e.work.active == 0 {
		e.work.steps, e.work.made = 0, 0
	}
	e.work.active++
	return func() { e.work.active-- }
}

// step counts one step of an evaluation, and returns an error if there must be no
// more.
func (e *Env) step() error {
	e.work.steps++
	if e.work.steps > maxSteps {
		return fmt.Errorf("it takes more than %d steps, which is the limit", maxSteps)
	}
	if e.work.steps%checkEvery > 0 {
		return nil
	}
	if err := e.check(); err != nil {
		return err
	}
	if nested() {
		return errNested
	}
	return nil
}

var errNested = errors.New("templates and blocks are nested too deeply: does one call itself?")

// nested reports whether calls are too deep inside one another.
func nested() bool { return runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 }

// check returns the error with which an evaluation must end.
func (e *Env) check() error {
	if e.o.Check == nil {
		return nil
	}
	return e.o.Check()
}

// CheckTemplate returns an error if a template is too long.
func CheckTemplate(text string) error {
	if len(text) > maxText {
		return diag.Errorf(diag.Pos{}, "the template has %d bytes, want at most %d", len(text), maxText)
	}
	return nil
}

// checkActions returns an error if what stands between two delimiters of a Jet
// template is too long.
func checkActions(text, left, right string) error {
	for left != "" && right != "" {
		_, rest, found := strings.Cut(text, left)
		if !found {
			break
		}
		code, after, _ := strings.Cut(rest, right)
		if len(code) > maxCode {
			return diag.Errorf(diag.Pos{}, "what stands between %s and %s has %d bytes, want at most %d", left, right, len(code), maxCode)
		}
		text = after
	}
	return nil
}

// broken returns the panic of a template engine as an error. Those of the language
// Go say nothing about the template.
func broken(p any) error {
	if _, ok := p.(runtime.Error); ok {
		return errors.New("the template engine cannot make sense of this")
	}
	return fmt.Errorf("%v", p)
}

// stepFunc is a function that only the compiler writes into expressions.
const stepFunc = "count step"

// steps has every item of a loop counted.
type steps map[*ast.PredicateNode]bool

// Visit implements ast.Visitor.
func (s steps) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.PredicateNode)
	if !ok || s[n] {
		return
	}
	s[n] = true
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: stepFunc}}
	seq := &ast.SequenceNode{Nodes: []ast.Node{call, n.Node}}
	for _, c := range []ast.Node{call.Callee, call, seq} {
		c.SetLocation(n.Location())
	}
	n.Node = seq
}
