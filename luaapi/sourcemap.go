package luaapi

import (
	"errors"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/schema"
)

// A sourceMap leads from the nodes that the machine reports to the text of the script.
type sourceMap struct {
	chunks  []*chunk
	recent  *chunk                 // the chunk that chunkOf found last
	notesOf map[string][]diag.Note // by the nodes of the calls
}

// siteDir returns the absolute directory of the script.
func (sm *sourceMap) siteDir() string {
	if len(sm.chunks) > 0 {
		return sm.chunks[0].dir
	}
	return ""
}

// nextNode returns the number of the first node of the next chunk.
func (sm *sourceMap) nextNode() int {
	if len(sm.chunks) == 0 {
		return nodeBase
	}
	last := sm.chunks[len(sm.chunks)-1]
	return last.first + max(1, len(last.nodes))
}

// chunkOf returns the chunk of a node, or nil if it is no node.
func (sm *sourceMap) chunkOf(node int) *chunk {
	if node < nodeBase {
		return nil
	}
	if c := sm.recent; c != nil && node >= c.first && node < c.first+len(c.nodes) {
		return c
	}
	i, found := slices.BinarySearchFunc(sm.chunks, node, func(c *chunk, n int) int { return c.first - n })
	if !found {
		i--
	}
	if i < 0 || node >= sm.chunks[i].first+len(sm.chunks[i].nodes) {
		return nil
	}
	sm.recent = sm.chunks[i]
	return sm.recent
}

// isForeign reports whether a frame is of code of others.
func (sm *sourceMap) isForeign(f frame) bool {
	c := sm.chunkOf(f.node)
	return c != nil && c.foreign
}

// chunkOfFunction returns the chunk of a function in Lua, nil for one in which nothing can fail or call.
func (sm *sourceMap) chunkOfFunction(fn *lua.LFunction) *chunk {
	if fn.IsG {
		return nil
	}
	for _, node := range fn.Proto.DbgSourcePositions {
		if c := sm.chunkOf(node); c != nil {
			return c
		}
	}
	return nil
}

// linePos returns the file and line of a node without parsing the text again.
func (sm *sourceMap) linePos(node int) diag.Pos {
	c := sm.chunkOf(node)
	if c == nil {
		return diag.Pos{}
	}
	return diag.Pos{File: c.name, Line: c.line(node)}
}

// exactPos returns the place of a node with its columns.
func (sm *sourceMap) exactPos(node int) diag.Pos {
	c := sm.chunkOf(node)
	if c == nil {
		return diag.Pos{}
	}
	if p := c.tree().NodePos(node); p.Line > 0 {
		p.File = c.name
		return p
	}
	return sm.linePos(node)
}

// text returns the text of a script or module that was loaded.
func (sm *sourceMap) text(file string) (string, bool) {
	if c := sm.named(file); c != nil {
		return c.text, true
	}
	return "", false
}

// named returns the chunk of that name that was loaded last, nil for none.
func (sm *sourceMap) named(file string) *chunk {
	for _, c := range slices.Backward(sm.chunks) {
		if c.name == file {
			return c
		}
	}
	return nil
}

// has reports whether the file was loaded.
func (sm *sourceMap) has(file string) bool {
	return slices.ContainsFunc(sm.chunks, func(c *chunk) bool { return c.name == file })
}

// framePos returns the exact place of a frame.
func (sm *sourceMap) framePos(f frame) diag.Pos {
	if f.node < nodeBase {
		return diag.Pos{File: f.file, Line: f.node}
	}
	return sm.exactPos(f.node)
}

// locals returns the names of the variables that f can see.
func (sm *sourceMap) locals(f frame) []string {
	if c := sm.chunkOf(f.node); c != nil {
		return c.tree().Locals(f.node)
	}
	return nil
}

// isFieldValue reports whether f is the value of a field of a table.
func (sm *sourceMap) isFieldValue(f frame) bool {
	c := sm.chunkOf(f.node)
	return c != nil && c.tree().IsFieldValue(c.tree().Node(f.node))
}

// isCurried reports whether the result of the call at f is called.
func (sm *sourceMap) isCurried(f frame) bool {
	c := sm.chunkOf(f.node)
	return c != nil && c.curried(f.node)
}

// argument returns the position of the value at path in the table argument of the call
// at f.
func (sm *sourceMap) argument(f frame, path schema.Path, key bool) diag.Pos {
	c := sm.chunkOf(f.node)
	if c == nil || len(path) == 0 {
		return diag.Pos{}
	}
	t := c.tree()
	call, ok := t.Node(f.node).(*ast.FuncCallExpr)
	if !ok {
		return diag.Pos{}
	}
	name, _ := path[0].(string)
	field := syntax.FieldNamed(syntax.TableArg(call), []string{name})
	if field == nil {
		return diag.Pos{}
	}
	if p := syntax.InValue(t, field, path[1:], key); p.Line > 0 {
		return p
	}
	return syntax.InValue(t, field, path[1:], true) // a function has no place of its own
}

// mayBeAbsent reports whether err is an unknown name of facts or data that is no slip:
// data.hosts[name], whose name is not written in the script, or data.proxy where data has no
// similar name. The script asks whether there is a value.
func (sm *sourceMap) mayBeAbsent(L *lua.LState, err error) bool {
	missing, ok := errors.AsType[*unknownNameError](err)
	if !ok {
		return false
	}
	if missing.isData() && diag.Misspelling(missing.name, missing.names) == "" {
		return true
	}
	f := caller(L)
	c := sm.chunkOf(f.node)
	if c == nil {
		return false
	}
	get, ok := c.tree().Node(f.node).(*ast.AttrGetExpr)
	if !ok {
		return false
	}
	key, written := get.Key.(*ast.StringExpr)
	return !written || !luadata.IsName(key.Value) // data["web.example.org"]
}
