package template

import (
	"reflect"
	"strings"
	"unsafe"

	controls "github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// Names of functions that are only put into parsed templates.
const (
	watchFunc = "ccm value" // looks at a value that is about to be written or joined
	itemsFunc = "ccm items" // for a value that a loop iterates over
	writeFunc = "ccm write" // for a value that is printed
	indexFunc = "ccm index" // for a value of which an item is taken
	leftFunc  = "ccm left"  // for the left operand of an operator
	timesFunc = "ccm times" // for the right operand of * ,
	plusFunc  = "ccm plus"  // behind +,
	minusFunc = "ccm minus" // behind -,
	rightFunc = "ccm right" // and behind other operators
)

// begins is put before an included template. It is executed first, and instruments the template:
// the library gives no other access to the parsed template.
const begins = "{% " + beginTag + " %}"

const beginTag = "ccm_begin"

// watchedLeft and watchedRight surround an expression in the library's messages if the expression
// is the argument of one of our functions.
const (
	watchedLeft  = "call([\x00 "
	watchedRight = " \x01], map[])"
)

// instrument inserts counters into a parsed template: for operators, output, arguments of methods
// and functions, and executions of a body. Instrumented parts stay unchanged.
func (r *rendering) instrument(root nodes.Node) {
	walker{r, make(map[unsafe.Pointer]bool)}.walk(reflect.ValueOf(root))
}

// A walker instruments a parsed template.
type walker struct {
	*rendering
	seen map[unsafe.Pointer]bool
}

// walk instruments the nodes that v leads to. Many are in fields that the library does
// not export.
func (r walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		r.walk(v.Elem())
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*tokens.Token]() || v.Elem().Kind() != reflect.Struct {
			return
		}
		at := v.UnsafePointer()
		if r.seen[at] {
			return
		}
		r.seen[at] = true
		r.walk(v.Elem())
		r.change(v)
	case reflect.Struct:
		for i := range v.NumField() {
			r.walk(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			r.walk(i.Value())
		}
	}
}

// change instruments the node that v points to.
func (r walker) change(v reflect.Value) {
	at := v.UnsafePointer()
	switch v.Type() {
	case reflect.TypeFor[*nodes.BinaryExpression]():
		n := (*nodes.BinaryExpression)(at)
		right := rightFunc
		if name := operators[n.Operator.Token.Type]; name != "" {
			operation(n, name)
			return
		}
		switch n.Operator.Token.Type {
		case tokens.And, tokens.Or:
			return // the right one may not be evaluated at all
		case tokens.Multiply:
			right = timesFunc
		case tokens.Addition:
			right = plusFunc
		case tokens.Subtraction:
			right = minusFunc
		}
		n.Left, n.Right = watched(leftFunc, n.Left), watched(right, n.Right)
	case reflect.TypeFor[*nodes.Output]():
		n := (*nodes.Output)(at)
		n.Expression, n.Alternative = watched(writeFunc, n.Expression), watched(writeFunc, n.Alternative)
	case reflect.TypeFor[*nodes.GetItem]():
		n := (*nodes.GetItem)(at)
		n.Node = watched(indexFunc, n.Node)
	case reflect.TypeFor[*nodes.Call]():
		n := (*nodes.Call)(at)
		if isWatched(n) {
			return
		}
		look := watchFunc
		if f, ok := n.Func.(*nodes.Name); ok && f.Name.Val == "loop" { // of a loop that is recursive
			look = itemsFunc
		}
		for i := range n.Args {
			n.Args[i] = watched(look, n.Args[i])
		}
		for name := range n.Kwargs {
			n.Kwargs[name] = watched(watchFunc, n.Kwargs[name])
		}
		if f, ok := n.Func.(*nodes.GetAttribute); ok && n.Parent != nil {
			f.Node = watched(watchFunc, f.Node) // evaluated before the method is called
		}
	case reflect.TypeFor[*controls.ForControlStructure]():
		n := (*controls.ForControlStructure)(at)
		n.ObjectEvaluator = watched(itemsFunc, n.ObjectEvaluator)
	case reflect.TypeFor[*nodes.Wrapper]():
		n := (*nodes.Wrapper)(at)
		if len(n.Nodes) > 0 {
			if b, ok := n.Nodes[0].(*nodes.ControlStructureBlock); ok && b.Name == beginTag {
				return
			}
		}
		step := &nodes.ControlStructureBlock{Location: n.Location, Name: beginTag, ControlStructure: &bodyStep{r.rendering, n.Location}}
		n.Nodes = append([]nodes.Node{step}, n.Nodes...)
	}
}

// watched returns an expression that passes the value of n to the function name. Marks around n
// allow messages to be cleaned.
func watched(name string, n nodes.Expression) nodes.Expression {
	if n == nil || isWatched(n) {
		return n
	}
	at := *n.Position()
	token := func(val string) *tokens.Token {
		t := at
		t.Val = val
		return &t
	}
	return &nodes.Call{Location: n.Position(), Func: &nodes.Name{Name: token(name)}, Args: []nodes.Expression{
		&nodes.None{Location: token("\x00")}, n, &nodes.Integer{Location: token("\x01"), Val: at.Line},
	}}
}

// isWatched reports whether an expression was made by watched.
func isWatched(n nodes.Expression) bool {
	call, ok := n.(*nodes.Call)
	if !ok {
		return false
	}
	f, ok := call.Func.(*nodes.Name)
	return ok && strings.HasPrefix(f.Name.Val, "ccm ")
}

// watch returns a function that passes a value to look and returns it.
func (r *rendering) watch(look func(*exec.Value)) func(*exec.VarArgs) *exec.Value {
	return r.exchange(func(v *exec.Value) *exec.Value {
		look(v)
		return v
	})
}

// exchange returns a function that passes a value to put and returns what that returns.
func (r *rendering) exchange(put func(*exec.Value) *exec.Value) func(*exec.VarArgs) *exec.Value {
	return func(params *exec.VarArgs) *exec.Value {
		r.line = params.Args[2].Integer()
		r.step()
		r.whole(params.Args[1])
		return put(params.Args[1])
	}
}

// watchers returns the functions that only parsed templates call.
func (r *rendering) watchers() map[string]any {
	pop := func() *exec.Value {
		left := r.leftOperands[len(r.leftOperands)-1]
		r.leftOperands = r.leftOperands[:len(r.leftOperands)-1]
		return left
	}
	return map[string]any{
		watchFunc: r.watch(func(*exec.Value) {}),
		itemsFunc: r.exchange(r.characters),
		writeFunc: r.exchange(r.written),
		indexFunc: r.exchange(r.characters),

		operators[tokens.Power]:         r.operate(r.power),
		operators[tokens.Modulo]:        r.operate(r.modulo),
		operators[tokens.FloorDivision]: r.operate(r.floor),
		operators[tokens.Division]:      r.operate(r.divide),
		operators[tokens.Tilde]:         r.operate(r.concat),

		leftFunc:  r.watch(func(v *exec.Value) { r.leftOperands = append(r.leftOperands, v) }),
		rightFunc: r.watch(func(v *exec.Value) { r.checkOperands(pop(), v, nil) }),
		minusFunc: r.watch(func(v *exec.Value) { r.checkOperands(pop(), v, func(a, b float64) float64 { return a - b }) }),
		timesFunc: r.watch(func(v *exec.Value) {
			left := pop()
			r.checkOperands(left, v, func(a, b float64) float64 { return a * b })
			if left.IsString() && !v.IsFloat() {
				r.checkRoom(v.Integer(), r.size(left))
			}
		}),
		plusFunc: r.watch(func(v *exec.Value) {
			left := pop()
			r.checkOperands(left, v, func(a, b float64) float64 { return a + b })
			if left.IsString() && v.IsString() {
				r.checkRoom(1, r.size(left)+r.size(v))
			}
		}),
	}
}

// A bodyStep is the first node of every body: a step is counted.
type bodyStep struct {
	r        *rendering
	location *tokens.Token
}

// Position implements nodes.Node.
func (s *bodyStep) Position() *tokens.Token { return s.location }

// String implements nodes.Node.
func (s *bodyStep) String() string { return beginTag }

// Execute implements exec.ControlStructure.
func (s *bodyStep) Execute(_ *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	s.r.step()
	return nil
}

// A templateStep instruments the template that begins with it.
type templateStep struct{ bodyStep }

// Execute implements exec.ControlStructure.
func (s *templateStep) Execute(r *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	s.r.step()
	s.r.instrument(r.RootNode)
	return nil
}

func (r *rendering) parseBegin(p, _ *parser.Parser) (nodes.ControlStructure, error) {
	return &templateStep{bodyStep{r, p.Current()}}, nil
}
