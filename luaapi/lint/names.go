package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// read reports a name that is neither a local variable nor a global. A global of Lua that scripts do not have may be read
// as a value, and what is then called or indexed is behind a test.
func (s *scan) read(id *ast.IdentExpr) {
	if v := s.lookup(id.Value); v != nil {
		v.used, v.use.escaped = true, true
		return
	}
	if slices.Contains(s.globals, id.Value) || s.assigned[id.Value] {
		return
	}
	hint := luaapi.AbsentHint(id.Value)
	if hint != "" && (s.tested[id.Value] || s.operand != ast.Expr(id)) {
		s.tested[id.Value] = true
		return
	}
	value := s.value == ast.Expr(id)
	if module := "std." + id.Value; hint == "" && !value && s.l.moduleType(module) != nil {
		hint = "use " + module
	}
	if hint == "" {
		hint = luaapi.MisspelledHint(id.Value, s.visible(), s.globals, value)
	}
	s.report(UndefinedGlobal, s.p.Pos(id), hint, "undefined global %q", id.Value)
}

// assignGlobal reports an assignment to a global.
func (s *scan) assignGlobal(id *ast.IdentExpr, function bool) {
	name := id.Value
	s.assigned[name] = true
	if slices.Contains(s.globals, name) {
		s.report(UndefinedGlobal, s.p.Pos(id), "declare a variable with local "+name, "%q is a global of ccm and cannot be replaced", name)
		return
	}
	hint := "declare it with local " + name
	if function {
		hint = "declare it with local function " + name
	}
	if near := diag.Nearest(name, s.visible()); near != "" {
		hint = fmt.Sprintf("did you mean %q? declare a new variable with local %s", near, name)
	}
	s.report(UndefinedGlobal, s.p.Pos(id), hint, "assignment to undefined global %q", name)
}

// luaTables are the tables of Lua. Scripts may ask whether one of them has a field; to read an
// unknown field of a library of ccm is a mistake.
var luaTables = []string{"string", "table", "math", "os", "coroutine", "debug", "package"}

// fact reports a path below facts that no machine can have: a text or a number has no fields.
// Tables may have more fields than are known, so only near misses of their fields are reported.
func (s *scan) fact(e *ast.AttrGetExpr) {
	path := luaapi.FactPath(e)
	if len(path) < 2 || s.l.FactFields == nil || s.lookup("facts") != nil {
		return
	}
	before, name := path[:len(path)-1], path[len(path)-1]
	last := len(before) - 1
	known, ok := s.l.FactFields(before)
	if !ok || slices.Contains(known, name) || slices.Contains(s.fields["string"], name) {
		return
	}
	if known != nil {
		if near := diag.Nearest(name, known); near != "" {
			s.report(UnknownField, s.p.Pos(e), fmt.Sprintf("did you mean %q?", near), "no fact %q in facts.%s", name, strings.Join(before, "."))
		}
		return
	}
	if siblings, _ := s.l.FactFields(before[:last]); facts.Flat(before[last], name, siblings) != "" {
		return // facts.os.release.major is facts.os.release_major
	}
	s.report(UnknownField, s.p.Pos(e), "", "facts.%s is not a table: %w", strings.Join(before, "."), diag.NotFound("field", name, nil))
}

// field reports a field that a global does not have.
func (s *scan) field(e *ast.AttrGetExpr) {
	s.fact(e)
	global := s.global(e.Object)
	key, ok := e.Key.(*ast.StringExpr)
	if global == "" || !ok {
		return
	}
	name := key.Value
	if global == "facts" {
		if near := diag.Nearest(name, s.facts); near != "" && !slices.Contains(s.facts, name) {
			s.report(UnknownField, s.p.Pos(e), fmt.Sprintf("did you mean %q?", near), "no fact %q in facts", name)
		}
		return
	}
	known := s.fields[global]
	if len(known) == 0 || slices.Contains(known, name) {
		return
	}
	hint := luaapi.AbsentHint(global + "." + name)
	if hint == "" {
		hint = diag.DidYouMean(name, known)
	}
	if slices.Contains(luaTables, global) && hint == "" {
		return
	}
	s.report(UnknownField, s.p.Pos(e), hint, "%s: unknown name %q", global, name)
}

// laterEscapes are the escapes of later versions of Lua. In this one the letter
// stands for itself.
const laterEscapes = "xuz"

// escapes reports escapes of later versions of Lua.
func (s *scan) escapes() {
	if !strings.Contains(s.p.Text, `\`) {
		return
	}
	for q := range s.p.StringLiterals() {
		line, col := q.Pos.Line, q.Pos.Col
		for i := 0; i+1 < len(q.Text); i++ {
			switch {
			case q.Text[i] == '\n':
				line, col = line+1, -i
			case q.Text[i] == '\\':
				if strings.IndexByte(laterEscapes, q.Text[i+1]) >= 0 {
					at := diag.Pos{File: s.p.Name, Line: line, Col: col + i, Len: 2}
					s.report(Escape, at, escapeHint(q.Text[i:]), `\%c is not an escape in Lua 5.1: it means %c`, q.Text[i+1], q.Text[i+1])
				}
				i++
				if q.Text[i] == '\n' {
					line, col = line+1, -i
				}
			}
		}
	}
}

// escapeHint returns the right spelling of the character that an escape means.
func escapeHint(text string) string {
	var code int
	switch text[1] {
	case 'x':
		if n, _ := fmt.Sscanf(text[2:], "%2x", &code); n == 1 {
			return fmt.Sprintf(`write \%03d`, code)
		}
	case 'u':
		if n, _ := fmt.Sscanf(text[2:], "{%x}", &code); n == 1 {
			return fmt.Sprintf("use the character itself: %c", code)
		}
	case 'z':
		return "join the parts with .."
	}
	return ""
}
