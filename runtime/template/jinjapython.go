package template

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// Where the library computes or prints another value than Jinja, which is Python, the functions of this file take its
// place: filters by their names, operators and printed values as calls in the parsed template.

// operators are the functions of operators. The names are those of calls in parsed templates.
var operators = map[tokens.Type]string{
	tokens.Power: "ccm power", tokens.Modulo: "ccm modulo", tokens.FloorDivision: "ccm floor", tokens.Division: "ccm divide", tokens.Tilde: "ccm concat",
}

// operation makes an operator call a function: it becomes true and f(left, right).
func operation(n *nodes.BinaryExpression, name string) {
	at := *n.Position()
	_, several := n.Right.(*nodes.Tuple)
	call, _ := watched(name, n.Left).(*nodes.Call)
	call.Args = append(call.Args, n.Right, &nodes.Bool{Location: call.Args[0].Position(), Val: several})
	and := at
	and.Type, and.Val = tokens.And, "and"
	n.Left, n.Right, n.Operator = &nodes.Bool{Location: &at, Val: true}, call, &nodes.BinOperator{Token: &and}
}

// operate returns the function of an operator. Only a format has several operands at its right.
func (r *rendering) operate(do func(left, right *exec.Value, several bool) *exec.Value) func(*exec.VarArgs) *exec.Value {
	return func(params *exec.VarArgs) *exec.Value {
		left, right := params.Args[1], params.Args[3]
		r.line = params.Args[2].Integer()
		r.step()
		r.whole(left)
		r.whole(right)
		r.checkOperands(left, right, nil)
		return do(left, right, params.Args[4].Bool())
	}
}

func (r *rendering) power(left, right *exec.Value, _ bool) *exec.Value {
	f := math.Pow(left.Float(), right.Float())
	if left.IsFloat() || right.IsFloat() || right.Integer() < 0 || math.Abs(f) >= 1<<63 {
		return exec.AsValue(f)
	}
	n, base := int64(1), int64(left.Integer())
	for range right.Integer() { // at most 62 times, but for 0, 1 and -1
		if n *= base; n == 0 || n == 1 && base == 1 {
			break
		}
		if base == -1 {
			n = 1 - 2*int64(right.Integer()&1)
			break
		}
	}
	return exec.AsValue(n)
}

// checkRange ends the rendering if a number is too large for the library, which computes with int: it would go on with
// another number. That happens where int has 32 bits.
func (r *rendering) checkRange(f float64) {
	const most, bits = math.MaxInt, strconv.IntSize
	if bits == 32 && math.Abs(f) > most {
		r.throw(diag.Too(fmt.Sprintf("number %.0f", f), "large for a machine of %d bits", bits))
	}
}

// checkOperands is checkRange for the operands of an operator and, if both are integers, for the result.
func (r *rendering) checkOperands(left, right *exec.Value, result func(a, b float64) float64) {
	for _, v := range []*exec.Value{left, right} {
		if v.IsInteger() {
			r.checkRange(v.Float())
		}
	}
	if result != nil && left.IsInteger() && right.IsInteger() {
		r.checkRange(result(left.Float(), right.Float()))
	}
}

// nonZero ends the rendering if a divisor is 0.
func (r *rendering) nonZero(v *exec.Value) float64 {
	f := v.Float()
	if f == 0 {
		r.throw(errors.New("division by zero"))
	}
	return f
}

func (r *rendering) divide(left, right *exec.Value, _ bool) *exec.Value {
	return exec.AsValue(left.Float() / r.nonZero(right))
}

func (r *rendering) floor(left, right *exec.Value, _ bool) *exec.Value {
	by := r.nonZero(right)
	if left.IsFloat() || right.IsFloat() {
		return exec.AsValue(math.Floor(left.Float() / by))
	}
	a, b := left.Integer(), right.Integer()
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return exec.AsValue(q)
}

func (r *rendering) concat(left, right *exec.Value, _ bool) *exec.Value {
	a, b := r.written(left).String(), r.written(right).String()
	r.checkRoom(1, len(a)+len(b))
	return exec.AsValue(a + b)
}

func (r *rendering) modulo(left, right *exec.Value, several bool) *exec.Value {
	if left.IsString() {
		args := []*exec.Value{right}
		if several {
			args = itemsOf(right)
		}
		return exec.AsValue(r.format(left.String(), args, right))
	}
	by := r.nonZero(right)
	if left.IsFloat() || right.IsFloat() {
		rest := math.Mod(left.Float(), by)
		if rest != 0 && (rest < 0) != (by < 0) {
			rest += by
		}
		return exec.AsValue(rest)
	}
	a, b := left.Integer(), right.Integer()
	rest := a % b
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	return exec.AsValue(rest)
}

// itemsOf returns the items of a list, the keys of a table, or the characters of a text.
func itemsOf(v *exec.Value) (list []*exec.Value) {
	if v.IsString() {
		for _, c := range v.String() {
			list = append(list, exec.AsValue(string(c)))
		}
		return list
	}
	v.Iterate(func(_, _ int, key, _ *exec.Value) bool {
		list = append(list, key)
		return true
	}, func() {})
	return list
}

// A tuple is a list that is printed in parentheses.
type tuple []any

// String implements fmt.Stringer.
func (t tuple) String() string { return new(rendering).python(exec.AsValue([]any(t)), true) }

// pairsOf returns the keys of a table with their values, in the order of the keys if they come from data.
func pairsOf(v *exec.Value) (list []tuple) {
	if d, ok := v.Interface().(*exec.Dict); ok {
		for _, p := range d.Pairs {
			list = append(list, tuple{p.Key.Interface(), p.Value.Interface()})
		}
		return list
	}
	for _, p := range v.Items() {
		list = append(list, tuple{p.Key.Interface(), p.Value.Interface()})
	}
	slices.SortFunc(list, func(a, b tuple) int { return strings.Compare(fmt.Sprint(a[0]), fmt.Sprint(b[0])) })
	return list
}

// formatConversion finds the conversions of a format: a name, flags, a width with a precision, and a letter.
var formatConversion = lazyregexp.New(`(?s)%(?:\(([^)]*)\))?([-+ #0]*)([0-9]*(?:\.[0-9]*)?)(.?)`)

// format fills in the conversions of a format of Python: %s, %d, %05.1f, %(name)s from named.
func (r *rendering) format(text string, args []*exec.Value, named *exec.Value) string {
	if wide().MatchString(text) {
		r.throw(fmt.Errorf("format: %w", diag.Expected("widths of at most %d", maxWidth)))
	}
	used, byName := 0, false
	var b strings.Builder
	from := 0
	for _, m := range formatConversion().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[from:m[0]])
		from = m[1]
		flags, width, verb := text[m[4]:m[5]], text[m[6]:m[7]], text[m[8]:m[9]]
		var v *exec.Value
		switch {
		case verb == "%":
			b.WriteString("%")
			continue
		case m[2] >= 0:
			byName = true
			found := false
			if named != nil {
				v, found = named.GetItem(text[m[2]:m[3]])
			}
			if !found {
				r.throw(fmt.Errorf("format: %w", diag.None("value %q", text[m[2]:m[3]])))
			}
		case used == len(args):
			r.throw(fmt.Errorf("format: %w", diag.Not("", "enough values for %q", text)))
		default:
			v = args[used]
			used++
		}
		left := strings.Repeat("-", strings.Count(flags, "-"))
		switch verb {
		case "s":
			fmt.Fprintf(&b, "%"+left+width+"s", r.python(v, false))
		case "r", "a":
			fmt.Fprintf(&b, "%"+left+width+"s", r.python(v, true))
		case "d", "i", "u":
			fmt.Fprintf(&b, "%"+flags+width+"d", v.Integer())
		case "x", "X", "o":
			fmt.Fprintf(&b, "%"+flags+width+verb, v.Integer())
		case "g", "G":
			if !strings.Contains(width, ".") {
				width += ".6"
			}
			fallthrough
		case "e", "E", "f", "F":
			fmt.Fprintf(&b, "%"+flags+width+verb, v.Float())
		default:
			r.throw(fmt.Errorf("format: %w", diag.Unknown("conversion", text[m[0]:m[1]], nil)))
		}
		if b.Len() > maxOutput {
			r.throw(errTooLong)
		}
	}
	if used < len(args) && !byName {
		r.throw(fmt.Errorf("format: %w", diag.TooMany("values for %q", text)))
	}
	return b.String() + text[from:]
}

// python returns a value as Python prints it; quote puts a text in quotes, as it is in lists. An unknown name in it
// ends the rendering.
func (r *rendering) python(v *exec.Value, quote bool) string {
	if v.IsString() && !quote {
		return v.String()
	}
	var b strings.Builder
	r.pythonInto(&b, v)
	return b.String()
}

func (r *rendering) pythonInto(b *strings.Builder, v *exec.Value) {
	if b.Len() > maxOutput {
		r.throw(errTooLong)
	}
	if v == nil || v.IsNil() {
		b.WriteString("None")
		return
	}
	if v.IsError() {
		problem, _ := v.Interface().(error)
		r.throw(errors.New(unknownName(problem.Error())))
	}
	val := v.Val
	for val.Kind() == reflect.Pointer || val.Kind() == reflect.Interface {
		val = val.Elem()
	}
	one := func(item any) { r.pythonInto(b, exec.ToValue(item)) }
	list := func(left, right string) {
		b.WriteString(left)
		for i := range val.Len() {
			if i > 0 {
				b.WriteString(", ")
			}
			one(val.Index(i).Interface())
		}
		if left == "(" && val.Len() == 1 {
			b.WriteByte(',')
		}
		b.WriteString(right)
	}
	_, prints := v.Val.Interface().(fmt.Stringer)
	dict, isDict := val.Interface().(exec.Dict)
	_, isValues := val.Interface().(exec.ValuesList)
	switch {
	case v.IsString():
		b.WriteString(pythonQuoted(v.String()))
	case isDict:
		b.WriteByte('{')
		for i, p := range dict.Pairs {
			if i > 0 {
				b.WriteString(", ")
			}
			r.pythonInto(b, p.Key)
			b.WriteString(": ")
			r.pythonInto(b, p.Value)
		}
		b.WriteByte('}')
	case val.Kind() == reflect.Slice && prints && !isValues: // a tuple of the library
		list("(", ")")
	case val.Kind() == reflect.Slice && val.Type().Elem().Kind() != reflect.Uint8, val.Kind() == reflect.Array:
		list("[", "]")
	case val.Kind() == reflect.Map && !prints:
		keys := val.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		b.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				b.WriteString(", ")
			}
			one(key.Interface())
			b.WriteString(": ")
			one(val.MapIndex(key).Interface())
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.String())
	}
}

// pythonQuoted returns a text in quotes, as Python prints it in lists.
func pythonQuoted(s string) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, c := range s {
		switch {
		case c == '\\' || c == rune(quote):
			b.WriteString("\\" + string(c))
		case strconv.IsPrint(c):
			b.WriteRune(c)
		case c < ' ' && strings.ContainsRune("\n\r\t", c):
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

// written returns a value that is about to be printed: lists and tables as text.
func (r *rendering) written(v *exec.Value) *exec.Value {
	if v.IsString() || v.IsNil() || !v.IsList() && !v.IsDict() {
		return v
	}
	return exec.AsValue(r.python(v, true))
}

// characters returns the list of the characters of a text, which the library takes for bytes. Other values stay.
func (r *rendering) characters(v *exec.Value) *exec.Value {
	if !v.IsString() || v.IsError() || !strings.ContainsFunc(v.String(), func(c rune) bool { return c >= 0x80 }) {
		return v
	}
	return exec.AsValue(itemsOf(v))
}

// pythonFilters returns filters that replace those of the library.
func (r *rendering) pythonFilters(of *exec.FilterSet) map[string]exec.FilterFunction {
	sort, _ := of.Get("dictsort")
	toJSON, _ := of.Get("tojson")
	items, _ := of.Get("items")
	return map[string]exec.FilterFunction{
		"reverse": func(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
			if in.IsError() {
				return in
			}
			list := itemsOf(in)
			slices.Reverse(list)
			if !in.IsString() {
				return exec.AsValue(exec.ValuesList(list))
			}
			var b strings.Builder
			for _, c := range list {
				b.WriteString(c.String())
			}
			return exec.AsValue(b.String())
		},
		"dictsort": func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
			if d, ok := in.Interface().(*exec.Dict); ok { // the library sorts only tables of the data
				table := make(map[any]any, len(d.Pairs))
				for _, p := range d.Pairs {
					table[p.Key.Interface()] = p.Value.Interface()
				}
				in = exec.AsValue(table)
			}
			return sort(e, in, params)
		},
		"items": func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
			if in.IsError() || !in.IsDict() {
				return items(e, in, params)
			}
			return exec.AsValue(pairsOf(in))
		},
		"string": func(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
			if in.IsError() {
				return in
			}
			return exec.AsValue(r.written(in).String())
		},
		"format": func(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
			if in.IsError() {
				return in
			}
			named := make(map[string]any, len(params.KwArgs))
			for name, v := range params.KwArgs {
				named[name] = v.Interface()
			}
			return exec.AsValue(r.format(in.String(), params.Args, exec.AsValue(named)))
		},
		"tojson": func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
			lines := params.KwArgs["indent"] != nil || len(params.Args) > 0
			out := toJSON(e, in, params)
			if out.IsError() || lines {
				return out
			}
			return exec.AsSafeValue(spaced(out.String()))
		},
	}
}

// spaced puts a blank behind each comma and colon of a JSON text, as Python does.
func spaced(text string) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		b.WriteByte(c)
		switch {
		case inString && c == '\\':
			i++
			b.WriteByte(text[i])
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// An unpacking is a set with several names: {% set a, b = 1, 2 %}.
type unpacking struct {
	location *tokens.Token
	names    []string
	values   []nodes.Expression
}

// parseUnpacking parses the arguments of a set with several names.
func parseUnpacking(args *parser.Parser) (nodes.ControlStructure, error) {
	n := &unpacking{location: args.Current()}
	for {
		name := args.Match(tokens.Name)
		if name == nil {
			return nil, args.Error(diag.Expected("a name").Error(), args.Current())
		}
		n.names = append(n.names, name.Val)
		if args.Match(tokens.Comma) == nil {
			break
		}
	}
	if args.Match(tokens.Assign) == nil {
		return nil, args.Error(diag.Expected("= after the names").Error(), args.Current())
	}
	for {
		value, err := args.ParseExpression()
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, value)
		if args.Match(tokens.Comma) == nil {
			break
		}
	}
	if !args.End() {
		return nil, args.Error(diag.Expected("the end of the tag").Error(), args.Current())
	}
	return n, nil
}

// Position implements nodes.Node.
func (n *unpacking) Position() *tokens.Token { return n.location }

// String implements nodes.Node.
func (n *unpacking) String() string { return "set " + strings.Join(n.names, ", ") }

// Execute implements exec.ControlStructure.
func (n *unpacking) Execute(r *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	values := make([]*exec.Value, len(n.values))
	for i, expression := range n.values {
		if values[i] = r.Eval(expression); values[i].IsError() {
			return values[i]
		}
	}
	if len(values) == 1 {
		values = itemsOf(values[0])
	}
	if len(values) != len(n.names) {
		return fmt.Errorf("at line %d: %w", n.location.Line, diag.Expected("%d values", len(n.names)).Got("%d", len(values)))
	}
	for i, name := range n.names {
		r.Environment.Context.Set(name, values[i].Interface())
	}
	return nil
}
