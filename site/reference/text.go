package reference

import (
	"io"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
)

// WriteTypes writes the reference of all types.
func WriteTypes(w io.Writer, reg *resource.Registry) {
	for i, t := range reg.Types() {
		if i > 0 {
			terminal.Fprintf(w, "\n")
		}
		writeType(w, reg, t)
	}
	common := resource.CommonSchema()
	terminal.Fprintf(w, "\n## Properties of every type\n\n%s\n\n", terminal.LinesText(terminal.Wrap(common.Doc, "", terminal.Columns(w))))
	writeFields(w, common)
}

// writeType writes the reference of a type.
func writeType(w io.Writer, reg *resource.Registry, t *resource.Type) {
	terminal.Fprintf(w, "## %s\n\n%s\n\nProviders: %s\n", t.Name, terminal.LinesText(terminal.Wrap(t.Schema().Doc, "", terminal.Columns(w))), strings.Join(reg.ProviderNames(t), ", "))
	for _, b := range Described(reg, t) {
		terminal.Fprintf(w, "%s\n", terminal.Prose(w, terminal.Sprintf("- %s: ", b.Name), terminal.LineText(b.Text), nil))
	}
	terminal.Fprintf(w, "\n")
	writeFields(w, t.Schema())
}

// A ProviderText is the description of a provider.
type ProviderText struct{ Name, Text string }

// Described returns the descriptions of the providers of a type, in order of name, without empty
// ones.
func Described(reg *resource.Registry, t *resource.Type) (list []ProviderText) {
	for _, b := range reg.Bindings(t) {
		d := b.Describe()
		text := d.Doc
		switch {
		case len(d.Commands) > 0:
			text += " Calls " + strings.Join(d.Commands, ", ") + "."
		case d.Commands != nil:
			text += " Calls no other programs."
		}
		if d.Live {
			text += " With --root it requires Linux."
		}
		if text != "" {
			list = append(list, ProviderText{b.Name, strings.TrimSpace(text)})
		}
	}
	slices.SortFunc(list, func(a, b ProviderText) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func writeFields(w io.Writer, s *schema.Schema) {
	for i := range s.Fields {
		writeField(w, &s.Fields[i])
	}
}

// writeField writes the reference of one property: its name, its kind and traits, its
// documentation.
func writeField(w io.Writer, f *schema.Field) {
	traits := []string{f.Describe()}
	if len(f.Aliases) > 0 {
		traits = append(traits, "also "+strings.Join(f.Aliases, ", "))
	}
	if f.IsName {
		traits = append(traits, "names the resource")
	}
	if f.Required {
		traits = append(traits, "required")
	}
	if f.Default != "" {
		traits = append(traits, "default "+f.Default)
	}
	traitsText := terminal.Prose(w, terminal.Sprintf("- `%s` ", f.Name), terminal.Sprintf("(%s)", strings.Join(traits, "; ")), nil)
	terminal.Fprintf(w, "%s\n%s\n", traitsText, terminal.LinesText(terminal.Wrap(f.Doc, "  ", terminal.Columns(w))))
	for _, obj := range []*schema.Schema{f.Object, f.ElemObject()} {
		if obj == nil {
			continue
		}
		for i := range obj.Fields {
			g := &obj.Fields[i]
			terminal.Fprintf(w, "  - `%s.%s` (%s)\n%s\n", f.Name, g.Name, g.Describe(), terminal.LinesText(terminal.Wrap(g.Doc, "    ", terminal.Columns(w))))
		}
	}
}
