// Package luadata parses Lua files that contain only data:
//
//	return { name = "nginx", exports = { "nginx", "nginx.vhost" } }
//
// Nothing is evaluated: only strings, numbers, booleans and tables of them are allowed. So a file has the same value
// on every machine, and parsing needs time and memory in proportion to its size. Each value has its position, for
// messages and for programs that change one value and keep all other text.
//
// The syntax is that of the Lua 5.1 Reference Manual, sections 2.1 and 2.5.7.
//
// Begin with [Parse].
package luadata

import (
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// Limits on a file, far beyond what a person writes.
const (
	MaxText  = 1 << 20 // bytes
	maxDepth = 32      // nested tables
)

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
	Text       string // of a string
	Number     float64
	Bool       bool
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
}

// Parse parses a text. An error is a [*diag.Error] with the position of the mistake.
func Parse(file, text string) (*Document, error) {
	d := &Document{File: file, Text: text}
	if len(text) > MaxText {
		return nil, diag.At(diag.Pos{File: file}, diag.Exceeds("file", "1 MiB"))
	}
	p := &parser{scanner: scanner{doc: d}}
	if err := p.document(); err != nil {
		return nil, err
	}
	return d, nil
}

// Pos returns the position of the bytes from start to end.
func (d *Document) Pos(start, end int) diag.Pos {
	before := d.Text[:start]
	line := strings.LastIndexByte(before, '\n') + 1
	length := end - start
	if nl := strings.IndexByte(d.Text[start:end], '\n'); nl >= 0 {
		length = nl
	}
	return diag.Pos{File: d.File, Line: strings.Count(before, "\n") + 1, Col: start - line + 1, Len: length}
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

// A parser builds values from tokens.
type parser struct {
	scanner
	depth int
}

func (p *parser) document() error {
	if err := p.next(); err != nil {
		return err
	}
	if p.kind != name || p.text != "return" {
		return p.unexpected("return { ... }")
	}
	if err := p.next(); err != nil {
		return err
	}
	if p.kind != sign || p.text != "{" {
		return p.unexpected("a table after return")
	}
	root, err := p.value()
	if err != nil {
		return err
	}
	p.doc.Root = root
	if p.kind == sign && p.text == ";" {
		if err := p.next(); err != nil {
			return err
		}
	}
	if p.kind != end {
		return p.unexpected("nothing after the table")
	}
	return nil
}

// value parses the value that begins at the current token, and moves behind it.
func (p *parser) value() (*Value, error) {
	v := &Value{Start: p.start, End: p.end}
	switch {
	case p.kind == text:
		v.Kind, v.Text = String, p.text
	case p.kind == number:
		v.Kind, v.Number = Number, p.number
	case p.kind == name && (p.text == "true" || p.text == "false"):
		v.Kind, v.Bool = Bool, p.text == "true"
	case p.kind == sign && p.text == "{":
		return v, p.table(v)
	default:
		return nil, p.unexpected("a string, number, boolean or table")
	}
	return v, p.next()
}

// table parses the fields of a table; its brace is the current token.
func (p *parser) table(v *Value) error {
	v.Kind = Table
	if p.depth++; p.depth > maxDepth {
		return p.mistake("tables are nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	if err := p.next(); err != nil {
		return err
	}
	known := make(map[string]bool)
	for p.kind != sign || p.text != "}" {
		f := Field{Start: p.start}
		keyEnd := p.end
		key, err := p.key()
		if err != nil {
			return err
		}
		if key != nil {
			f.Key = *key
			if f.Key == "" || known[f.Key] {
				return diag.Errorf(p.doc.Pos(f.Start, keyEnd), "key %q is %s", f.Key, map[bool]string{true: "empty", false: "already defined"}[f.Key == ""])
			}
			known[f.Key] = true
		}
		if f.Value, err = p.value(); err != nil {
			return err
		}
		v.Fields = append(v.Fields, f)
		if p.kind == sign && (p.text == "," || p.text == ";") {
			if err := p.next(); err != nil {
				return err
			}
		} else if p.kind != sign || p.text != "}" {
			return p.unexpected(", or }")
		}
	}
	v.End = p.end
	return p.next()
}

// key parses the key of a field and its equals sign. It returns nil for an element of a list.
func (p *parser) key() (*string, error) {
	switch {
	case p.kind == name && p.text != "true" && p.text != "false":
		key := p.text
		if err := p.next(); err != nil {
			return nil, err
		}
		return &key, p.want("=")
	case p.kind == sign && p.text == "[":
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.kind != text {
			return nil, p.unexpected("a string as key")
		}
		key := p.text
		if err := p.next(); err != nil {
			return nil, err
		}
		if err := p.want("]"); err != nil {
			return nil, err
		}
		return &key, p.want("=")
	}
	return nil, nil
}

// want moves behind a punctuation token, which must be s.
func (p *parser) want(s string) error {
	if p.kind != sign || p.text != s {
		return p.unexpected(s)
	}
	return p.next()
}

func (p *parser) unexpected(wanted string) error {
	found := "the end of the file"
	if p.kind != end {
		found = words.Shorten(p.doc.Text[p.start:p.end], 43)
	}
	return p.mistake("%w", diag.Expected("%s", wanted).Found("%s", found)).WithHint("use only return and a table of strings, numbers, booleans and tables: the file is not executed")
}
