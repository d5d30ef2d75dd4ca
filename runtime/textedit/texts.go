package textedit

import (
	"maps"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// A Text is a string value in a document.
type Text struct {
	Path  Path
	Value string
	// Tag is its YAML tag, such as !secret; "" for most.
	Tag string
}

// Texts returns the strings of a document, each once even if aliases refer to it. YAML strings are in the order of
// the text, others in the order of their paths.
func (f Format) Texts(text string) ([]Text, error) {
	if err := check(text, Path{"x"}); err != nil {
		return nil, err
	}
	doc, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	if doc.yaml != nil {
		return yamlTexts(doc.yaml.Content[0], nil), nil
	}
	return textsIn(doc.value, nil), nil
}

func textsIn(v any, path Path) (texts []Text) {
	switch v := v.(type) {
	case string:
		return []Text{{Path: path, Value: v}}
	case []any:
		for i, item := range v {
			texts = append(texts, textsIn(item, append(slices.Clip(path), strconv.Itoa(i)))...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, textsIn(v[name], append(slices.Clip(path), name))...)
		}
	}
	return texts
}

func yamlTexts(n *yaml.Node, path Path) (texts []Text) {
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			texts = append(texts, yamlTexts(item, append(slices.Clip(path), strconv.Itoa(i)))...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			texts = append(texts, yamlTexts(n.Content[i+1], append(slices.Clip(path), n.Content[i].Value))...)
		}
	case yaml.ScalarNode:
		switch tag := n.ShortTag(); tag {
		case "!!str":
			return []Text{{Path: path, Value: n.Value}}
		case "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge", "!!binary":
		default:
			return []Text{{Path: path, Value: n.Value, Tag: tag}}
		}
	}
	return texts
}
