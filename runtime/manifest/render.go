package manifest

import (
	"bytes"

	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// Render returns a manifest without expressions and hierarchy that declares the same
// resources as m.
func (m *Manifest) Render() ([]byte, error) {
	root := emptyMapping()
	if len(m.Data) > 0 {
		put(root, "data", yamlOf(valueOf(m.Data), false))
	}
	ccm := emptyMapping()
	if m.FailOnError {
		put(ccm, "fail_on_error", yamlOf(schema.BoolValue(true), true))
	}
	for _, msg := range []struct{ key, text string }{{"pre_message", m.PreMessage}, {"post_message", m.PostMessage}} {
		if msg.text != "" {
			put(ccm, msg.key, text(msg.text, true))
		}
	}
	if len(m.Modules) > 0 {
		list := make([]schema.Value, len(m.Modules))
		for i, name := range m.Modules {
			list[i] = schema.StringValue(name)
		}
		put(ccm, "modules", yamlOf(schema.ListValue(list...), true))
	}
	put(ccm, "resources", m.blocks())
	put(root, "ccm", ccm)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	err := enc.Close()
	return out.Bytes(), err
}

// blocks returns the resources in blocks of consecutive ones of the same type.
func (m *Manifest) blocks() *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	var of string
	var block *yaml.Node
	for _, d := range m.Resources {
		if d.Type.Name != of {
			of, block = d.Type.Name, &yaml.Node{Kind: yaml.SequenceNode}
			outer := emptyMapping()
			put(outer, of, block)
			list.Content = append(list.Content, outer)
		}
		item := emptyMapping()
		item.Content = append(item.Content, text(d.Name, true), d.body(m.env))
		block.Content = append(block.Content, item)
	}
	if len(list.Content) == 0 {
		list.Style = yaml.FlowStyle
	}
	return list
}

// body returns the properties of a resource, without its name.
func (d ResolvedResource) body(env *template.Env) *yaml.Node {
	body := emptyMapping()
	if d.Skip != "" {
		control := emptyMapping()
		put(control, "if", yamlOf(schema.BoolValue(false), true))
		control.Style = yaml.FlowStyle
		put(body, "control", control)
		return body
	}
	name := d.Type.Schema().Name()
	for _, e := range d.resolve(env).tab.Entries {
		if d.Type.Schema().Field(e.Key) != name && e.Val.Kind != schema.Nil {
			put(body, e.Key, yamlOf(e.Val, true))
		}
	}
	if len(body.Content) == 0 {
		body.Style = yaml.FlowStyle
	}
	return body
}

func emptyMapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func put(n *yaml.Node, key string, val *yaml.Node) {
	n.Content = append(n.Content, text(key, false), val)
}

// yamlOf returns a value as YAML that evaluates to the same value. Keys says that keys are
// evaluated too.
func yamlOf(v schema.Value, keys bool) *yaml.Node {
	switch v.Kind {
	case schema.List:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v.Items() {
			n.Content = append(n.Content, yamlOf(item, keys))
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case schema.Map:
		n := emptyMapping()
		for _, e := range v.Table().Entries {
			n.Content = append(n.Content, text(e.Key, keys), yamlOf(e.Val, keys))
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case schema.Nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case schema.Bool:
		return plainScalar(v, "!!bool", strconv.FormatBool(v.B))
	case schema.Int:
		return plainScalar(v, "!!int", strconv.FormatInt(v.I, 10))
	case schema.Float:
		return plainScalar(v, "!!float", strconv.FormatFloat(v.F, 'f', -1, 64))
	}
	return text(v.S, true)
}

// plainScalar returns a scalar in its original form.
func plainScalar(v schema.Value, tag, canonical string) *yaml.Node {
	if v.S != "" {
		canonical = v.S
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: canonical}
}

func text(s string, evaluated bool) *yaml.Node {
	if evaluated {
		s = inert(s)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.Contains(s, "\n") && strings.TrimSpace(s) != "" {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// inert returns a text that evaluates to s.
func inert(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if two := s[i:min(i+2, len(s))]; two == "${" || two == "{{" {
			b.WriteString("${ '" + two + "' }")
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
