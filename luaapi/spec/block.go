package spec

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource/contract"
)

// A block is a call of describe: a group of tests and blocks.
type block struct {
	name   string
	parent *block
	system bool // it is about a real machine
	// parts are the tests and inner blocks, in order.
	parts []part

	beforeEach, afterEach, setup, teardown []*lua.LFunction
}

// A part is a block or a test.
type part struct {
	block *block
	test  *test
}

// A test is a call of the Lua function it.
type test struct {
	name  string
	block *block
	pos   diag.Pos
	// system means that the test, or a block around it, is about a real machine.
	system bool
	body   *lua.LFunction  // nil for a pending test
	trial  *contract.Trial // of a suite; there is no body then
	tags   []string
}

// path returns the names of b and of the blocks around it, the outermost first.
func (b *block) path() []string {
	if b.parent == nil {
		return nil
	}
	return append(b.parent.path(), b.name)
}

// around returns b and the blocks around it, the outermost first.
func (b *block) around() []*block {
	if b.parent == nil {
		return []*block{b}
	}
	return append(b.parent.around(), b)
}

func (t *test) fullName() string { return strings.Join(append(t.block.path(), t.name), " ") }

// extend adds the words of specs to an interpreter.
func (r *runner) extend(in *luaapi.Interp) {
	r.in, r.asserter = in, &asserter{in: in}
	for _, name := range []string{"describe", "context", "insulate"} {
		r.addWord(name, r.describe)
	}
	for _, name := range []string{"it", "test"} {
		r.addWord(name, r.it)
	}
	r.addWord("pending", r.pending)
	r.addHook("before_each", func(b *block) *[]*lua.LFunction { return &b.beforeEach })
	r.addHook("after_each", func(b *block) *[]*lua.LFunction { return &b.afterEach })
	r.addHook("setup", func(b *block) *[]*lua.LFunction { return &b.setup })
	r.addHook("teardown", func(b *block) *[]*lua.LFunction { return &b.teardown })
	r.addWord("catalog", r.catalog)
	r.addWord("suite", r.suite)
	in.Replace("machine", r.machineTable)
	in.Replace("assert", r.asserter.assertTable)
	in.Replace("spy", r.asserter.spyTable)
	in.Replace("stub", r.asserter.stubTable)
}

// addWord adds a global function.
func (r *runner) addWord(name string, fn func(L *lua.LState, name string) int) {
	r.in.Replace(name, func(L *lua.LState) lua.LValue {
		return L.NewFunction(func(L *lua.LState) int { return fn(L, name) })
	})
}

// named returns the name and the body that a word is called with, and whether the options between them have
// system = true.
func (r *runner) named(L *lua.LState, word string) (name string, body *lua.LFunction, system bool) {
	if r.running {
		r.in.Throw(L, "", "%s: tests cannot be declared inside a running test", word)
	}
	text, ok := L.Get(1).(lua.LString)
	if !ok {
		r.in.Throw(L, "", "%s: %w", word, diag.Expected("a name").Got("%s", r.in.Show(L.Get(1))))
	}
	if _, ok := L.Get(2).(*lua.LTable); ok {
		optionReader{r.in, L}.each("the options of "+word, L.Get(2), func(key string, v lua.LValue) {
			if key != "system" {
				r.in.Throw(L, "", "%s: %w", word, diag.Unknown("option", key, []string{"system"}))
			}
			system = lua.LVAsBool(v)
		})
		L.Remove(2)
	}
	body, ok = L.Get(2).(*lua.LFunction)
	if !ok && word != "pending" {
		r.in.Throw(L, "", "%s: %w", word, diag.Expected("a function after the name").Got("%s", r.in.Show(L.Get(2))))
	}
	return string(text), body, system
}

func (r *runner) describe(L *lua.LState, word string) int {
	name, body, system := r.named(L, word)
	b := &block{name: name, parent: r.current, system: system || r.current.system}
	r.current.parts = append(r.current.parts, part{block: b})
	r.current = b
	defer func() { r.current = b.parent }()
	L.Push(body)
	L.Call(0, 0)
	return 0
}

func (r *runner) it(L *lua.LState, word string) int {
	name, body, system := r.named(L, word)
	r.add(L, &test{name: name, body: body, system: system})
	return 0
}

// pending declares a test that is not written yet, or ends the test that is run.
func (r *runner) pending(L *lua.LState, word string) int {
	if r.running {
		text := "pending"
		if s, ok := L.Get(1).(lua.LString); ok {
			text = string(s)
		}
		r.in.Throw(L, "", "%w", &pendingError{text})
	}
	name, _, system := r.named(L, word)
	r.add(L, &test{name: name, system: system})
	return 0
}

// tagPattern matches the tags in a name.
var tagPattern = lazyregexp.New(`#([\w-]+)`)

func (r *runner) add(L *lua.LState, t *test) {
	t.block, t.pos, t.system = r.current, r.in.Caller(L).Pos(), t.system || r.current.system
	for _, m := range tagPattern().FindAllStringSubmatch(strings.Join(append(t.block.path(), t.name), " "), -1) {
		if !slices.Contains(t.tags, m[1]) {
			t.tags = append(t.tags, m[1])
		}
	}
	r.current.parts = append(r.current.parts, part{test: t})
}

// addHook adds a word that has a function run before or after others.
func (r *runner) addHook(word string, list func(b *block) *[]*lua.LFunction) {
	r.addWord(word, func(L *lua.LState, _ string) int {
		fn, ok := L.Get(1).(*lua.LFunction)
		if !ok {
			r.in.Throw(L, "", "%s: %w", word, diag.Expected("a function").Got("%s", r.in.Show(L.Get(1))))
		}
		if r.running {
			r.in.Throw(L, "", "%s: %w", word, diag.Expected("the call in a block, not in a test"))
		}
		to := list(r.current)
		*to = append(*to, fn)
		return 0
	})
}

// A pendingError ends a test that is not written yet.
type pendingError struct{ text string }

// Error returns the text of the test.
func (e *pendingError) Error() string { return e.text }

// A failedError is the failure of an assertion.
type failedError struct{ text string }

// Error returns the message of the assertion.
func (e *failedError) Error() string { return e.text }
