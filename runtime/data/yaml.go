package data

import (
	"encoding/base64"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A converter turns what the YAML library read into nodes.
type converter struct {
	src   *source
	limit int // how many values the document may hold, aliases written out
	errs  diag.List
	full  bool // the limit was reached and reported
	// anchored are the nodes that aliases can mean; nil while one is converted.
	anchored map[*yaml.Node]*Node
}

func (c *converter) fail(n *Node, format string, args ...any) *diag.Error {
	e := diag.Errorf(n.Pos(), format, args...)
	c.errs = append(c.errs, e)
	return e
}

// node converts one value and all below it.
func (c *converter) node(y *yaml.Node) *Node {
	if y.Kind == yaml.AliasNode {
		return c.alias(y)
	}
	n := &Node{src: c.src, line: y.Line, col: y.Column, size: 1, style: styleOf(y)}
	if y.Anchor != "" {
		if c.anchored == nil {
			c.anchored = make(map[*yaml.Node]*Node)
		}
		c.anchored[y] = nil
		defer func() { c.anchored[y] = n }()
	}
	switch y.Kind {
	case yaml.ScalarNode:
		c.scalar(n, y)
	case yaml.SequenceNode:
		n.Kind, n.Items = schema.List, make([]*Node, 0, len(y.Content))
		for _, item := range y.Content {
			child := c.node(item)
			n.Items = append(n.Items, child)
			c.grow(n, child, item)
		}
		c.checkTag(n, y, "!!seq")
	case yaml.MappingNode:
		n.Kind = schema.Map
		c.mapping(n, y)
		c.checkTag(n, y, "!!map")
	default: // an empty document
		n.Kind = schema.Nil
	}
	return n
}

// alias returns the node that an alias means.
func (c *converter) alias(y *yaml.Node) *Node {
	target, known := c.anchored[y.Alias]
	if target == nil {
		here := &Node{src: c.src, line: y.Line, col: y.Column, Kind: schema.Nil, Text: "*" + y.Value}
		if known {
			c.fail(here, "the anchor &%s contains itself", y.Value)
		} else {
			c.fail(here, "unknown anchor &%s", y.Value)
		}
		return here
	}
	return target
}

// grow adds the size of a child, which is refused if aliases make the document
// grow beyond all bounds.
func (c *converter) grow(n, child *Node, y *yaml.Node) {
	n.size += child.size
	if n.size > c.limit && !c.full {
		c.full = true
		c.fail(&Node{src: c.src, line: y.Line, col: y.Column, Text: y.Value},
			"the aliases in this document stand for more than %d values", c.limit)
	}
	n.size = min(n.size, c.limit+1)
}

func (c *converter) mapping(n *Node, y *yaml.Node) {
	n.Entries = make([]Entry, 0, len(y.Content)/2)
	var seen map[string]*Node
	if len(y.Content) > 16 {
		seen = make(map[string]*Node, len(y.Content)/2)
	}
	var merges []*yaml.Node
	var pending []annotation // written below the previous value
	for i := 0; i+1 < len(y.Content); i += 2 {
		yk, yv := y.Content[i], y.Content[i+1]
		if yk.Tag == "!!merge" {
			merges = append(merges, yv)
			continue
		}
		key := c.node(yk)
		if key.Kind == schema.List || key.Kind == schema.Map {
			c.fail(key, "want a text as key, got %s", key.Describe())
			continue
		}
		key.Kind = schema.String
		key.annotations = append(pending, annotationsOf(yk, yv)...)
		pending = annotationsIn(yk.FootComment, yk.Line)
		var first *Node
		if seen != nil {
			first = seen[key.Text]
			seen[key.Text] = key
		} else {
			first = n.Key(key.Text)
		}
		val := c.node(yv)
		if first != nil {
			c.fail(key, "the key %q is given twice", key.Text).Notes = []diag.Note{{Pos: first.Pos(), Text: "given here first"}}
			continue
		}
		n.Entries = append(n.Entries, Entry{key, val})
		c.grow(n, val, yv)
	}
	for _, m := range merges {
		c.merge(n, m)
	}
}

// merge adds the entries that a merge key names and that are not there yet.
func (c *converter) merge(n *Node, y *yaml.Node) {
	from := c.node(y)
	sources := []*Node{from}
	if from.Kind == schema.List {
		sources = from.Items
	}
	for _, s := range sources {
		if s.Kind != schema.Map {
			c.fail(&Node{src: c.src, line: y.Line, col: y.Column}, "want a table or a list of tables after <<, got %s", s.Describe())
			return
		}
		for _, e := range s.Entries {
			if n.Get(e.Key.Text) == nil {
				n.Entries = append(n.Entries, e)
				c.grow(n, e.Val, y)
			}
		}
	}
}

func (c *converter) scalar(n *Node, y *yaml.Node) {
	n.Text = y.Value
	switch y.Tag {
	case "!!str", "!!timestamp", "!!merge", "!":
		n.Kind = schema.String
	case "!!null":
		n.Kind = schema.Nil
	case "!!bool":
		n.Kind = schema.Bool
		if !strings.EqualFold(n.Text, "true") && !strings.EqualFold(n.Text, "false") {
			c.fail(n, "want true or false, got %q", n.Text)
		}
	case "!!int":
		n.Kind = schema.Int
		if _, ok := parseInt(n.Text); !ok {
			// Too large for an integer: what a version or a serial number may be.
			n.Kind = schema.String
			if y.Style&yaml.TaggedStyle != 0 {
				c.fail(n, "want an integer, got %q", n.Text)
			}
		}
	case "!!float":
		n.Kind = schema.Float
		if _, ok := parseFloat(n.Text); !ok {
			c.fail(n, "want a number, got %q", n.Text)
		}
	case "!!binary":
		n.Kind = schema.String
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Text), ""))
		if err != nil {
			c.fail(n, "want base64 after !!binary: %w", err)
		}
		n.Text = string(raw)
	default:
		c.fail(n, "unknown tag %s", y.Tag)
	}
}

// checkTag reports a tag on a collection that is not its own.
func (c *converter) checkTag(n *Node, y *yaml.Node, want string) {
	if y.Tag != want {
		c.fail(n, "unknown tag %s", y.Tag)
	}
}

func styleOf(y *yaml.Node) style {
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		return doubleQuoted
	case y.Style&yaml.SingleQuotedStyle != 0:
		return singleQuoted
	case y.Style&yaml.LiteralStyle != 0:
		return literal
	case y.Style&yaml.FoldedStyle != 0:
		return folded
	}
	return plain
}
