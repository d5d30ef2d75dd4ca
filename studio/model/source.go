package model

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/template"
	"github.com/luaccm/ccm/studio/yamledit"
)

// paste puts groups of a text before a resource.
func (y *yamlEditor) paste(e Edit) error {
	at, err := before(y.res, e.At)
	if err != nil {
		return err
	}
	text, err := y.groups(e.Text)
	if err != nil {
		return err
	}
	return y.newGroup(at, func(g int) error {
		if _, err := y.doc.At(resourcesPath); err != nil {
			if err := y.step(y.doc.Set(resourcesPath, nil)); err != nil {
				return err
			}
		}
		return y.step(y.doc.InsertText(resourcesPath, g, text))
	})
}

// groups returns a text of declarations as a list of groups: the text is such a list, one group, or
// a whole manifest.
func (y *yamlEditor) groups(text string) (string, error) {
	doc, err := yamledit.Parse(text)
	if err != nil {
		return "", fmt.Errorf("the text to paste: %w", err)
	}
	root, err := doc.At(nil)
	switch {
	case err != nil:
		return "", fromYAML(err)
	case root.Kind() == yamledit.List:
		return text, nil
	case root.Kind() != yamledit.Map:
		return "", diag.Expected("resources to paste, such as - file: [...]")
	}
	if _, ok := root.Child("ccm"); !ok {
		return "- " + strings.TrimLeft(indent(text, 2), " "), nil
	}
	list, err := doc.At(resourcesPath)
	if err != nil {
		return "", diag.None("resources in the text to paste")
	}
	var out strings.Builder
	for i := range list.Children() {
		item, err := doc.Item(resourcesPath, i)
		if err != nil {
			return "", fromYAML(err)
		}
		out.WriteString(item)
	}
	return out.String(), nil
}

// Source returns resources as a text to paste, in the language of the file.
func (m *Model) Source(keys ...string) (string, error) {
	if m.Language == Lua {
		return m.luaSource(keys)
	}
	var out strings.Builder
	for _, key := range keys {
		i, err := indexOf(m.Resources, key)
		if err != nil {
			return "", &Refusal{Err: err}
		}
		text, err := groupText(m.doc, &m.Resources[i])
		if err != nil {
			return "", &Refusal{Err: fromYAML(err), Line: m.Resources[i].Line}
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// groupText returns a resource as a group of its own, with the defaults of its group.
func groupText(doc *yamledit.Doc, res *Resource) (string, error) {
	list, item, ok := listOf(res)
	if !ok {
		return doc.Item(resourcesPath, res.Group)
	}
	indices, _ := defaultsOf(doc, list)
	text := "- " + keyText(res.Type) + ":\n"
	for _, i := range append(indices, item) {
		part, err := doc.Item(list, i)
		if err != nil {
			return "", err
		}
		text += indent(part, 4)
	}
	return text, nil
}

// keyText returns a type as the key of a group.
func keyText(typ string) string {
	if typ == "" || strings.ContainsAny(typ, " :#{}[],&*!|>'\"%@`-") || template.HasExpression(typ) {
		return "'" + strings.ReplaceAll(typ, "'", "''") + "'"
	}
	return typ
}

// indent puts blanks before all lines that are not empty.
func indent(text string, by int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			out.WriteString(strings.Repeat(" ", by))
		}
		out.WriteString(line)
	}
	return out.String()
}
