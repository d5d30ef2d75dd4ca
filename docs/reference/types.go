package reference

import (
	"errors"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	sitereference "github.com/luaccm/ccm/site/reference"
)

// typePage returns the page of a type.
func (s Source) typePage(t *resource.Type) (string, error) {
	p := page{root: "../../"}
	p.printf("# Type %s", prose(t.Name))
	p.printf("%s", prose(about(t.Name, t.Schema().Doc)))
	guides, err := s.guidesTo("types/" + t.Name + ".md")
	if err != nil {
		return "", err
	}
	if guides != "" {
		p.printf("Guides: %s.", guides)
	}
	example, ok := s.Examples[t.Name]
	if !ok {
		return "", errors.New("docs/reference/examples has no example of it")
	}
	p.printf("## Example")
	p.fence("lua", example.Script)
	for _, note := range example.Notes {
		p.printf("%s", note)
	}
	if example.Plan != "" {
		machine := "a machine that has nothing of this"
		if example.Machine != "" {
			machine = example.Machine
		}
		p.printf("A plan on %s:", machine)
		p.console("$ ccm plan site.lua\n" + example.Plan)
	}
	p.printf("## Properties")
	writeFields(&p, t.Schema(), "###", "")
	p.printf("It also has the properties [of every type](../properties.md).")
	s.writeProviders(&p, t)
	if text := s.Modules[t.Name]; text != "" {
		p.printf("The type is written in Lua: [`std.%s`](../../../stdlib/std/%[1]s.lua).", t.Name)
	}
	p.printf("In a terminal: `ccm docs %s`. As flags: `ccm ensure %[1]s --help`.", t.Name)
	return p.String(), nil
}

// about returns what a type is for. The documentation of a type in Go begins with its name.
func about(name, doc string) string {
	return begun(strings.TrimPrefix(doc, begun(name)+" "))
}

// writeProviders says how each provider works.
func (s Source) writeProviders(p *page, t *resource.Type) {
	p.printf("## Providers")
	described := sitereference.Described(s.Registry, t)
	var b strings.Builder
	for _, name := range s.Registry.ProviderNames(t) {
		text := "Uses what `host` offers to types in Lua. It runs nothing but what the property `validate` names."
		if i := slices.IndexFunc(described, func(d sitereference.ProviderText) bool { return d.Name == name }); i >= 0 {
			text = prose(described[i].Text)
		}
		b.WriteString("- `" + name + "`: " + text + "\n")
	}
	p.printf("%s", strings.TrimSpace(b.String()))
	if len(s.Registry.ProviderNames(t)) > 1 {
		p.printf("ccm selects the one that fits the machine. `provider = \"%s\"` forces one.", s.Registry.ProviderNames(t)[0])
	}
}

// writeFields writes a heading for each property, and what it means.
func writeFields(p *page, s *schema.Schema, heading, of string) {
	for i := range s.Fields {
		writeField(p, &s.Fields[i], heading, of)
	}
}

func writeField(p *page, f *schema.Field, heading, of string) {
	p.printf("%s `%s`", heading, of+f.Name)
	traits := []string{typeOf(f)}
	if f.IsName {
		traits = append(traits, "names the resource")
	}
	if f.Required {
		traits = append(traits, "required")
	}
	if f.Default != "" {
		traits = append(traits, "default "+code(f.Default))
	}
	if f.Secret {
		traits = append(traits, "[secret]("+p.root+"secrets.md)")
	}
	for _, alias := range f.Aliases {
		traits = append(traits, "also `"+alias+"`")
	}
	if f.Example != "" {
		traits = append(traits, "such as "+code(f.Example))
	}
	p.printf("%s.", begun(strings.Join(traits, "; ")))
	if rest, ok := strings.CutPrefix(f.Doc, f.Name+" "); ok {
		p.printf("`%s` %s", f.Name, prose(rest))
	} else {
		p.printf("%s", prose(f.Doc))
	}
	for _, obj := range []*schema.Schema{f.Object, f.ElemObject()} {
		if obj != nil {
			writeFields(p, obj, heading+"#", of+f.Name+".")
		}
	}
}

// typeOf says what values a property takes. A text with a syntax of its own is a string, as its
// documentation says.
func typeOf(f *schema.Field) string {
	text := f.Describe()
	if f.Values == nil && strings.HasSuffix(text, "ensure") {
		text = "string"
	}
	for _, listed := range []*schema.Field{f, f.Elem} {
		if listed != nil && listed.Values != nil {
			values := strings.Join(listed.Values, " | ")
			return strings.Replace(text, values, "`"+strings.Join(listed.Values, "`, `")+"`", 1)
		}
	}
	return prose(text)
}
