// Package luaedit changes calls of constructors in a Lua script, such as file { "/etc/motd",
// owner = "root" }, and leaves every other byte as it was. The places come from luaapi, which
// reads scripts for runs. Every edit is proven before it is returned: the new text is read again,
// and its tree has to be the old one but for what was asked for. Otherwise the error is [ErrShape].
package luaedit

import (
	"slices"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// Why edits are refused.
var (
	ErrShape = diag.SubjectCannot("", "be edited without changing the text around it")
	ErrPath  = diag.NotFound("place", "", nil)
)

// A Splice replaces a range of bytes.
type Splice = splice.Splice

// A Span is a range of bytes.
type Span struct{ From, To int }

// A Script is a text and the calls in it. It is never changed.
type Script struct {
	Text  string
	Calls []Call // in the order of the text

	layout *syntax.Layout
	starts []int // where lines begin
}

// A Call is a call of a constructor.
type Call struct {
	Func   string // the name of the called function; of line.file the name behind the dot
	Module string // of line.file the name before the dot
	Span   Span
	Names  []Name
	Fields []Field // those with a name or a key
	// Block is set if the call is in a condition or a block, and Repeats in a loop or a function,
	// where it may run any number of times.
	Block, Repeats bool

	expr      *ast.FuncCallExpr
	table     *ast.TableExpr // nil if it has none
	statement int            // the index of its statement outside of all others, -1 if it is no statement there
	ok        bool           // all places are known
}

// A Name is one of the names that a call declares.
type Name struct {
	Value   string // the value, or its text if it is not literal
	Literal bool
	Span    Span

	expr  ast.Expr
	field int // its index in the table, -1 if it is an argument
}

// A Field is one field of the table of a call.
type Field struct {
	Name    string // "" if its key is an expression
	Value   any    // as Script.Value returns it
	Literal bool
	Span    Span // of the value

	field *ast.Field
}

// A fieldPlace is the place of a field: the indices of its words, of its value, and of the comma
// behind it.
type fieldPlace struct{ first, value, last, comma int } // comma is -1 if there is none

// Parse reads a script. The error is a *diag.Error.
func Parse(name, text string) (*Script, error) {
	l, err := syntax.ReadLayout(name, text)
	if err != nil {
		return nil, err
	}
	s := &Script{Text: text, layout: l, starts: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	s.find()
	return s, nil
}

// Place returns the line and the column of an offset, both from 1, the column in bytes.
func (s *Script) Place(at int) (line, column int) {
	i, found := slices.BinarySearch(s.starts, at)
	if !found {
		i--
	}
	return i + 1, at - s.starts[i] + 1
}
