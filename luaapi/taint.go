package luaapi

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/secret"
)

// A secret is an ordinary string, which is known by its value (package secret).
// What a function of a library makes of one is not that value any more, and has
// to become a secret too: its base64, its digest, a part of it. What of a result
// comes of a secret is found out by calling the function once more with another
// text in the place of each secret: it is where the two results differ.

// Secrets returns what keeps the secrets of scripts.
func (in *Interp) Secrets() *secret.Keeper { return in.opts.Secrets }

// A taintTracker finds what functions make of secrets.
type taintTracker struct{ in *Interp }

// Derived returns a function without effects so that what it makes of secrets is
// secret too. As long as there are none, it costs nothing.
func (in *Interp) Derived(fn lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		if !in.opts.Secrets.Any() {
			return fn(L)
		}
		return in.taint.derived(L, fn)
	}
}

// How much of the arguments and results is looked at.
const (
	taintDepth  = 50
	taintValues = 10000
)

func (tt *taintTracker) derived(L *lua.LState, fn lua.LGFunction) int {
	k := tt.in.opts.Secrets
	var args []lua.LValue
	tainted, callback := false, false
	for i := 1; i <= L.GetTop(); i++ {
		v := L.Get(i)
		args = append(args, v)
		for _, text := range tt.stringsIn(v) {
			tainted = tainted || k.Contains(text)
		}
		callback = callback || v.Type() == lua.LTFunction
	}
	n := fn(L)
	if !tainted {
		return n
	}
	var results []lua.LValue
	for i := range n {
		results = append(results, L.Get(i-n))
	}
	if it, ok := results0(results).(*lua.LFunction); ok && it.IsG && n == 1 { // an iterator, as of gmatch
		results[0] = L.NewFunction(tt.iterated(it, args))
		L.Replace(L.GetTop(), results[0])
		return n
	}
	got := tt.stringsIn(results...)
	if !tt.unknown(got) {
		return n
	}
	var other []string
	if callback {
		other = tt.stringsIn(args[0]) // the function must not be called twice
	} else {
		other = tt.otherwise(L, fn, args)
	}
	for i, text := range got {
		if len(text) < secret.Shortest || k.Contains(text) {
			continue
		}
		than := ""
		if len(other) == len(got) {
			than = other[i]
		}
		tt.reveal(text, than)
	}
	return n
}

func results0(list []lua.LValue) lua.LValue {
	if len(list) == 0 {
		return lua.LNil
	}
	return list[0]
}

// iterated returns an iterator whose results are seen as made of the arguments
// that it was made with.
func (tt *taintTracker) iterated(it *lua.LFunction, args []lua.LValue) lua.LGFunction {
	return func(L *lua.LState) int {
		n := it.GFunction(L)
		for i := range n {
			text, ok := L.Get(i - n).(lua.LString)
			if !ok || len(text) < secret.Shortest || tt.in.opts.Secrets.Contains(string(text)) {
				continue
			}
			if !tt.clear(string(text), args) {
				_ = tt.in.opts.Secrets.Add(string(text))
			}
		}
		return n
	}
}

// clear reports whether a text stands in the arguments beside their secrets.
func (tt *taintTracker) clear(text string, args []lua.LValue) bool {
	for _, arg := range tt.stringsIn(args...) {
		for _, part := range tt.in.opts.Secrets.Clear(arg) {
			if strings.Contains(part, text) {
				return true
			}
		}
	}
	return false
}

// unknown reports whether there is a text that may come of a secret and does not
// hold it.
func (tt *taintTracker) unknown(texts []string) bool {
	for _, text := range texts {
		if len(text) >= secret.Shortest && !tt.in.opts.Secrets.Contains(text) {
			return true
		}
	}
	return false
}

// reveal makes a secret of what in a text differs from another.
func (tt *taintTracker) reveal(text, than string) {
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
	_ = tt.in.opts.Secrets.Add(part) // what is too short cannot be hidden
	if 2*len(part) > len(text) && !strings.ContainsAny(text, " \t\r\n") {
		// A digest may have a character in common with another by chance.
		_ = tt.in.opts.Secrets.Add(text)
	}
}

// otherwise returns the texts that a function gives if the secrets are others.
func (tt *taintTracker) otherwise(L *lua.LState, fn lua.LGFunction, args []lua.LValue) []string {
	was, asking := tt.in.report.raised, tt.in.report.mistakes
	defer func() { tt.in.report.raised, tt.in.report.mistakes = was, asking }()
	top := L.GetTop()
	defer L.SetTop(top)
	left := taintValues
	L.Push(L.NewFunction(fn))
	for _, arg := range args {
		L.Push(tt.exchanged(L, arg, 0, &left))
	}
	if L.PCall(len(args), lua.MultRet, nil) != nil {
		return nil
	}
	var results []lua.LValue
	for i := top + 1; i <= L.GetTop(); i++ {
		results = append(results, L.Get(i))
	}
	return tt.stringsIn(results...)
}

// exchanged returns a value with other texts in the place of its secrets.
func (tt *taintTracker) exchanged(L *lua.LState, v lua.LValue, depth int, left *int) lua.LValue {
	*left--
	switch v := v.(type) {
	case lua.LString:
		return lua.LString(tt.in.opts.Secrets.Replace(string(v), exchange))
	case *lua.LTable:
		if depth > taintDepth || *left < 0 {
			return v
		}
		from := tt.in.Tables.Contents(v)
		t := L.CreateTable(from.Len(), 0)
		t.Metatable = from.Metatable
		for key, val := from.Next(lua.LNil); key != lua.LNil; key, val = from.Next(key) {
			t.RawSet(tt.exchanged(L, key, depth+1, left), tt.exchanged(L, val, depth+1, left))
		}
		return t
	}
	return v
}

// exchange returns a text that is like s and differs from it in every letter and
// digit.
func exchange(s string) string {
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

// stringsIn returns the strings in values, in their order.
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
			t := tt.in.Tables.Contents(v)
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
