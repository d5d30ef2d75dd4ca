package data

import (
	"math"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Node is one value of a document with its place. Aliases and merge keys are
// resolved: a node that is used twice is the same Node.
type Node struct {
	// Kind is Nil, Bool, Int, Float, String, List or Map.
	Kind  schema.Kind
	style style
	// Secret is set if the node is marked as secret: !secret.
	Secret bool
	// line and col are the position of the first character, col in characters.
	line, col int32
	size      int32 // number of values inside, with aliases expanded
	// Text is the text of a scalar, without quotes and indentation.
	Text string
	*children
	src *source
}

// children are the parts of a List or a Map. They are separate because most nodes have none.
type children struct {
	Items   []*Node
	Entries []Entry
}

// noChildren is shared by all scalars, and must not be written to.
var noChildren children

// WithItems returns a list at the place of n.
func (n *Node) WithItems(items []*Node) *Node {
	c := *n
	c.Kind, c.children = schema.List, &children{Items: items}
	return &c
}

// WithEntries returns a map at the place of n.
func (n *Node) WithEntries(entries []Entry) *Node {
	c := *n
	c.Kind, c.children = schema.Map, &children{Entries: entries}
	return &c
}

// annotations returns those of a key.
func (n *Node) annotations() []annotation { return n.src.annotations[[2]int32{n.line, n.col}] }

// An Entry is one key of a Map and its value.
type Entry struct{ Key, Val *Node }

// style is the style of a scalar.
type style uint8

const (
	plain style = iota
	singleQuoted
	doubleQuoted
	literal
	folded
)

// Get returns the value under key, or nil.
func (n *Node) Get(key string) *Node {
	for i := range n.Entries {
		if n.Entries[i].Key.Text == key {
			return n.Entries[i].Val
		}
	}
	return nil
}

// Key returns the node of a key itself, or nil.
func (n *Node) Key(key string) *Node {
	for i := range n.Entries {
		if n.Entries[i].Key.Text == key {
			return n.Entries[i].Key
		}
	}
	return nil
}

// Keys returns the keys of a Map in the order of the text.
func (n *Node) Keys() []string {
	keys := make([]string, len(n.Entries))
	for i, e := range n.Entries {
		keys[i] = e.Key.Text
	}
	return keys
}

// IsNil reports whether nothing is written, or null.
func (n *Node) IsNil() bool { return n == nil || n.Kind == schema.Nil }

// Describe describes n for "want ..., got ...".
func (n *Node) Describe() string {
	switch n.Kind {
	case schema.Nil:
		return "nothing"
	case schema.List:
		return "a list"
	case schema.Map:
		return "a table"
	case schema.String:
		if len(n.Text) > 60 {
			return "a text of " + strconv.Itoa(len(n.Text)) + " bytes"
		}
		return strconv.Quote(n.Text)
	case schema.Bool:
		return "the boolean " + n.Text
	}
	return "the number " + n.Text
}

// Errorf returns a mistake at the place of n.
func (n *Node) Errorf(format string, args ...any) *diag.Error {
	return diag.Errorf(n.Pos(), format, args...)
}

// Scalar returns a scalar as a value for the decoder: with its type and with its text, so that a
// text property gets the text as written.
func (n *Node) Scalar() schema.Value {
	v := schema.Value{Kind: n.Kind, S: n.Text}
	switch n.Kind {
	case schema.Nil:
		v.S = ""
	case schema.Bool:
		v.B = strings.EqualFold(n.Text, "true")
	case schema.Int:
		v.I, _ = parseInt(n.Text)
	case schema.Float:
		v.F, _ = parseFloat(n.Text)
	}
	return v
}

// Go returns n as plain data. A number that would be printed in another form than its text stays
// text: the version 1.10, the mode 0644.
func (n *Node) Go() any { return n.data(func(n *Node) any { return n.Text }) }

// data returns n as plain data, each text as given by text.
func (n *Node) data(text func(*Node) any) any {
	switch n.Kind {
	case schema.String:
		return text(n)
	case schema.List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.data(text)
		}
		return list
	case schema.Map:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			m[e.Key.Text] = e.Val.data(text)
		}
		return m
	}
	return n.Scalar().Go()
}

// parseInt parses an integer in the notation of YAML: decimal, 0x, 0o, 0b, or with a leading zero
// octal, with _ between digits.
func parseInt(s string) (int64, bool) {
	i, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		i, err = strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	}
	return i, err == nil
}

func parseFloat(s string) (float64, bool) {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf":
		sign := 1
		if strings.HasPrefix(s, "-") {
			sign = -1
		}
		return math.Inf(sign), true
	case ".nan":
		return math.NaN(), true
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil
}
