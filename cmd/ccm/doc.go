package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
)

func (e *env) docCommand() *cobra.Command {
	output := newChoice("text", "text", "json")
	man := ""
	var modules []string
	cmd := &cobra.Command{
		Use:   "doc [TYPE[.PROPERTY] | LIBRARY[.FUNCTION]]",
		Short: "Print the reference of the resource types and of the library of scripts",
		Long: `Print the reference of one type, of one property, or of all types. It is
written from the same declarations that decode scripts and manifests. The
libraries that scripts have, and their functions, are documented too: ccm doc
str, ccm doc str.split. Types that modules of a site define are documented with
--module: ccm doc --module nginx vhost.
With --output json it is a JSON Schema (draft 2020-12).

With --man DIR it writes a manual page for every command to a directory, as
"man -l DIR/ccm-run.1" reads them.`,
		Args: wantArguments(0, 1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(typeCompletions(func(*resource.Type) bool { return true }), libraryNames()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if man != "" {
				return e.writeMan(cmd.Root(), man)
			}
			reg, err := documented()
			if err != nil {
				return err
			}
			for _, name := range modules {
				if err := e.requireModule(cmd.Context(), reg, name); err != nil {
					return err
				}
			}
			if len(args) == 0 {
				addShipped(reg)
				return e.docAll(reg, output.value == "json")
			}
			return e.docOne(reg, args[0], output.value == "json")
		},
	}
	cmd.Flags().Var(output, "output", "form of the output: text or json")
	cmd.Flags().StringArrayVar(&modules, "module", nil, "also the types that the Lua module `NAME` defines (repeatable)")
	cmd.Flags().StringVar(&man, "man", "", "write manual pages to `DIR`")
	_ = cmd.MarkFlagDirname("man")
	return cmd
}

// documented returns the registry with the documentation of its schemas filled
// in from the source of their declarations.
func documented() (*resource.Registry, error) {
	reg, err := registry(&surroundings{})
	if err != nil {
		return nil, err
	}
	var own []*schema.Schema
	for _, t := range reg.Types() {
		own = append(own, t.Schema())
	}
	if err := schema.Document(resources.Source, own...); err != nil {
		return nil, err
	}
	return reg, schema.Document(resource.Source, resource.CommonSchema())
}

func (e *env) docAll(reg *resource.Registry, asJSON bool) error {
	if asJSON {
		all := map[string]any{}
		for _, t := range reg.Types() {
			all[t.Name] = t.Properties().JSONSchema()
		}
		return e.printJSON(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all})
	}
	for i, t := range reg.Types() {
		if i > 0 {
			terminal.Fprintf(e.stdout, "\n")
		}
		writeType(e.stdout, reg, t)
	}
	terminal.Fprintf(e.stdout, "\n## Properties of every type\n\n%s\n\n", terminal.LinesText(wrapText(resource.CommonSchema().Doc, "")))
	writeFields(e.stdout, resource.CommonSchema())
	return nil
}

func (e *env) docOne(reg *resource.Registry, arg string, asJSON bool) error {
	// A type is also found by the name of its module.
	name, property, hasProperty := strings.Cut(strings.TrimPrefix(arg, "std."), ".")
	t := reg.Type(name)
	if t == nil {
		return e.docLibrary(reg, arg, asJSON)
	}
	if !hasProperty {
		if asJSON {
			return e.printJSON(t.Properties().JSONSchema())
		}
		writeType(e.stdout, reg, t)
		return nil
	}
	for _, s := range t.Properties() {
		if f := s.Field(property); f != nil {
			if asJSON {
				return e.printJSON(f.JSONSchema())
			}
			writeField(e.stdout, f)
			return nil
		}
	}
	err := diag.Errorf(diag.Pos{}, "a %s has no property %q", name, property)
	err.Hint = diag.DidYouMean(property, t.Properties().Names())
	return err
}

// unknownType is the error about a type that is not there.
func unknownType(reg *resource.Registry, name string) error {
	addShipped(reg)
	err := diag.Errorf(diag.Pos{}, "no resource type %q", name)
	if err.Hint = diag.DidYouMean(name, reg.TypeNames()); err.Hint == "" {
		err.Hint = "types: " + strings.Join(reg.TypeNames(), ", ")
	}
	return err
}

func (e *env) printJSON(v any) error {
	enc := encoder(e.stdout, nil)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func writeType(w io.Writer, reg *resource.Registry, t *resource.Type) {
	terminal.Fprintf(w, "## %s\n\n%s\n\nProviders: %s\n\n", t.Name, terminal.LinesText(wrapText(t.Schema().Doc, "")), strings.Join(reg.Providers(t), ", "))
	writeFields(w, t.Schema())
}

func writeFields(w io.Writer, s *schema.Schema) {
	for i := range s.Fields {
		writeField(w, &s.Fields[i])
	}
}

// writeField prints one property: its name, its kind and traits, its doc.
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
	terminal.Fprintf(w, "- `%s` (%s)\n%s\n", f.Name, strings.Join(traits, "; "), terminal.LinesText(wrapText(f.Doc, "  ")))
	for _, obj := range []*schema.Schema{f.Object, f.ElemObject()} {
		if obj == nil {
			continue
		}
		for i := range obj.Fields {
			g := &obj.Fields[i]
			terminal.Fprintf(w, "  - `%s.%s` (%s)\n%s\n", f.Name, g.Name, g.Describe(), terminal.LinesText(wrapText(g.Doc, "    ")))
		}
	}
}

// wrapText breaks text into lines of at most 80 columns.
func wrapText(text, indent string) string {
	var b strings.Builder
	col := 0
	for _, word := range strings.Fields(text) {
		switch {
		case col == 0:
			b.WriteString(indent)
			col = len(indent)
		case col+1+len(word) > 80:
			b.WriteString("\n" + indent)
			col = len(indent)
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += len(word)
	}
	return b.String()
}
