package template

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// An evaluation ends by its deadline and by the memory that it holds ([Options.Check]), which are looked at with every
// step: the iterations of loops, and the pieces of templates. What would take a lot in a single step, such as repeat, is
// refused where it is made. An evaluation that ends in no step ends with the process.
const (
	maxSteps  = 1_000_000 // items of loops, and pieces of templates
	maxFrames = 10_000    // calls inside one another: templates can call themselves
	maxCode   = 64 << 10  // bytes of an expression, because nesting needs stack
	maxText   = 1 << 20   // bytes of a template, for the same reason
	maxOutput = 64 << 20  // bytes that a template writes
	maxValues = 4 << 20   // values in a result: a list that holds the same list twice, and so on, has exponentially many
	maxError  = 16 << 10  // bytes of an error of a template engine that are looked at
)

var (
	errTooLong = diag.Exceeds("output", "%d bytes", maxOutput)
	errValues  = diag.Exceeds("template", "%d values", maxValues)
)

// tooLong returns an error if a text of n parts of size bytes each is too long to be made.
func tooLong(n, size int) error {
	if size > 0 && n > maxOutput/size {
		return errTooLong
	}
	return nil
}

// nestingEvery is the number of steps between two measurements of the stack, which are slow.
const nestingEvery = 256

// A usage counts the steps of an evaluation, and ends it.
type usage struct {
	check          func() error // Options.Check
	nesting, steps int
}

// WithCheck returns a copy of e whose evaluations call check regularly and end with its
// error.
func (e *Env) WithCheck(check func() error) *Env {
	c := *e
	c.o.Check, c.usage = check, usage{check: check}
	c.vars = nil // its functions count steps
	return &c
}

// begin begins an evaluation. A nested one shares the counts of the outer one.
func (u *usage) begin() (end func()) {
	if u.nesting == 0 {
		u.steps = 0
	}
	u.nesting++
	return func() { u.nesting-- }
}

// step counts one step of an evaluation, and returns an error if there must be no
// more.
func (u *usage) step() error {
	u.steps++
	if u.steps > maxSteps {
		return diag.Exceeds("template", "%d steps", maxSteps)
	}
	if u.steps%nestingEvery == 0 && nested() {
		return errNested
	}
	return u.checkNow()
}

var errNested = diag.TooMany("nested templates and blocks: does one call itself?")

// nested reports whether calls are too deep inside one another.
func nested() bool { return runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 }

// checkNow returns the error with which the evaluation has to end, or nil.
func (u *usage) checkNow() error {
	if u.check == nil {
		return nil
	}
	return u.check()
}

// CheckTemplate returns an error if a template is too long.
func CheckTemplate(text string) error {
	if len(text) > maxText {
		return diag.At(diag.Pos{},
			diag.With("the template", diag.MustBe("at most %d bytes", maxText).Got("%d", len(text))))
	}
	return nil
}

// checkActions returns an error if the text between two delimiters of a Jet template is
// too long.
func checkActions(text, left, right string) error {
	for left != "" && right != "" {
		_, rest, found := strings.Cut(text, left)
		if !found {
			break
		}
		code, after, _ := strings.Cut(rest, right)
		if len(code) > maxCode {
			return diag.At(diag.Pos{}, diag.With(fmt.Sprintf("the text between %s and %s", left, right), diag.MustBe("at most %d bytes", maxCode).Got("%d", len(code))))
		}
		text = after
	}
	return nil
}

// panicError makes an error of a panic of a template engine. The text of a runtime error
// of Go would not help the author of the template.
func panicError(p any) error {
	if _, ok := p.(runtime.Error); ok {
		return diag.SubjectCannot("template engine", "parse this")
	}
	return fmt.Errorf("%v", p)
}

// stepFunc is the name of a function that only compile inserts into expressions.
const stepFunc = "count step"

// A stepCounter inserts calls that count the iterations of loops.
type stepCounter map[*ast.PredicateNode]bool

// Visit implements ast.Visitor.
func (s stepCounter) Visit(node *ast.Node) {
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
