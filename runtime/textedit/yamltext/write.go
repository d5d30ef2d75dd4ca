package yamltext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/yamlsyntax"
)

// NodeOf returns the node of a value. A short list of words is on one line. For a value that YAML cannot represent,
// or invalid UTF-8, it returns a node of kind 0, which the verification of an edit refuses.
func NodeOf(value any) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(quoted(value)); err != nil {
		return &yaml.Node{}
	}
	binary := false
	Each(n, func(n *yaml.Node) { binary = binary || n.ShortTag() == "!!binary" })
	if binary {
		return &yaml.Node{}
	}
	Each(n, func(n *yaml.Node) {
		switch tag := n.ShortTag(); {
		case tag == "!!merge", tag == "!!str" && yamlsyntax.ReadsAsOther(n.Value):
			n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
		case tag == "!!float":
			var f float64
			if n.Decode(&f) == nil {
				n.Value = yamlsyntax.FloatText(f)
			}
		}
		long := 0
		for _, c := range n.Content {
			if long += len(c.Value) + 2; c.Kind != yaml.ScalarNode {
				long = 1000
			}
		}
		if n.Kind == yaml.SequenceNode && long < 60 {
			n.Style |= yaml.FlowStyle
		}
	})
	return n
}

// quoted returns a value in which strings with line breaks are quoted: yaml.v3 would write them as block scalars,
// which lose empty lines at their start.
func quoted(value any) any {
	switch v := value.(type) {
	case string:
		n := &yaml.Node{}
		if strings.Contains(v, "\n") && utf8.ValidString(v) && (n.Encode(v) != nil || n.Value != v) {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: yaml.DoubleQuotedStyle}
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = quoted(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = quoted(v[k])
		}
		return out
	}
	return value
}

// Each calls f with a node and all nodes in it, in the order of the text.
func Each(n *yaml.Node, f func(*yaml.Node)) {
	f(n)
	for _, c := range n.Content {
		Each(c, f)
	}
}

// Written returns the text of a node, without the last line end. flow selects flow style ({} and []).
func Written(v *yaml.Node, flow bool, unit int) string {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(unit)
	encode := func(n *yaml.Node) string {
		if e.Encode(n) != nil || e.Close() != nil {
			return "[]" // the verification refuses it
		}
		return out.String()
	}
	switch {
	case flow || v.Kind == yaml.ScalarNode && v.Style&yaml.LiteralStyle == 0:
		Each(v, func(n *yaml.Node) {
			if n.Style &^= yaml.LiteralStyle | yaml.FoldedStyle; n.Kind != yaml.ScalarNode {
				n.Style |= yaml.FlowStyle
			}
		})
		text := strings.TrimSpace(encode(&yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{v}}))
		return unfolded(text[1 : len(text)-1])
	case v.Kind == yaml.ScalarNode: // a block scalar is written below a key
		text := encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "k"}, v}})
		return strings.TrimSuffix(strings.TrimPrefix(text, "k: "), "\n")
	}
	return strings.TrimRight(encode(v), "\n")
}

// unfolded joins the lines into which the encoder breaks long text in flow style. Line ends in strings are escaped
// there.
func unfolded(s string) string {
	lines := strings.Split(s, "\n")
	for i := 1; i < len(lines); i++ {
		lines[i] = strings.TrimLeft(lines[i], " ")
	}
	return strings.Join(lines, " ")
}

// indented indents all lines but the first.
func indented(text string, by int) string {
	lines := strings.SplitAfter(text, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			lines[i] = strings.Repeat(" ", by) + lines[i]
		}
	}
	return strings.Join(lines, "")
}

// styleFor returns the style of the old scalar, if the new value can have it.
func styleFor(old, v *yaml.Node, flow bool) yaml.Style {
	switch {
	case v.Tag != "!!str":
		return 0
	case strings.Contains(v.Value, "\n") && !flow && strings.TrimLeft(v.Value, " \t\n") == v.Value && !strings.ContainsAny(v.Value, "\t\r\u0085\u2028\u2029\ufeff"):
		return yaml.LiteralStyle
	case strings.Contains(v.Value, "\n"):
		return yaml.DoubleQuotedStyle
	case old.Kind == yaml.ScalarNode && old.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return old.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
	}
	return v.Style
}
