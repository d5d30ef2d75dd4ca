// Package luadata parses Lua files that contain only data:
//
//	return { name = "nginx", exports = { "nginx", "nginx.vhost" } }
//
// Nothing is evaluated: only strings, numbers, booleans and tables of them are allowed. So a file has the same value
// on every machine. Each value has its position, for messages and for programs that change one value and keep all other
// text.
//
// Begin with [Parse].
package luadata

import (
	"errors"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// MaxText is the largest size of a file in bytes, far beyond what a person writes.
const MaxText = 1 << 20

// A Kind is the kind of a value.
type Kind string

// The kinds, as messages name them.
const (
	String Kind = "a text"
	Number Kind = "a number"
	Bool   Kind = "true or false"
	Table  Kind = "a table"
)

// A Value is a value in a file. Start and End are its offsets in bytes.
type Value struct {
	Kind       Kind
	Text       string  // of a string
	Fields     []Field // of a table, in the order of the file
	Start, End int
}

// A Field is a field of a table.
type Field struct {
	Key   string // "" for an element of a list
	Start int    // offset of the key, or of the value in a list
	Value *Value
}

// A Document is a parsed file.
type Document struct {
	File, Text string
	Root       *Value

	lines []int // the offsets of the lines
}

// Parse parses a text. An error is a [*diag.Error] with the position of the mistake.
func Parse(file, text string) (*Document, error) {
	d := &Document{File: file, Text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if len(text) > MaxText {
		return nil, diag.At(diag.Pos{File: file}, diag.Exceeds("file", "1 MiB"))
	}
	layout, err := syntax.ReadLayout(file, text)
	if e, ok := errors.AsType[*diag.Error](err); ok {
		return nil, e
	}
	if err != nil {
		return nil, diag.At(diag.Pos{File: file}, err)
	}
	r := reader{d, layout}
	if d.Root, err = r.root(); err != nil {
		return nil, err
	}
	return d, nil
}

// Pos returns the position of the bytes from start to end.
func (d *Document) Pos(start, end int) diag.Pos {
	line, _ := slices.BinarySearch(d.lines, start+1) // of those that begin at start or before it
	length := end - start
	if line < len(d.lines) {
		length = min(length, d.lines[line]-1-start)
	}
	return diag.Pos{File: d.File, Line: line, Col: start - d.lines[line-1] + 1, Len: length}
}

// PosOf returns the position of a value.
func (d *Document) PosOf(v *Value) diag.Pos { return d.Pos(v.Start, v.End) }

// Field returns the field of a table with a key, nil if there is none.
func (v *Value) Field(key string) *Field {
	for i := range v.Fields {
		if v.Fields[i].Key == key {
			return &v.Fields[i]
		}
	}
	return nil
}

// A reader builds values from the syntax tree of a script.
type reader struct {
	doc *Document
	*syntax.Layout
}

// root returns the table that the script returns.
func (r *reader) root() (*Value, error) {
	if len(r.Words) == 0 || r.Words[0].Type != parse.TReturn {
		return nil, r.unexpected(0, 0, "return { ... }")
	}
	exprs := r.Statements[0].(*ast.ReturnStmt).Exprs
	if len(exprs) == 1 && r.Words[1].Type == '{' {
		return r.value(exprs[0])
	}
	return nil, r.unexpected(1, len(r.Words)-1, "a table after return")
}

// value returns the value of an expression.
func (r *reader) value(e ast.Expr) (*Value, error) {
	first, _ := r.First(e)
	last, _ := r.Last(e)
	for slices.Contains([]int{'-', '#', '(', parse.TNot}, r.Words[first-1].Type) {
		first-- // operators and parentheses are no nodes
	}
	last = max(last, r.Close(first))
	v := &Value{Start: r.Words[first].From, End: r.Words[last].To}
	if r.Words[first].Type == '(' {
		e = nil
	}
	switch e := e.(type) {
	case *ast.StringExpr:
		v.Kind, v.Text = String, e.Value
	case *ast.NumberExpr:
		v.Kind = Number
	case *ast.UnaryMinusOpExpr:
		if r.Words[last].Type == parse.TNumber && first+1 == last {
			v.Kind = Number
		}
	case *ast.TrueExpr, *ast.FalseExpr:
		v.Kind = Bool
	case *ast.TableExpr:
		v.Kind = Table
		known := make(map[string]bool)
		for _, f := range e.Fields {
			field, err := r.field(f)
			if err != nil {
				return nil, err
			}
			if known[field.Key] {
				return nil, diag.At(r.doc.Pos(field.Start, field.Start+len(field.Key)), diag.Duplicate("key %q", field.Key))
			}
			known[field.Key] = field.Key != ""
			v.Fields = append(v.Fields, field)
		}
	}
	if v.Kind == "" {
		return nil, r.unexpected(first, last, "a string, number, boolean or table")
	}
	return v, nil
}

// field returns a field of a table.
func (r *reader) field(f *ast.Field) (field Field, err error) {
	if f.Key != nil {
		at, _ := r.First(f.Key)
		key, ok := f.Key.(*ast.StringExpr)
		switch {
		case !ok || key.Value == "" || r.Words[at].Type == parse.TString && r.Words[at-1].Type != '[':
			last, _ := r.Last(f.Key)
			return field, r.unexpected(at, last, "a name or a string as key")
		case r.Words[at].Type == parse.TString:
			at--
		}
		field.Key, field.Start = key.Value, r.Words[at].From
	}
	if field.Value, err = r.value(f.Value); err == nil && f.Key == nil {
		field.Start = field.Value.Start
	}
	return field, err
}

// unexpected returns the mistake that something else was expected in the place of words.
func (r *reader) unexpected(first, last int, wanted string) error {
	start, end, found := len(r.Text), len(r.Text), "the end of the file"
	if first < len(r.Words) {
		start, end = r.Words[first].From, r.Words[last].To
		line, _, _ := strings.Cut(r.Text[start:end], "\n")
		found = words.Shorten(line, 43)
	}
	return diag.At(r.doc.Pos(start, end), diag.Expected("%s", wanted).Found("%s", found)).
		WithHint("use only return and a table of strings, numbers, booleans and tables: the file is not executed")
}
