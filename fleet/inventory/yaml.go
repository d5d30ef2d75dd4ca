package inventory

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/yamlsyntax"
)

// maxNodes is the most values of a file, aliased values counted at each use.
const maxNodes = 2_000_000

// A yamlFile is the state of reading a file.
type yamlFile struct {
	file  string
	nodes int // read so far
	depth int // of the present mapping
}

// maxDepth is the most levels of mappings. A mapping with an alias of itself has no end.
const maxDepth = 200

func (y *yamlFile) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s: %w", y.at(n), fmt.Errorf(format, args...))
}

func (y *yamlFile) at(n *yaml.Node) string { return fmt.Sprintf("%s:%d", y.file, n.Line) }

// document returns the root value of a file, nil for an empty file.
func (y *yamlFile) document(text []byte) (*yaml.Node, error) {
	decoder := yamlsyntax.NewDecoder(string(text), nil)
	doc, err := decoder.Decode()
	switch {
	case errors.Is(err, io.EOF), err == nil && len(doc.Content) == 0:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", y.file, err)
	}
	if second, err := decoder.Decode(); err == nil {
		return nil, y.errorf(second, "%w", diag.Expected("one document").Found("a second one"))
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", y.file, err)
	}
	return doc.Content[0], nil
}

// readYAML reads what Ansible documents as "Uses a specific YAML file as an inventory source".
func (inv *Inventory) readYAML(file string, text []byte) error {
	y := &yamlFile{file: file}
	n, err := y.document(text)
	if err != nil || n == nil {
		return err
	}
	return y.each(n, "a group", func(name string, key, value *yaml.Node) error {
		if name == "plugin" && value.Kind == yaml.ScalarNode {
			return y.errorf(key, "the Ansible inventory plugin %s is not supported (use an executable file that calls ansible-inventory --list)", value.Value)
		}
		return y.group(inv, name, key, value)
	})
}

// each calls do for each key of a mapping, with keys that are merged in by <<.
func (y *yamlFile) each(n *yaml.Node, what string, do func(name string, key, value *yaml.Node) error) error {
	if y.nodes++; y.nodes > maxNodes {
		return y.errorf(n, "expands to more than %d values", maxNodes)
	}
	if y.depth++; y.depth > maxDepth {
		return y.errorf(n, "nested more than %d levels deep, or contains itself", maxDepth)
	}
	defer func() { y.depth-- }()
	if n.Kind == yaml.AliasNode {
		return y.each(n.Alias, what, do)
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return y.errorf(n, "%w", diag.Expected("%s: names and values", what))
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for pass := range 2 { // merged keys first, because direct ones take precedence
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind == yaml.AliasNode {
				key = key.Alias
			}
			if key.Kind != yaml.ScalarNode {
				return y.errorf(key, "%w", diag.Expected("a name"))
			}
			merge := key.Tag == "!!merge"
			switch {
			case merge && pass == 0 && value.Kind == yaml.SequenceNode:
				for j := len(value.Content) - 1; j >= 0; j-- {
					if err := y.each(value.Content[j], what, do); err != nil {
						return err
					}
				}
			case merge && pass == 0:
				if err := y.each(value, what, do); err != nil {
					return err
				}
			case !merge && pass == 1 && seen[key.Value]: // Ansible ignores the first one
				return y.errorf(key, "%w", diag.Duplicate("key %q", key.Value))
			case !merge && pass == 1:
				seen[key.Value] = true
				if err := do(key.Value, key, value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// group reads a group, and the groups below it.
func (y *yamlFile) group(inv *Inventory, name string, key, n *yaml.Node) error {
	g := inv.group(name, y.at(key))
	g.define(inv)
	return y.each(n, "hosts, vars or children of a group", func(part string, key, value *yaml.Node) error {
		switch part {
		case "vars":
			return y.variables(g.vars, value)
		case "children":
			return y.each(value, "groups", func(name string, key, value *yaml.Node) error {
				g.addChild(name)
				return y.group(inv, name, key, value)
			})
		case "hosts":
			return y.each(value, "hosts, each followed by a colon", func(pattern string, key, value *yaml.Node) error {
				return y.hosts(inv, g, pattern, key, value)
			})
		}
		return y.errorf(key, "%w", diag.Expected("hosts, vars or children of group %s", name).Got("%q", part))
	})
}

func (y *yamlFile) hosts(inv *Inventory, g *group, pattern string, key, n *yaml.Node) error {
	names, port, err := expandHosts(pattern)
	if err != nil {
		return y.errorf(key, "%v", err)
	}
	for _, name := range names {
		h, err := inv.host(name, y.at(key))
		if err != nil {
			return err
		}
		g.add(name)
		if port > 0 {
			h.vars["ansible_port"] = variable{port, y.at(key)}
		}
		if err := y.variables(h.vars, n); err != nil {
			return err
		}
	}
	return nil
}

func (y *yamlFile) variables(v variables, n *yaml.Node) error {
	return y.each(n, "variables", func(name string, key, value *yaml.Node) error {
		x, err := y.value(value, 0)
		v[name] = variable{x, y.at(key)}
		return err
	})
}

// value returns the value of a node in the types of JSON.
func (y *yamlFile) value(n *yaml.Node, depth int) (any, error) {
	if y.nodes++; y.nodes > maxNodes || depth > maxNesting {
		return nil, y.errorf(n, "expands to more than %d values or %d levels", maxNodes, maxNesting)
	}
	if n.Tag == "!vault" || n.Tag == "!vault-encrypted" {
		return unknownValue("encrypted with ansible-vault"), nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return y.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			x, err := y.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	case yaml.MappingNode:
		m := map[string]any{}
		err := y.each(n, "names and values", func(name string, _, value *yaml.Node) (err error) {
			m[name], err = y.value(value, depth+1)
			return err
		})
		return m, err
	}
	return scalar(n), nil
}

// number11 matches the numbers of YAML 1.1: 08 and 1e3 are text.
var number11 = lazyregexp.New(`^[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*|([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)([eE][-+][0-9]+)?)$`)

// scalar returns the value of a scalar. Ansible reads YAML 1.1, in which yes is true.
func scalar(n *yaml.Node) any {
	if n.Style == 0 {
		switch n.Value {
		case "yes", "Yes", "YES", "on", "On", "ON":
			return true
		case "no", "No", "NO", "off", "Off", "OFF":
			return false
		}
	}
	isNumber := n.Tag == "!!int" || n.Tag == "!!float"
	var x any
	if n.Tag != "!!str" && (!isNumber || n.Style != 0 || number11().MatchString(n.Value)) && n.Decode(&x) == nil {
		switch x := x.(type) {
		case int:
			if !isExact(int64(x)) {
				return n.Value
			}
			return int64(x)
		case float64:
			if !math.IsNaN(x) && !math.IsInf(x, 0) { // JSON has no such numbers
				return x
			}
		case bool, nil:
			return x
		}
	}
	return n.Value
}

// readVariables reads group_vars and host_vars of a directory.
func (inv *Inventory) readVariables(dir string, check Check) error {
	for _, name := range sortedKeys(inv.groups) {
		if err := inv.groups[name].files.readFiles(filepath.Join(dir, "group_vars"), name, check); err != nil {
			return err
		}
	}
	for _, name := range inv.order {
		if err := inv.hosts[name].files.readFiles(filepath.Join(dir, "host_vars"), name, check); err != nil {
			return err
		}
	}
	return nil
}
