package textedit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

func decodeYAML(text string) (any, error) {
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return nil, err
	}
	if err := root.Decode(new(any)); err != nil { // aliases of aliases may stand for more than there can be
		return nil, fmt.Errorf("not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return plainNode(root.Content[0])
}

// An alias is a value that stands elsewhere. What << merges is one of the key <<.
type alias struct {
	name  string
	value any
}

// plainNode returns the value of a node.
func plainNode(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		v, err := plainNode(n.Alias)
		return alias{n.Value, v}, err
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			var err error
			if list[i], err = plainNode(c); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: want a word as the key of a map", key.Line)
			}
			if _, twice := m[key.Value]; twice {
				return nil, fmt.Errorf("line %d: %s stands there twice", key.Line, key.Value)
			}
			v, err := plainNode(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[key.Value] = v
		}
		return m, nil
	}
	if n.ShortTag() == "!!timestamp" {
		return n.Value, nil // a date is its text
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return plain(v), nil
}

// parseYAML reads a text with one document. It is nil if the text has none.
func parseYAML(text string) (*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var root, second yaml.Node
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if dec.Decode(&second) == nil {
		return nil, errors.New("want one document of YAML, found a second one")
	}
	return &root, nil
}

func eachNode(n *yaml.Node, f func(*yaml.Node)) {
	f(n)
	for _, c := range n.Content {
		eachNode(c, f)
	}
}

func setYAML(text string, path Path, value any) ([]splice, error) {
	v := yamlNode(value)
	root, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	if root == nil || unwritten(root.Content[0]) { // there are comments at most
		line := written(yamlNode(nested(path, value)), false, 2) + "\n"
		if text != "" && !strings.HasSuffix(text, "\n") {
			line = "\n" + line
		}
		return []splice{{len(text), len(text), line}}, nil
	}
	d := newYAMLText(text, root)
	trail, rest, err := d.reach(path)
	if err != nil {
		return nil, err
	}
	last := trail[len(trail)-1]
	if len(rest) == 0 {
		return d.replace(trail, v)
	}
	v = yamlNode(nested(rest[1:], value))
	extra := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}}
	if last.node.Kind != yaml.SequenceNode {
		extra = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{yamlNode(rest[0]), v}}
	}
	if len(last.node.Content) == 0 { // null, {} or []: a block begins here
		return d.replace(trail, extra)
	}
	return d.add(trail, extra), nil
}

func removeYAML(text string, path Path) ([]splice, error) {
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return nil, errors.Join(err, errPlace)
	}
	d := newYAMLText(text, root)
	trail, rest, err := d.reach(path)
	if err != nil || len(rest) > 0 {
		return nil, errors.Join(err, errPlace)
	}
	last, parent := trail[len(trail)-1], trail[len(trail)-2]
	first, per := last.node, 1
	if last.key != nil {
		first, per = last.key, 2
	}
	if len(parent.node.Content) == per {
		return d.replace(trail[:len(trail)-1], &yaml.Node{Kind: parent.node.Kind, Style: yaml.FlowStyle})
	}
	i := slices.Index(parent.node.Content, first)
	if d.flow(trail[:len(trail)-1]) {
		return []splice{d.cutFlow(parent.node, i, per)}, nil
	}
	return []splice{d.cutBlock(parent.node, i, per)}, nil
}

// A yamlStep is a node on a path, and its key if it is in a map.
type yamlStep struct{ node, key *yaml.Node }

// reach goes along a path as far as there is something. It returns the nodes on the way, the
// root first, and the rest of the path.
func (d *yamlText) reach(path Path) (trail []yamlStep, rest Path, err error) {
	n := d.root.Content[0]
	trail = []yamlStep{{node: n}}
	for i, step := range path {
		next, key := -1, (*yaml.Node)(nil)
		switch n.Kind {
		case yaml.AliasNode:
			return nil, nil, fmt.Errorf("%s is an alias of what stands elsewhere: change it there", at(path, i))
		case yaml.SequenceNode:
			if p, ok := position(step, len(n.Content)); ok && p < len(n.Content) {
				next = p
			}
		case yaml.MappingNode:
			for k := 0; k < len(n.Content); k += 2 {
				if n.Content[k].Kind == yaml.ScalarNode && n.Content[k].Value == step {
					next, key = k+1, n.Content[k]
				}
			}
		}
		if next < 0 {
			return trail, path[i:], nil
		}
		n = n.Content[next]
		trail = append(trail, yamlStep{n, key})
	}
	return trail, nil, nil
}

// yamlNode returns the node of a value. A short list of words stands on one line.
func yamlNode(value any) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(value); err != nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} // the proof refuses it
	}
	eachNode(n, func(n *yaml.Node) {
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

// replace puts a node in the place of the last on a trail.
func (d *yamlText) replace(trail []yamlStep, v *yaml.Node) ([]splice, error) {
	last := trail[len(trail)-1]
	old, key := last.node, last.key
	s, flow := d.spans[old], d.flow(trail[:len(trail)-1])
	if old.Kind != yaml.AliasNode && old.Anchor == "" {
		s.value = s.start // a tag goes as well
	}
	if v.Kind == yaml.ScalarNode {
		v.Style = styleFor(old, v, flow)
	}
	base := 0 // of what stands below
	switch {
	case key != nil:
		base = d.column(d.spans[key].start)
	case len(trail) > 1:
		base = d.column(d.spans[trail[len(trail)-2].node].value)
	}
	unit := d.unit()
	text := written(v, flow, unit)
	lead := ""
	if s.value > 0 && strings.IndexByte(":-", d.text[s.value-1]) >= 0 {
		lead = " "
	}
	isBlock := v.Kind != yaml.ScalarNode && !flow && len(v.Content) > 0 && v.Style&yaml.FlowStyle == 0
	switch {
	case isBlock && key == nil: // an item: it begins behind the dash
		return []splice{{s.value, s.end, lead + indented(text, d.column(s.value)+len(lead))}}, nil
	case isBlock:
		from := d.colonOf(key)
		comment := "" // behind the value, it stays behind the key
		line := strings.TrimRight(d.text[s.end:lineEnd(d.text, s.end)], "\r\n")
		if old.Kind == yaml.ScalarNode && strings.HasPrefix(strings.TrimSpace(line), "#") && !strings.Contains(d.text[from:s.end], "\n") {
			comment = line
		}
		return []splice{{from, s.end + len(comment), comment + "\n" + strings.Repeat(" ", base+unit) + indented(text, base+unit)}}, nil
	}
	text = indented(text, base)
	if head, body, block := strings.Cut(text, "\n"); block && !flow { // a comment beside it goes up to the |
		line := strings.TrimRight(d.text[s.end:lineEnd(d.text, s.end)], "\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "#") && (old.Kind != yaml.ScalarNode || old.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0) {
			return []splice{{s.value, s.end + len(line), lead + head + line + "\n" + body}}, nil
		}
	}
	if key != nil && s.value > d.spans[key].end && strings.TrimSpace(d.text[lineStart(d.text, s.value):s.value]) == "" {
		// A block becomes a word: it goes up to its key.
		if up := d.colonOf(key); strings.TrimSpace(d.text[up:s.value]) == "" {
			return []splice{{up, s.end, " " + text}}, nil
		}
	}
	return []splice{{s.value, s.end, lead + text}}, nil
}

// styleFor keeps how a scalar is written, as far as the new value can be.
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

// add puts the child of extra behind the last of the node that a trail ends with.
func (d *yamlText) add(trail []yamlStep, extra *yaml.Node) []splice {
	n := trail[len(trail)-1].node
	s := d.spans[n]
	if d.flow(trail) {
		text := written(extra, true, 2)
		end := d.spans[n.Content[len(n.Content)-1]].end
		return []splice{{end, end, ", " + strings.TrimSpace(text[1:len(text)-1])}}
	}
	column := d.column(s.value)
	text := strings.Repeat(" ", column) + indented(written(extra, false, d.unit()), column) + "\n"
	end := lineEnd(d.text, s.end)
	if s.end > 0 && d.text[s.end-1] == '\n' {
		end = s.end
	}
	if end > 0 && d.text[end-1] != '\n' {
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	return []splice{{end, end, text}}
}

func (d *yamlText) cutFlow(n *yaml.Node, i, per int) splice {
	if i+per < len(n.Content) {
		return splice{d.spans[n.Content[i]].start, d.spans[n.Content[i+per]].start, ""}
	}
	return splice{d.spans[n.Content[i-1]].end, d.spans[n.Content[i+per-1]].end, ""}
}

// cutBlock removes the lines of a child. Comments above them stay.
func (d *yamlText) cutBlock(n *yaml.Node, i, per int) splice {
	start, end := d.spans[n.Content[i]].start, d.spans[n.Content[i+per-1]].end
	begin := start
	if n.Kind == yaml.SequenceNode {
		if begin = strings.LastIndexByte(d.text[:start], '-'); unwritten(n.Content[i]) && start < len(d.text) && d.text[start] == '-' {
			begin = start
		}
	}
	from, to := lineStart(d.text, max(begin, 0)), lineEnd(d.text, end)
	if end > start && d.text[end-1] == '\n' {
		to = end
	}
	if strings.TrimSpace(d.text[from:max(begin, 0)]) == "" && (i == 0 || d.spans[n.Content[i-1]].end <= from) {
		if from > 0 && to == len(d.text) && d.text[to-1] != '\n' {
			from--
		}
		return splice{from, to, ""}
	}
	if i+per < len(n.Content) { // it stands behind a dash, and the next takes its place there
		from, to = start, d.spans[n.Content[i+per]].start
		if n.Kind == yaml.SequenceNode {
			from = d.spans[n].value
			to = from + strings.LastIndexByte(d.text[from:to], '-')
		}
		return splice{from, max(from, to), ""}
	}
	return splice{} // nothing is removed, which the proof refuses
}
