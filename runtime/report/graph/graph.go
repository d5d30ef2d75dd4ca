// Package graph lays out resources from left to right in their order, and draws them as SVG.
// Resources of one type with the same neighbors are drawn as one stack.
//
// The steps are those of Sugiyama, Tagawa and Toda (Methods for Visual Understanding of
// Hierarchical System Structures, 1981), each in a file of its own: what is drawn (stack.go,
// reduce.go), layers (layer.go), order within a layer (order.go), heights (height.go).
package graph

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Node is a resource.
type Node struct {
	Type, Name string
	// Class is the class of the element in the drawing: an outcome, or "". Nodes of different
	// classes are never stacked.
	Class string
	// Link is where a click leads to, "" if there is none.
	Link string
}

// String returns type#name.
func (n Node) String() string { return n.Type + "#" + n.Name }

// An Edge leads from a resource to one that comes after it, both as indices of nodes.
type Edge struct {
	From, To int
	Refresh  bool // a change of From refreshes To
}

// A Box is a node, or a stack of nodes.
type Box struct {
	Members    []int // nodes, ascending; at least one
	Type       string
	Label      string  // a name, or the number in the stack and the common beginning of their names
	X, Y, W, H float64 // in pixels; X and Y are of the upper left corner
}

// A Line leads from one box to another.
type Line struct {
	From, To int // boxes
	Refresh  bool
	Points   []Point
}

// A Point of a line, in pixels.
type Point struct{ X, Y float64 }

// A Drawing is the result of Layout: all its parts have places.
type Drawing struct {
	Nodes         []Node
	Boxes         []Box
	Lines         []Line
	Width, Height float64 // in pixels
}

// Measures, in pixels.
const (
	rowGap     = 10.0
	columnGap  = 54.0
	margin     = 16.0
	boxHeight  = 26.0
	charWidth  = 7.3  // of 12 px monospaced type
	labelSpace = 30.0 // width of a box without its label
	rowWidth   = 1100.0
)

// DefaultStack is the usual stack argument of Layout.
const DefaultStack = 3

// Layout places nodes. At least stack nodes make a stack; 0 makes none. The caller must not pass
// edges of a node to itself, or in both directions between two nodes: a catalog has none.
func Layout(nodes []Node, edges []Edge, stack int) *Drawing {
	d := &Drawing{Nodes: nodes}
	boxes := newBoxes(nodes, edges, stack)
	for _, members := range boxes.members {
		d.Boxes = append(d.Boxes, newBox(nodes, members))
	}
	for _, e := range boxes.edges {
		d.Lines = append(d.Lines, Line{From: e.From, To: e.To, Refresh: e.Refresh})
	}
	d.place()
	return d
}

// newBox returns the box of members, without its place.
func newBox(nodes []Node, members []int) Box {
	b := Box{Members: members, Type: shorten(nodes[members[0]].Type), Label: labelOf(nodes, members), H: boxHeight}
	b.W = charWidth*float64(utf8.RuneCountInString(b.Type+" "+b.Label)) + labelSpace
	return b
}

// maxLabel is the number of characters of a name that are shown.
const maxLabel = 38

// labelOf returns the name of a node, or the number of nodes in a stack and the common beginning
// of their names.
func labelOf(nodes []Node, members []int) string {
	first := nodes[members[0]]
	if len(members) == 1 {
		return shorten(first.Name)
	}
	begin := first.Name
	for _, m := range members[1:] {
		begin = commonPrefix(begin, nodes[m].Name)
	}
	if i := strings.LastIndexAny(begin, "/-_."); i > 0 {
		begin = begin[:i+1]
	}
	if begin == "" || begin == "/" {
		return strconv.Itoa(len(members)) + " ×"
	}
	return strconv.Itoa(len(members)) + " × " + shorten(begin+"…")
}
