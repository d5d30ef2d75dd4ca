package luaapi

import (
	"runtime"
	"strings"
	"weak"

	lua "github.com/yuin/gopher-lua"
)

// weakTables are the tables of which the metatable has __mode. gopher-lua keeps all that is in them. Their keys and values
// that nothing else refers to are removed when a module of others calls collectgarbage, as Lua does then: what they
// have is taken out, the collector of Go runs, and what it has left is put back.
type weakTables struct {
	tables []weak.Pointer[lua.LTable]
	pruned int // the number of tables when those that are gone were last removed
}

// A weakReference returns a value, nil once nothing refers to it any more.
type weakReference func() lua.LValue

// add notes that a table has got a metatable.
func (w *weakTables) add(t *lua.LTable, metatable lua.LValue) {
	if keys, values := weakMode(metatable); !keys && !values {
		return
	}
	if len(w.tables) > 2*w.pruned+1000 {
		w.prune()
	}
	w.tables = append(w.tables, weak.Make(t))
}

// prune forgets the tables that are gone.
func (w *weakTables) prune() {
	kept := w.tables[:0]
	for _, p := range w.tables {
		if p.Value() != nil {
			kept = append(kept, p)
		}
	}
	w.tables, w.pruned = kept, len(kept)
}

// weakMode reports whether a metatable makes keys and values weak.
func weakMode(metatable lua.LValue) (keys, values bool) {
	mt, ok := metatable.(*lua.LTable)
	if !ok {
		return false, false
	}
	mode, _ := mt.RawGetString("__mode").(lua.LString)
	return strings.Contains(string(mode), "k"), strings.Contains(string(mode), "v")
}

// collectGarbage is collectgarbage for the code of others.
func (w *weakTables) collectGarbage(L *lua.LState) int {
	if option := L.OptString(1, "collect"); option == "collect" || option == "step" {
		w.sweep()
	}
	L.Push(lua.LNumber(0))
	return 1
}

// sweep removes from weak tables what nothing else refers to.
func (w *weakTables) sweep() {
	w.prune()
	if len(w.tables) == 0 {
		return
	}
	puts := make([]func(), 0, len(w.tables))
	for _, p := range w.tables {
		if t := p.Value(); t != nil {
			puts = append(puts, emptied(t))
		}
	}
	runtime.GC()
	for _, put := range puts {
		put()
	}
}

// emptied empties a weak table. What it returns puts back what is still there then.
func emptied(t *lua.LTable) (put func()) {
	type entry struct{ key, value weakReference }
	keys, values := weakMode(t.Metatable)
	if !keys && !values {
		return func() {}
	}
	var entries []entry
	t.ForEach(func(k, v lua.LValue) {
		entries = append(entries, entry{reference(k, keys), reference(v, values)})
	})
	// To set its fields to nil would keep the keys, which the iteration needs.
	*t = lua.LTable{Metatable: t.Metatable}
	return func() {
		for _, e := range entries {
			if k, v := e.key(), e.value(); k != nil && v != nil {
				t.RawSet(k, v)
			}
		}
	}
}

// reference returns a reference to a value, a weak one if it is an object and is to be weak.
func reference(v lua.LValue, isWeak bool) weakReference {
	if isWeak {
		switch v := v.(type) {
		case *lua.LTable:
			return weakTo(v)
		case *lua.LFunction:
			return weakTo(v)
		case *lua.LUserData:
			return weakTo(v)
		case *lua.LState:
			return weakTo(v)
		}
	}
	return func() lua.LValue { return v }
}

// weakTo returns a weak reference to an object.
func weakTo[T any, P interface {
	*T
	lua.LValue
}](v P) weakReference {
	p := weak.Make((*T)(v))
	return func() lua.LValue {
		if v := p.Value(); v != nil {
			return P(v)
		}
		return nil
	}
}
