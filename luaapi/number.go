package luaapi

import (
	"errors"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua reads texts as numbers by the rules of Go: "010" is 8, "1_000" is 1000, and 1e3 is not
// known to tonumber. This file has the rules of Lua, for arithmetic, library functions and loops.

// textNumber returns the number that a text is, false if it is none. A sign, hexadecimal digits and
// an exponent are known, and blanks around the number are ignored.
func textNumber(s string) (lua.LNumber, bool) {
	text := strings.ToLower(strings.Trim(s, " \t\r\n\v\f"))
	allowed := "0123456789.e+-" // without the words for infinity that Go takes for numbers
	if strings.HasPrefix(strings.TrimLeft(text, "+-"), "0x") {
		allowed = "0123456789abcdefx.p+-"
		if !strings.Contains(text, "p") {
			text += "p0"
		}
	}
	if strings.Trim(text, allowed) != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return lua.LNumber(n), err == nil || errors.Is(err, strconv.ErrRange)
}

// numberValue returns the number that a value is or that its text is, false if it is none.
func numberValue(v lua.LValue) (lua.LNumber, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return v, true
	case lua.LString:
		return textNumber(string(v))
	}
	return 0, false
}

// checkNumber returns argument n, which must be a number.
func checkNumber(L *lua.LState, n int) lua.LNumber {
	number, ok := numberValue(L.Get(n))
	if !ok {
		L.TypeError(n, lua.LTNumber)
	}
	return number
}

// checkInt returns argument n, which must be a number, without its fraction.
func checkInt(L *lua.LState, n int) int { return int(checkNumber(L, n)) }

// optInt is checkInt for an argument that may be absent.
func optInt(L *lua.LState, n, absent int) int {
	if L.Get(n) == lua.LNil {
		return absent
	}
	return checkInt(L, n)
}

// withNumbers wraps a function of gopher-lua whose arguments from number first to number last are
// numbers.
func withNumbers(first, last int, fn lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		for i := first; i <= min(last, L.GetTop()); i++ {
			if text, ok := L.Get(i).(lua.LString); ok {
				if n, ok := textNumber(string(text)); ok {
					L.Replace(i, n)
				}
			}
		}
		return fn(L)
	}
}

// textArithmetic lists the functions for the metatable of strings that calculate with texts.
// gopher-lua calls them before it reads a text itself.
func textArithmetic() []builtin {
	list := []builtin{{"__unm", func(L *lua.LState) int {
		n, ok := numberValue(L.Get(1))
		if !ok {
			L.RaiseError("__unm undefined") // a message of gopher-lua, as that below
		}
		L.Push(-n)
		return 1
	}}}
	for name, calculate := range map[string]func(a, b float64) float64{
		"add": func(a, b float64) float64 { return a + b },
		"sub": func(a, b float64) float64 { return a - b },
		"mul": func(a, b float64) float64 { return a * b },
		"div": func(a, b float64) float64 { return a / b },
		"mod": modulo,
		"pow": math.Pow,
	} {
		list = append(list, builtin{"__" + name, func(L *lua.LState) int {
			a, b := L.Get(1), L.Get(2)
			x, okX := numberValue(a)
			y, okY := numberValue(b)
			if okX && okY {
				L.Push(lua.LNumber(calculate(float64(x), float64(y))))
				return 1
			}
			for _, v := range []lua.LValue{a, b} {
				if fn := L.GetMetaField(v, "__"+name); v.Type() != lua.LTString && fn != lua.LNil {
					L.Push(fn)
					L.Push(a)
					L.Push(b)
					L.Call(2, 1)
					return 1
				}
			}
			L.RaiseError("cannot perform %s operation between %s and %s", name, a.Type(), b.Type())
			return 0
		}})
	}
	return list
}

// modulo returns the rest of a division, with the sign of the divisor.
func modulo(a, b float64) float64 {
	rest := math.Mod(a, b)
	if b > 0 && rest < 0 || b < 0 && rest > 0 {
		rest += b
	}
	return rest
}

// loopBound returns the replacement of the first or last value or the step of a numeric for. Texts
// become numbers; gopher-lua reports other values.
func (d *rewriter) loopBound(e ast.Expr, line int) ast.Expr {
	switch e.(type) {
	case *ast.NumberExpr, *ast.ArithmeticOpExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr:
		return e
	}
	if d.bound == 0 {
		d.bound = d.addFunction(func(L *lua.LState) int {
			if text, ok := L.Get(1).(lua.LString); ok {
				if n, ok := textNumber(string(text)); ok {
					L.Push(n)
				}
			}
			return 1
		}) + 1
	}
	call := &ast.FuncCallExpr{Func: d.placeholder(d.bound - 1), Args: []ast.Expr{single(e)}, AdjustRet: true}
	call.SetLine(line)
	return call
}

// toNumber is tonumber.
func (lib *baseLib) toNumber(L *lua.LState) int {
	v := L.CheckAny(1)
	base := optInt(L, 2, 10)
	var n lua.LNumber
	ok := false
	switch {
	case base < 2 || base > 36:
		L.ArgError(2, "the base is not within 2 to 36")
	case base == 10:
		n, ok = numberValue(v)
	default:
		text := strings.ToLower(strings.Trim(L.CheckString(1), " \t\r\n\v\f"))
		digits := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "+")
		if base == 16 {
			digits = strings.TrimPrefix(digits, "0x")
		}
		u, err := strconv.ParseUint(digits, base, 64)
		ok = err == nil || errors.Is(err, strconv.ErrRange)
		if n = lua.LNumber(u); strings.HasPrefix(text, "-") {
			n = -n
		}
	}
	if ok {
		L.Push(n)
	} else {
		L.Push(lua.LNil)
	}
	return 1
}

// toString is tostring.
func (lib *baseLib) toString(L *lua.LState) int {
	v := L.CheckAny(1)
	if n, ok := v.(lua.LNumber); ok {
		v = lua.LString(lib.ev.source.numberText(L, n))
	}
	L.Push(L.ToStringMeta(v))
	return 1
}

// textOf returns a value as tostring does.
func (ev *evaluator) textOf(L *lua.LState, v lua.LValue) string {
	if n, ok := v.(lua.LNumber); ok {
		return ev.source.numberText(L, n)
	}
	return L.ToStringMeta(v).String()
}

// numberText returns a number as the calling code writes it. In modules of others fractions have fourteen digits, as in
// Lua 5.1. Whole numbers have all digits everywhere: a module that writes a file must not change them.
func (sm *sourceMap) numberText(L *lua.LState, n lua.LNumber) string {
	if lua.LNumber(int64(n)) == n || !sm.isForeign(caller(L)) {
		return n.String()
	}
	sign := field{}.sign(math.Signbit(float64(n)))
	switch {
	case math.IsInf(float64(n), 0):
		return sign + "inf"
	case math.IsNaN(float64(n)):
		return sign + "nan"
	}
	return strconv.FormatFloat(float64(n), 'g', 14, 64)
}
