// Package tabletext finds the texts in the tables of a script, and replaces single ones with nothing else
// changed: comments, order and layout stay. It is for encrypted values in data that is written in Lua:
//
//	return secret.values {
//	  db = { user = "app", password = "ENC[age,...]" },
//	}
//
// The key of the second text is db.password: names and positions from the outermost table on. Positions
// count from 0, as in YAML.
package tabletext

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/textedit"
)

// Syntax is the syntax of Lua for [encryption.Syntax].
type Syntax struct{}

var _ encryption.Syntax = Syntax{}

// Texts implements encryption.Syntax.
func (Syntax) Texts(text string) ([]encryption.Text, error) {
	list, err := literals(text)
	out := make([]encryption.Text, len(list))
	for i, l := range list {
		out[i] = encryption.Text{Key: l.key, Value: l.value}
	}
	return out, err
}

// Set implements encryption.Syntax. It refuses a key that occurs twice, in two tables.
func (Syntax) Set(text, key, value string) (string, error) {
	list, err := literals(text)
	if err != nil {
		return "", err
	}
	at := -1
	for i, l := range list {
		if l.key != key {
			continue
		}
		if at >= 0 {
			return "", diag.Duplicate("key %s, in two tables (use a separate file for each)", key)
		}
		at = i
	}
	if at < 0 {
		return "", diag.None("text under the key %s", key)
	}
	l := list[at]
	return text[:l.from] + luadata.Quote(value) + text[l.to:], nil
}

// A literal is a string that is the whole value of a field.
type literal struct {
	key      string
	value    string
	from, to int
}

// literals returns the literals in the tables of a script, except those in tables that a function inside a table has as
// an argument.
func literals(text string) ([]literal, error) {
	layout, err := syntax.ReadLayout("", text)
	if e, ok := errors.AsType[*diag.Error](err); ok {
		return nil, fmt.Errorf("line %d: %w", e.Pos.Line, e.Err)
	}
	if err != nil {
		return nil, err
	}
	r := reader{layout: layout}
	r.walk(func(w *syntax.Walker) { w.Stmts(layout.Statements) }, nil)
	return r.found, r.err
}

// A reader collects literals.
type reader struct {
	layout *syntax.Layout
	found  []literal
	err    error
}

// walk reads the outermost tables that visit meets. Path is that of the field in which they are.
func (r *reader) walk(visit func(*syntax.Walker), path textedit.Path) {
	depth := 0 // tables around the visited node
	visit(&syntax.Walker{
		Enter: func(n ast.PositionHolder) {
			if t, ok := n.(*ast.TableExpr); ok {
				if depth == 0 && (len(path) == 0 || !r.isArgument(t)) {
					r.table(t, path)
				}
				depth++
			}
		},
		Leave: func(n ast.PositionHolder) {
			if _, ok := n.(*ast.TableExpr); ok {
				depth--
			}
		},
	})
}

// isArgument reports whether a table stands in parentheses, as arguments of functions do.
func (r *reader) isArgument(t *ast.TableExpr) bool {
	first, ok := r.layout.First(t)
	return ok && first > 0 && slices.Contains([]int{'(', ','}, r.layout.Words[first-1].Type)
}

// table reads a table at a path.
func (r *reader) table(t *ast.TableExpr, path textedit.Path) {
	position := 0
	for _, f := range t.Fields {
		var step string
		switch f.Key.(type) {
		case nil:
			step = strconv.Itoa(position)
			position++
		case *ast.StringExpr, *ast.NumberExpr:
			step = syntax.KeyOf(f)
		default:
			r.err = fmt.Errorf("line %d: %w", t.Line(), diag.Expected("a name in quotes or a number in [ ]"))
			return
		}
		at := append(slices.Clone(path), step)
		switch v := f.Value.(type) {
		case *ast.StringExpr:
			if from, to, ok := r.layout.Span(v); ok {
				r.found = append(r.found, literal{at.String(), v.Value, from, to})
			}
		case *ast.TableExpr:
			r.table(v, at)
		default:
			r.walk(func(w *syntax.Walker) { w.Expr(v) }, at)
		}
	}
}
