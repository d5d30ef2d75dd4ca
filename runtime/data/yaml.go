package data

import (
	"encoding/base64"
	"math"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A converter converts the nodes of the YAML library.
type converter struct {
	src       *source
	limit     int // the maximum number of values in the document, with aliases expanded
	errs      diag.List
	overflown bool // the limit was exceeded, and reported
	work      int  // nodes that were made, and entries that merge keys name
	// anchors are the nodes with anchors; nil while one is converted.
	anchors map[*yaml.Node]*Node
	free    []Node // nodes for new to hand out
}

// converter returns a converter for a document of s.
func (s *source) converter() converter {
	return converter{src: s, limit: min(1_000_000+20*len(s.text), math.MaxInt32-1)}
}

// new returns a node at the place of y.
func (c *converter) new(y *yaml.Node) *Node {
	if len(c.free) == 0 {
		c.free = make([]Node, nodeBlock)
	}
	n := &c.free[0]
	c.free = c.free[1:]
	n.children = &noChildren
	n.src, n.line, n.col, n.size, n.style = c.src, int32(y.Line), int32(y.Column), 1, styleOf(y)
	return n
}

// checkEvery is the number of nodes between two checks for an interruption.
const checkEvery = 1024

// nodeBlock is the number of nodes that are allocated at once.
const nodeBlock = 64

func (c *converter) fail(n *Node, format string, args ...any) *diag.Error {
	e := diag.Errorf(n.Pos(), format, args...)
	c.errs = append(c.errs, e)
	return e
}

// node converts a value and all values below it.
func (c *converter) node(y *yaml.Node) *Node {
	if c.work++; c.work%checkEvery == 0 && c.src.interruption() != nil {
		c.overflown = true // the caller reports the interruption
	}
	if c.overflown {
		return c.new(y)
	}
	if y.Kind == yaml.AliasNode {
		return c.alias(y)
	}
	n := c.new(y)
	if y.Anchor != "" {
		if c.anchors == nil {
			c.anchors = make(map[*yaml.Node]*Node)
		}
		c.anchors[y] = nil
		defer func() { c.anchors[y] = n }()
	}
	switch y.Kind {
	case yaml.ScalarNode:
		c.scalar(n, y)
	case yaml.SequenceNode:
		n.Kind, n.children = schema.List, &children{Items: make([]*Node, 0, len(y.Content))}
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

// alias returns the node that an alias refers to.
func (c *converter) alias(y *yaml.Node) *Node {
	target, known := c.anchors[y.Alias]
	if target == nil {
		here := c.new(y)
		here.Kind, here.Text = schema.Nil, "*"+y.Value
		if known {
			c.fail(here, "the anchor &%s contains itself", y.Value)
		} else {
			c.fail(here, "unknown anchor &%s", y.Value)
		}
		return here
	}
	return target
}

// grow adds the size of a child to n. Aliases that multiply the size of the document
// beyond the limit are an error.
func (c *converter) grow(n, child *Node, y *yaml.Node) {
	size := int(n.size) + int(child.size)
	if size > c.limit {
		c.overflow(y, "aliases in this document expand to more than %d values")
	}
	n.size = int32(min(size, c.limit+1))
}

// overflow ends the conversion of a document with too many values.
func (c *converter) overflow(y *yaml.Node, format string) {
	if c.overflown {
		return
	}
	c.overflown = true
	here := c.new(y)
	here.Kind, here.Text, here.style = schema.Nil, y.Value, plain
	c.fail(here, format, c.limit)
}

func (c *converter) mapping(n *Node, y *yaml.Node) {
	n.children = &children{Entries: make([]Entry, 0, len(y.Content)/2)}
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
			c.fail(key, "%w", diag.Expected("a text as key").Got("%s", key.Describe()))
			continue
		}
		key.Kind = schema.String
		if above := append(pending, c.annotationsOf(yk, yv)...); len(above) > 0 {
			c.src.annotate(key.line, key.col, above)
		}
		pending = c.annotationsIn(yk.FootComment, yk.Line)
		c.entry(n, seen, key, c.node(yv), yv)
	}
	for _, m := range merges {
		if seen == nil {
			seen = n.keys()
		}
		c.merge(n, seen, m)
	}
}

// keys returns the keys of a mapping by their texts.
func (n *Node) keys() map[string]*Node {
	seen := make(map[string]*Node, 2*len(n.Entries))
	for _, e := range n.Entries {
		seen[e.Key.Text] = e.Key
	}
	return seen
}

// entry adds an entry to a mapping. The mapping's keys are in seen, unless that is nil.
func (c *converter) entry(n *Node, seen map[string]*Node, key, val *Node, y *yaml.Node) {
	var first *Node
	if seen != nil {
		first = seen[key.Text]
		seen[key.Text] = key
	} else {
		first = n.Key(key.Text)
	}
	if first != nil {
		c.fail(key, "duplicate key %q", key.Text).Notes = []diag.Note{{Pos: first.Pos(), Text: "first one"}}
		return
	}
	n.Entries = append(n.Entries, Entry{key, val})
	c.grow(n, val, y)
}

// merge adds the entries that a merge key names and that are not there yet.
func (c *converter) merge(n *Node, seen map[string]*Node, y *yaml.Node) {
	from := c.node(y)
	sources := []*Node{from}
	if from.Kind == schema.List {
		sources = from.Items
	}
	for _, s := range sources {
		if s.Kind != schema.Map {
			here := c.new(y)
			here.Kind, here.style = schema.Nil, plain
			c.fail(here, "%w", diag.Expected("a table or a list of tables after <<").Got("%s", s.Describe()))
			return
		}
		for _, e := range s.Entries {
			if c.work++; c.work > c.limit {
				c.overflow(y, "merge keys in this document expand to more than %d values")
			}
			if c.overflown {
				return
			}
			if seen[e.Key.Text] == nil {
				seen[e.Key.Text] = e.Key
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
			c.fail(n, "%w", diag.Expected("true or false").Got("%q", n.Text))
		}
	case "!!int":
		n.Kind = schema.Int
		if _, ok := parseInt(n.Text); !ok {
			// The number is too large for an integer, as versions or serial numbers may be.
			n.Kind = schema.String
			if y.Style&yaml.TaggedStyle != 0 {
				c.fail(n, "%w", diag.Expected("an integer").Got("%q", n.Text))
			}
		}
	case "!!float":
		n.Kind = schema.Float
		if _, ok := parseFloat(n.Text); !ok {
			c.fail(n, "%w", diag.Expected("a number").Got("%q", n.Text))
		}
	case "!!binary":
		n.Kind = schema.String
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Text), ""))
		if err != nil {
			c.fail(n, "%w", diag.Expected("base64 after !!binary: %w", err))
		}
		n.Text = string(raw)
	case "!secret":
		n.Kind, n.Secret = schema.String, true
	default:
		c.fail(n, "unknown tag %s", y.Tag)
	}
}

// checkTag reports a tag that a collection cannot have.
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
