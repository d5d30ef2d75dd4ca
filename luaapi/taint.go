package luaapi

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/secret"
)

// A secret is an ordinary string with a known value (package secret). The result of a
// library function on a secret has another value, and must become a secret too: its
// base64, its digest, a part of it. To find the secret part of a result, the function is
// called again with another text in the place of each secret: that part is where the two
// results differ.

// Secrets returns the keeper of the secrets of scripts.
func (in *Interp) Secrets() *secret.Keeper { return in.opts.Secrets }

// A taintTracker finds the results of functions that derive from secrets.
type taintTracker struct {
	secrets *secret.Keeper
	tables  *Tables
	limits  *limits
	report  *mistakeCollector
}

// Derived wraps a function without side effects so that results that derive from secrets
// are secret too. Without secrets it costs nothing.
func (ev *evaluator) Derived(fn lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		if !ev.opts.Secrets.Any() {
			return fn(L)
		}
		return ev.taint.callTracked(L, fn)
	}
}

// Limits of the search for strings in arguments and results.
const (
	taintDepth  = 50
	taintValues = 10000
)

func (tt *taintTracker) callTracked(L *lua.LState, fn lua.LGFunction) int {
	k := tt.secrets
	var args []lua.LValue
	tainted, callback := false, false
	for i := 1; i <= L.GetTop(); i++ {
		v := L.Get(i)
		args = append(args, v)
		for _, text := range tt.stringsIn(v) {
			tainted = tainted || k.Contains(text)
		}
		callback = callback || runsCode(v)
	}
	n := fn(L)
	if !tainted {
		return n
	}
	var results []lua.LValue
	for i := range n {
		results = append(results, L.Get(i-n))
	}
	if it, ok := firstResult(results).(*lua.LFunction); ok && it.IsG && n == 1 { // an iterator, such as that of gmatch
		results[0] = L.NewFunction(tt.trackIterator(it, args))
		L.Replace(L.GetTop(), results[0])
		return n
	}
	got := tt.stringsIn(results...)
	if !tt.mayDerive(got) {
		return n
	}
	var other []string
	if callback {
		other = tt.stringsIn(args[0]) // a callback may have side effects, so the function is not called again
	} else {
		other = tt.repeatWithout(L, fn, args)
	}
	for i, text := range got {
		if len(text) < secret.Shortest || k.Contains(text) {
			continue
		}
		than := ""
		if len(other) == len(got) {
			than = other[i]
		}
		tt.addDifference(text, than)
	}
	return n
}

// runsCode reports whether a library function may call a function of a script for an argument.
func runsCode(v lua.LValue) bool {
	switch v := v.(type) {
	case *lua.LFunction:
		return true
	case *lua.LTable:
		if mt, ok := v.Metatable.(*lua.LTable); ok {
			for k, e := mt.Next(lua.LNil); k != lua.LNil; k, e = mt.Next(k) {
				if isOfScript(e) {
					return true
				}
			}
		}
	}
	return false
}

func firstResult(list []lua.LValue) lua.LValue {
	if len(list) == 0 {
		return lua.LNil
	}
	return list[0]
}

// trackIterator wraps an iterator: its results derive from the arguments of the function that
// returned it.
func (tt *taintTracker) trackIterator(it *lua.LFunction, args []lua.LValue) lua.LGFunction {
	return func(L *lua.LState) int {
		n := it.GFunction(L)
		for i := range n {
			text, ok := L.Get(i - n).(lua.LString)
			if !ok || len(text) < secret.Shortest || tt.secrets.Contains(string(text)) {
				continue
			}
			if !tt.isOutsideSecrets(string(text), args) {
				_ = tt.secrets.Add(string(text))
			}
		}
		return n
	}
}

// isOutsideSecrets reports whether a text appears in the arguments outside of secrets.
func (tt *taintTracker) isOutsideSecrets(text string, args []lua.LValue) bool {
	for _, arg := range tt.stringsIn(args...) {
		for _, part := range tt.secrets.Clear(arg) {
			if strings.Contains(part, text) {
				return true
			}
		}
	}
	return false
}

// mayDerive reports whether one of the texts may derive from a secret without containing
// it.
func (tt *taintTracker) mayDerive(texts []string) bool {
	for _, text := range texts {
		if len(text) >= secret.Shortest && !tt.secrets.Contains(text) {
			return true
		}
	}
	return false
}

// addDifference adds the part in which a text differs from another to the secrets.
func (tt *taintTracker) addDifference(text, than string) {
	if text == than {
		return
	}
	from, to, end := 0, len(text), len(than)
	for from < to && from < end && text[from] == than[from] {
		from++
	}
	for to > from && end > from && text[to-1] == than[end-1] {
		to, end = to-1, end-1
	}
	part := text[from:to]
	_ = tt.secrets.Add(part) // what is too short cannot be hidden
	if 2*len(part) > len(text) && !strings.ContainsAny(text, " \t\r\n") {
		// A digest may have a character in common with another by chance.
		_ = tt.secrets.Add(text)
	}
}

// repeatWithout returns the texts in the results of a function for other secrets.
func (tt *taintTracker) repeatWithout(L *lua.LState, fn lua.LGFunction, args []lua.LValue) []string {
	was, asking := tt.report.lastThrown, tt.report.mistakes
	defer func() { tt.report.lastThrown, tt.report.mistakes = was, asking }()
	left := taintValues
	other := make([]lua.LValue, len(args))
	for i, arg := range args {
		other[i] = tt.substitute(L, arg, 0, &left)
	}
	results, thrown := tt.limits.protect(L, nil, L.NewFunction(fn), other...)
	if thrown != nil {
		return nil
	}
	return tt.stringsIn(results...)
}

// substitute returns a value with each secret replaced by another text.
func (tt *taintTracker) substitute(L *lua.LState, v lua.LValue, depth int, left *int) lua.LValue {
	*left--
	switch v := v.(type) {
	case lua.LString:
		return lua.LString(tt.secrets.Replace(string(v), substituteText))
	case *lua.LTable:
		if depth > taintDepth || *left < 0 {
			return v
		}
		from := tt.tables.Contents(v)
		t := L.CreateTable(from.Len(), 0)
		t.Metatable = from.Metatable
		for key, val := from.Next(lua.LNil); key != lua.LNil; key, val = from.Next(key) {
			t.RawSet(tt.substitute(L, key, depth+1, left), tt.substitute(L, val, depth+1, left))
		}
		return t
	}
	return v
}

// substituteText returns a text that is like s and differs from it in every letter and
// digit.
func substituteText(s string) string {
	turn := func(c, first byte, n byte) byte { return first + (c-first+n/2)%n }
	out := []byte(s)
	for i, c := range out {
		switch {
		case c >= 'a' && c <= 'z':
			out[i] = turn(c, 'a', 26)
		case c >= 'A' && c <= 'Z':
			out[i] = turn(c, 'A', 26)
		case c >= '0' && c <= '9':
			out[i] = turn(c, '0', 10)
		}
	}
	if string(out) == s {
		return strings.Repeat("x", len(s))
	}
	return string(out)
}

// stringsIn returns the strings in values, in order.
func (tt *taintTracker) stringsIn(values ...lua.LValue) (out []string) {
	left := taintValues
	var walk func(v lua.LValue, depth int)
	walk = func(v lua.LValue, depth int) {
		if left--; left < 0 || depth > taintDepth {
			return
		}
		switch v := v.(type) {
		case lua.LString:
			out = append(out, string(v))
		case *lua.LTable:
			t := tt.tables.Contents(v)
			for key, val := t.Next(lua.LNil); key != lua.LNil; key, val = t.Next(key) {
				if key.Type() == lua.LTString {
					walk(key, depth+1)
				}
				walk(val, depth+1)
			}
		}
	}
	for _, v := range values {
		walk(v, 0)
	}
	return out
}
