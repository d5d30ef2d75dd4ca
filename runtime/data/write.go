package data

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/yamlsyntax"
)

// EncodeValue writes a value as a YAML document. Tables keep their order, and every reader reads
// texts as texts again.
func EncodeValue(v schema.Value) (string, error) { return Encode(nodeOf(v)) }

func nodeOf(v schema.Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v.Kind {
	case schema.Nil:
		n.Tag, n.Value = "!!null", "null"
	case schema.Bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v.B)
	case schema.Int:
		n.Tag, n.Value = "!!int", strconv.FormatInt(v.I, 10)
	case schema.Float:
		n.Tag, n.Value = "!!float", yamlsyntax.FloatText(v.F)
	case schema.List:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		for _, item := range v.Items() {
			n.Content = append(n.Content, nodeOf(item))
		}
	case schema.Map:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		for _, e := range v.Table().Entries {
			n.Content = append(n.Content, nodeOf(schema.StringValue(e.Key)), nodeOf(e.Val))
		}
	default:
		n.SetString(v.S)
		if yamlsyntax.ReadsAsOther(v.S) || n.Style == yaml.LiteralStyle && strings.TrimLeft(v.S[:1], " \t\n") == "" {
			n.Style = yaml.DoubleQuotedStyle // an indented block would not be read as the same text
		}
	}
	return n
}
