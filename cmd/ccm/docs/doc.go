package docs

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/reference"
)

// docsFlags are the flags of docs that are about the reference.
type docsFlags struct {
	output      *cli.Choice
	modules     []string
	man, schema string
}

func (f *docsFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(f.output, "output", "output format: text or json")
	cmd.Flags().StringArrayVar(&f.modules, "module", nil, "include types and functions of Lua module `NAME` (repeatable)")
	cmd.Flags().StringVar(&f.man, "man", "", "write manual pages to `DIR`")
	_ = cmd.MarkFlagDirname("man")
}

// DocCommand returns the former command doc, which prints the reference and no pages.
func DocCommand(e *cli.Env) *cobra.Command {
	f := &docsFlags{output: cli.NewChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:  "doc [TYPE[.PROPERTY] | LIBRARY[.FUNCTION]]",
		Args: cli.WantArguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.man != "" {
				return writeMan(e, cmd.Root(), f.man)
			}
			return f.print(cmd.Context(), e, args)
		},
	}
	f.add(cmd)
	return cli.Former(e, cmd, "doc", "ccm docs")
}

// print prints the reference of the name in args, of all types without one.
func (f *docsFlags) print(ctx context.Context, e *cli.Env, args []string) error {
	reg, err := site.Documented()
	if err != nil {
		return err
	}
	var functions []reference.ModuleFunction
	for _, name := range f.modules {
		more, err := site.RequireModule(ctx, e.Process, reg, name)
		if err != nil {
			return err
		}
		functions = append(functions, reference.FunctionsOf(name, more)...)
	}
	asJSON := f.output.Value == "json"
	if len(args) == 0 {
		site.AddShipped(reg)
		return docAll(e, reg, functions, asJSON)
	}
	if reg.Type(args[0]) == nil {
		if ref, ok, err := reference.FindFunctions(functions, args[0]); ok {
			return docReference(e, ref, err, asJSON)
		}
	}
	ref, err := reference.Find(reg, args[0])
	return docReference(e, ref, err, asJSON)
}

func docAll(e *cli.Env, reg *resource.Registry, functions []reference.ModuleFunction, asJSON bool) error {
	if asJSON {
		all := map[string]any{}
		for _, t := range reg.Types() {
			all[t.Name] = t.Properties().JSONSchema()
		}
		return e.Print().JSON(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all})
	}
	reference.WriteTypes(e.Stdout, reg)
	if len(functions) > 0 {
		terminal.Fprintf(e.Stdout, "\n## Functions of modules\n\n")
		reference.WriteFunctions(e.Stdout, functions)
	}
	return nil
}

// docReference prints a reference, or returns err if that is not nil.
func docReference(e *cli.Env, ref reference.Reference, err error, asJSON bool) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return e.Print().JSON(ref.JSON)
	}
	ref.WriteText(e.Stdout)
	return nil
}

// Schemas are the formats of which ccm docs --schema prints a JSON Schema.
var Schemas = []string{"request", "response", "event", "manifest"}

// SchemaCommand returns the former command schema.
func SchemaCommand(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema", Args: cli.WantArguments(1, 1), ValidArgs: Schemas,
		RunE: func(_ *cobra.Command, args []string) error { return printSchema(e, args[0]) },
	}
	return cli.Former(e, cmd, "schema", "ccm docs --schema")
}

// printSchema prints the JSON Schema of a format.
func printSchema(e *cli.Env, name string) error {
	reg, err := site.Documented()
	if err != nil {
		return err
	}
	switch name {
	case "request":
		return e.Print().JSON(manifest.RequestSchema(reg, manifest.RequestProtocol))
	case "response":
		return e.Print().JSON(report.ResponseSchema())
	case "event":
		event := report.EventSchema()
		event["$schema"], event["title"] = report.SchemaDialect, "ccm event"
		return e.Print().JSON(event)
	case "manifest":
		site.AddShipped(reg)
		return e.Print().JSON(manifest.Schema(reg))
	}
	return diag.At(diag.Pos{}, diag.Expected("one of %s", strings.Join(Schemas, ", ")).Got("%s", name)).WithHint("%s", diag.DidYouMean(name, Schemas))
}
