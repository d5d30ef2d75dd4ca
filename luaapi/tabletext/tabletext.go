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
	"fmt"
	"strconv"

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
			return "", fmt.Errorf("the key %s is in two tables: use a separate file for each", key)
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

// A table is an open table.
type table struct {
	path textedit.Path
	next int    // the position of the next field without a name
	key  string // of the field that is being read
	// fresh is true at the beginning of a field, and named if the field has a name.
	fresh, named bool
	// argument says that the table, or a table around it, is an argument of a function.
	argument bool
}

// maxDepth is the maximum depth of nested tables.
const maxDepth = 200

// literals reads the tokens of a script as far as necessary for tables and strings (Lua 5.1 manual,
// 2.1 and 2.5.7).
func literals(text string) ([]literal, error) {
	lx := &lexer{text: text}
	var found []literal
	var open []*table // parentheses inside a table are nil
	tok, err := lx.next()
	for err == nil && tok.kind != 0 {
		var top *table
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		var after token
		if after, err = lx.next(); err != nil {
			break
		}
		switch {
		case tok.kind == '{':
			t := &table{fresh: true, argument: len(open) > 0 && (top == nil || top.argument)}
			if top != nil {
				t.path = append(t.path, top.path...)
				t.path = append(t.path, top.field())
				top.fresh = false
			}
			if open = append(open, t); len(open) > maxDepth {
				return nil, fmt.Errorf("line %d: %w", lx.line(tok.from),
					diag.Exceeds("nesting of tables", "%d levels", maxDepth))
			}
		case tok.kind == '(' && len(open) > 0:
			open = append(open, nil)
		case (tok.kind == '}' || tok.kind == ')') && len(open) > 0:
			open = open[:len(open)-1]
		case top == nil:
		case tok.kind == ',' || tok.kind == ';':
			top.end()
		case top.fresh && tok.kind == nameToken && after.kind == '=':
			top.key, top.named, top.fresh = tok.value, true, true
			after, err = lx.next()
		case top.fresh && tok.kind == '[':
			// ["name"] = or [1] =
			key := after
			var closing, equals token
			if closing, err = lx.next(); err == nil {
				equals, err = lx.next()
			}
			if err == nil && (key.kind == stringToken || key.kind == numberToken) && closing.kind == ']' && equals.kind == '=' {
				top.key, top.named, top.fresh = key.value, true, true
				after, err = lx.next()
			} else {
				return nil, fmt.Errorf("line %d: %w", lx.line(tok.from), diag.Expected("a name in quotes or a number in [ ]"))
			}
		case top.fresh && tok.kind == stringToken && (after.kind == ',' || after.kind == ';' || after.kind == '}'):
			if !top.argument {
				path := append(append(textedit.Path{}, top.path...), top.field())
				found = append(found, literal{path.String(), tok.value, tok.from, tok.to})
			}
			top.fresh = false
		default:
			top.fresh = false
		}
		tok = after
	}
	return found, err
}

// field returns the step that leads to the field which is being read.
func (t *table) field() string {
	if t.named {
		return t.key
	}
	return strconv.Itoa(t.next)
}

// end ends a field.
func (t *table) end() {
	if !t.named {
		t.next++
	}
	t.key, t.named, t.fresh = "", false, true
}
