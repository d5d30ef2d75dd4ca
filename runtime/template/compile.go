package template

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/vm"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// Names of functions that only the compiler writes into expressions.
const (
	getFunc  = "get value" // at a path, an error if there is none
	findFunc = "find value"
)

// fileFunctions are the functions of an Env that reads files.
var fileFunctions = []string{"file", "readFile", "template", "jet"}

// variables returns the variables of e for a running expression. They are made when they are needed first.
func (e *Env) variables() map[string]any {
	if e.vars == nil {
		e.vars = e.makeVariables()
	}
	return e.vars
}

func (e *Env) makeVariables() map[string]any {
	vars := map[string]any{
		getFunc:  func(args ...any) (any, error) { return e.trees.fetch(args, true) },
		findFunc: func(args ...any) (any, error) { return e.trees.fetch(args, false) },
		stepFunc: func(...any) (any, error) { return nil, e.usage.step() },
		"lookup": e.trees.lookup,
		"now":    func() time.Time { return e.o.Now() },
		"keys":   sortedKeys,
		"values": func(m map[string]any) []any {
			list := make([]any, 0, len(m))
			for _, k := range sortedKeys(m) {
				list = append(list, m[k])
			}
			return list
		},
		"toPairs": func(m map[string]any) []any {
			list := make([]any, 0, len(m))
			for _, k := range sortedKeys(m) {
				list = append(list, []any{k, m[k]})
			}
			return list
		},
	}
	for name := range roots {
		vars[name] = map[string]any{}
	}
	if e.o.ReadFile != nil {
		vars["file"], vars["readFile"] = e.files.readFile, e.files.readFile
		vars["template"], vars["jet"] = e.template, e.jet
	}
	for name, f := range e.remoteFunctions() {
		vars[name] = func(args ...any) (any, error) { return f(args) }
	}
	maps.Copy(vars, functions())
	maps.Copy(vars, e.o.Vars)
	return vars
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// Evaluate returns the value of an expression as plain data. Errors are of type
// [*Error].
func (e *Env) Evaluate(code string) (any, error) {
	defer e.usage.begin()()
	if len(code) > maxCode {
		return nil, explain(code, e.variables(),
			diag.With("the expression", diag.MustBe("at most %d bytes", maxCode).Got("%d", len(code))))
	}
	if err := e.usage.checkNow(); err != nil {
		return nil, explain(code, e.variables(), err)
	}
	val, err := e.run(code)
	if err == nil {
		val, err = plain(val)
	}
	if err != nil {
		return nil, explain(code, e.variables(), err)
	}
	return val, nil
}

// run returns the value of an expression: of the frequent kinds at once, of others by a program.
func (e *Env) run(code string) (any, error) {
	prog := e.known.program(code)
	if prog == nil {
		if val, ok := e.quick(code); ok {
			return val, nil
		}
		var err error
		if prog, err = e.known.compile(code, e.variables()); err != nil {
			return nil, err
		}
	}
	return expr.Run(prog, e.variables())
}

// compile does what expr.Compile does. All expressions share what is known of the variables: to collect it again takes
// 90 µs, and all the rest of an expression 40.
func compile(code string, c conf.Config) (*vm.Program, error) {
	may := nilSafeFinder{optional: make(map[ast.Node]bool)}
	c.Visitors = append(slices.Clip(c.Visitors), may, treeReader(may), make(stepCounter))
	c.Check()
	tree, err := checker.ParseCheck(code, &c)
	if err == nil {
		err = optimizer.Optimize(&tree.Node, &c)
		if at, ok := errors.AsType[*file.Error](err); ok {
			err = at.Bind(tree.Source)
		}
	}
	if err != nil {
		return nil, err
	}
	return compiler.Compile(tree, &c)
}

// newConfig returns the configuration of the compiler for all expressions with these variables.
func newConfig(vars map[string]any) *conf.Config {
	c := conf.New(vars)
	expr.Timezone("UTC")(c)
	// The built-in ones read the clock and give the order of Go maps.
	for _, name := range append([]string{"now", "keys", "values", "toPairs"}, boundedFunctions...) {
		expr.DisableBuiltin(name)(c)
		delete(c.Builtins, name)
	}
	return c
}

// nilSafeFinder finds reads whose value may be missing: on the left of ?? and in chains with ?.
type nilSafeFinder struct{ optional map[ast.Node]bool }

// Visit implements ast.Visitor.
func (f nilSafeFinder) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if n.Operator == "??" {
			ast.Walk(&n.Left, marker(f.optional))
		}
	case *ast.ChainNode:
		ast.Walk(&n.Node, marker(f.optional))
	}
}

type marker map[ast.Node]bool

// Visit implements ast.Visitor.
func (m marker) Visit(node *ast.Node) { m[*node] = true }

// treeReader replaces each read of a tree, such as Facts.os.family, by a call that gathers only the
// needed part and knows alternatives to missing values.
type treeReader struct{ optional map[ast.Node]bool }

// Visit implements ast.Visitor. Children are visited before their parents.
func (r treeReader) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if roots[n.Value] != "" {
			r.patch(node, n, []ast.Node{&ast.StringNode{Value: n.Value}})
		}
	case *ast.MemberNode:
		call, ok := n.Node.(*ast.CallNode)
		if !ok || n.Method {
			return
		}
		callee, ok := call.Callee.(*ast.IdentifierNode)
		if ok && (callee.Value == getFunc || callee.Value == findFunc) {
			r.patch(node, n, append(slices.Clip(call.Arguments), n.Property))
		}
	}
}

func (r treeReader) patch(node *ast.Node, n ast.Node, args []ast.Node) {
	name := getFunc
	if r.optional[n] {
		name = findFunc
	}
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
	for _, c := range []ast.Node{call.Callee, call} {
		c.SetLocation(n.Location())
	}
	*node = call
}

// dashedName matches a value below another whose name has dashes, which are minus signs in an expression.
var dashedName = lazyregexp.New(`([\w.]+)\.(\w+(?:-\w+)+)`)

// explain gives an error of the expression library a place in the expression, and suggests existing
// values instead of a missing one.
func explain(code string, vars map[string]any, err error) error {
	out := &Error{Length: len(code), Err: &diag.Error{Err: err}}
	if fe, ok := errors.AsType[*file.Error](err); ok {
		from := byteOffset(code, fe.From)
		to := max(byteOffset(code, fe.To), from)
		out.Offset, out.Length = from, to-from
		if fe.Prev != nil {
			err = fe.Prev
		} else {
			err = diag.InExpression(fe.Message)
		}
		out.Err = &diag.Error{Err: err}
	}
	// A panic of the library, or of a function called by it.
	if _, what, found := strings.Cut(out.Err.Err.Error(), "runtime error: "); found {
		out.Err = diag.At(diag.Pos{}, diag.SubjectCannot("the expression", "be evaluated: %s", what))
		return out
	}
	if what, found := conversion(out.Err.Err.Error()); found {
		out.Err = diag.Errorf(diag.Pos{}, "%s", what)
		return out
	}
	if d, ok := errors.AsType[*diag.Error](err); ok {
		c := *d
		out.Err = &c
		return out // reported by an inner template, with all details
	}
	if m, ok := errors.AsType[*notFoundError](err); ok {
		out.Err = &diag.Error{Err: m, Hint: cmp.Or(m.hint(), "add a default with lookup(path, default) or ??")}
		coverPath(code, out)
		return out
	}
	if name, ok := strings.CutPrefix(out.Err.Err.Error(), "unknown name "); ok {
		out.Length = len(name)
		hint := diag.DidYouMean(name, namesOf(vars))
		if slices.Contains(fileFunctions, name) {
			hint = "files cannot be read in data"
		} else if m := dashedName().FindStringSubmatch(code); m != nil {
			hint = fmt.Sprintf("for a name with a dash use %s[%q]", m[1], m[2])
		} else if hint == "" && strings.TrimSpace(code) == name {
			hint = "for a literal one use ${ '${" + name + "}' }"
		}
		out.Err = &diag.Error{Err: diag.Unknown("name", name, nil), Hint: hint}
	}
	if out.Length <= 0 {
		out.Length = 1
	}
	return out
}

// conversion rewrites the message of the library about a value of the wrong type:
// "interface conversion: interface {} is nil, not bool".
func conversion(message string) (what string, found bool) {
	_, message, found = strings.Cut(message, "interface conversion: interface {} is ")
	is, want, both := strings.Cut(message, ", not ")
	if !found || !both {
		return "", false
	}
	return diag.Expected("%s", goTypeName(want)).Got("%s", goTypeName(is)).Error(), true
}

// goTypeName describes a Go type in the words of messages.
func goTypeName(name string) string {
	switch {
	case name == "nil":
		return "nothing"
	case name == "bool":
		return "true or false"
	case name == "string":
		return "a string"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"), strings.HasPrefix(name, "float"):
		return "a number"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "map["):
		return "a table"
	}
	return "something else"
}

// coverPath extends the span of an error in a path such as Facts.os.family to the whole path.
func coverPath(code string, out *Error) {
	i := out.Offset
	isName := func(c byte) bool {
		return c == '_' || c == '.' || c == '?' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	if strings.HasPrefix(code[i:], "lookup") {
		if end := strings.IndexByte(code[i:], ')'); end > 0 {
			out.Length = end + 1
		}
		return
	}
	begin, end := i, i
	for begin > 0 && isName(code[begin-1]) {
		begin--
	}
	for end < len(code) && isName(code[end]) {
		end++
	}
	if end > begin {
		out.Offset, out.Length = begin, end-begin
	}
}

// namesOf returns the names that an expression can use.
func namesOf(vars map[string]any) []string {
	names := slices.Sorted(maps.Keys(vars))
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, " ") }) // of the compiler
	return append(names, builtin.Names...)
}

// byteOffset turns a position counted in characters into one in bytes.
func byteOffset(s string, runes int) int {
	i := 0
	for ; runes > 0 && i < len(s); runes-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}
