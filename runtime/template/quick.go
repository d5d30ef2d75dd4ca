package template

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// maxQuick is the number of bytes of the longest expression that is evaluated without the compiler.
const maxQuick = 4 << 10

// operatorNames are names with a meaning of their own in expressions, where a variable could stand.
var operatorNames = []string{"not", "in", "or", "and", "matches", "contains", "startsWith", "endsWith", "let", "if", "else"}

// A quickReader evaluates the frequent kinds of expressions while it reads them: paths, variables, literals, lookup(),
// ??, and strings joined by +. Their compiler takes 30 µs for each new text, a quickReader 1 µs.
//
// It fails without a reason for other expressions and for all mistakes: the compiled expression is then evaluated
// instead, which describes them.
type quickReader struct {
	*Env
	code    string
	at      int
	failed  bool
	missing bool // a path has no value; a mistake unless ?? follows
}

// quick returns the value of an expression if a quickReader can evaluate it.
func (e *Env) quick(code string) (val any, ok bool) {
	if len(code) > maxQuick || !utf8.ValidString(code) {
		return nil, false
	}
	q := quickReader{Env: e, code: code}
	val = q.sum(true)
	q.space()
	return val, !q.failed && !q.missing && q.at == len(code)
}

func (q *quickReader) fail() any {
	q.failed = true
	return nil
}

func (q *quickReader) space() {
	for q.at < len(q.code) && strings.IndexByte(" \t\r\n", q.code[q.at]) >= 0 {
		q.at++
	}
}

// accept reads a token, after space.
func (q *quickReader) accept(token string) bool {
	if q.failed {
		return false
	}
	q.space()
	if !strings.HasPrefix(q.code[q.at:], token) {
		return false
	}
	q.at += len(token)
	return true
}

// sum reads strings joined by +. The value is not computed where it is not needed: on the right of ?? after a value.
func (q *quickReader) sum(needed bool) any {
	val, mixed := q.coalesce(needed)
	for q.accept("+") {
		var right any
		left, isText := val.(string)
		if right, mixed = q.coalesceAfter(mixed, needed); q.failed {
			return nil
		}
		more, isTextToo := right.(string)
		if !isText || !isTextToo {
			return q.fail()
		}
		val = left + more
	}
	return val
}

// coalesceAfter is coalesce for the right side of a +, which must not follow a ?? without parentheses.
func (q *quickReader) coalesceAfter(mixed, needed bool) (any, bool) {
	if mixed || !needed {
		return q.fail(), false
	}
	return q.coalesce(needed)
}

// coalesce reads values separated by ??, and reports whether there is one.
func (q *quickReader) coalesce(needed bool) (val any, found bool) {
	before := q.missing
	q.missing = false
	val = q.value(needed)
	for q.accept("??") {
		found, q.missing = true, false
		isNil := runtime.IsNil(val)
		if right := q.value(needed && isNil); isNil {
			val = right
		}
	}
	q.missing = q.missing || before
	return val, found
}

func (q *quickReader) value(needed bool) any {
	if q.accept("(") {
		val := q.sum(needed)
		if !q.accept(")") {
			return q.fail()
		}
		return val
	}
	if q.failed || q.at == len(q.code) {
		return q.fail()
	}
	switch c := q.code[q.at]; {
	case c == '"' || c == '\'':
		return q.text()
	case c >= '0' && c <= '9':
		return q.number()
	}
	switch name := q.name(); {
	case name == "" || slices.Contains(operatorNames, name):
		return q.fail()
	case name == "true" || name == "false":
		return name == "true"
	case name == "nil":
		return nil
	case roots[name] != "":
		return q.path(roots[name], needed)
	case name == "lookup":
		return q.lookup(needed)
	default:
		return q.variable(name, needed)
	}
}

// text reads a string without escapes.
func (q *quickReader) text() any {
	n := strings.IndexByte(q.code[q.at+1:], q.code[q.at])
	if n < 0 {
		return q.fail()
	}
	text := q.code[q.at+1 : q.at+1+n]
	q.at += n + 2
	if strings.ContainsAny(text, "\\\n") {
		return q.fail()
	}
	return text
}

// number reads an integer. What may follow digits in other numbers is nothing that a quickReader reads.
func (q *quickReader) number() any {
	begin := q.at
	for q.at < len(q.code) && q.code[q.at] >= '0' && q.code[q.at] <= '9' {
		q.at++
	}
	if n, ok := index(q.code[begin:q.at]); ok {
		return n
	}
	return q.fail()
}

// name reads a name at once, or "".
func (q *quickReader) name() string {
	begin := q.at
	for ; q.at < len(q.code); q.at++ {
		switch c := q.code[q.at]; {
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || q.at > begin && c >= '0' && c <= '9':
			continue
		case c == '$' || c >= utf8.RuneSelf:
			q.fail() // may be a part of the name
		}
		break
	}
	return q.code[begin:q.at]
}

// steps reads the names and positions after the first name of a path, and reports whether one follows a question mark.
func (q *quickReader) steps() (steps []string, optional bool) {
	for !q.failed && q.at < len(q.code) {
		rest := q.code[q.at:]
		step := ""
		switch {
		case rest[0] == '[' && !optional:
			q.at++
			switch {
			case len(rest) > 1 && (rest[1] == '"' || rest[1] == '\''):
				step, _ = q.text().(string)
			default:
				n, _ := q.number().(int)
				step = strconv.Itoa(n)
			}
			if !q.accept("]") {
				q.fail()
			}
		case rest[0] == '.' || strings.HasPrefix(rest, "?."):
			optional = optional || rest[0] == '?'
			q.at += 1 + strings.IndexByte(rest, '.')
			if step = q.name(); step == "" {
				q.fail()
			}
		default:
			return steps, optional
		}
		steps = append(steps, step)
	}
	return steps, optional
}

func (q *quickReader) path(r root, needed bool) any {
	steps, optional := q.steps()
	if q.failed || !needed {
		return nil
	}
	val, err := q.trees.get(r, steps)
	switch {
	case IsMissing(err):
		q.missing = q.missing || !optional
		return nil
	case err != nil:
		return q.fail()
	}
	return val
}

func (q *quickReader) lookup(needed bool) any {
	if _, hidden := q.o.Vars["lookup"]; hidden || !q.accept("(") {
		return q.fail()
	}
	args := []any{q.sum(needed)}
	if q.accept(",") {
		args = append(args, q.sum(needed))
	}
	if !q.accept(")") {
		return q.fail()
	}
	if q.missing || !needed {
		return nil
	}
	val, err := q.trees.lookup(args...)
	if err != nil {
		return q.fail()
	}
	return val
}

// variable reads a value of Options.Vars, or a part of one.
func (q *quickReader) variable(name string, needed bool) any {
	val, ok := q.o.Vars[name]
	steps, optional := q.steps()
	if !ok || optional || len(steps) > 0 && !needed || slices.Contains(builtin.Names, name) {
		return q.fail()
	}
	for _, step := range steps {
		table, isTable := val.(map[string]any)
		if val, ok = table[step]; !isTable || !ok {
			return q.fail()
		}
	}
	switch val.(type) {
	case nil, string, bool, int64, float64, []any, map[string]any:
		return val
	}
	return q.fail()
}
