// Package inspect has commands that print the declarations of a site and the facts of a machine,
// and change nothing.
package inspect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/graph"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/secret"
)

const catalogProtocol = "io.choria.ccm.v1.catalog"

// CatalogCommand returns the command catalog.
func CatalogCommand(e *cli.Env) *cobra.Command {
	f := &cli.SiteFlags{}
	output, stack := cli.NewChoice("json", "json", "yaml", "dot", "mermaid", "svg"), uint(graph.DefaultStack)
	cmd := &cobra.Command{
		Use:   "catalog FILE [ARG...]",
		Short: "Print or draw the catalog of a script or manifest on this machine",
		Long: `Print the catalog of a script or manifest on this machine: its resources in order,
with all properties. Or draw it as a graph. Read-only.

  ccm catalog site.lua --output yaml
  ccm catalog site.lua --output svg > site.svg
  ccm catalog site.lua --output dot | dot -Tpng > site.png

Secrets are masked. The same script on the same machine prints the same text.
With --output json, errors are also printed to standard output, one object per line.

In a graph, an arrow leads from a resource to those that come after it. It is dashed if
a change of the first refreshes the second. Resources without arrows are applied in the
order of the script. In SVG, resources of one type with the same neighbors are drawn as
a stack, and an arrow that a longer path implies is omitted.`,
		Args: cli.NeedFile, ValidArgsFunction: cli.CompleteFile(),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			leave, err := f.Enter(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer leave(&err)
			s, err := e.Load(cmd.Context(), args[0], args[1:], f.SiteOptions())
			if err != nil {
				return err
			}
			drawing := ""
			switch output.Value {
			case "json":
				return printCatalog(e, s.Catalog)
			case "dot":
				drawing = report.Dot(s.Catalog)
			case "mermaid":
				drawing = report.Mermaid(s.Catalog)
			case "svg":
				drawing = report.SVG(s.Catalog, int(stack))
			}
			if drawing != "" {
				_, err = io.WriteString(e.Print().Data(), drawing)
				return err
			}
			return e.Print().Value(schema.MapValue(CatalogTable(s.Catalog)), output.Value)
		},
	}
	cmd.Annotations = map[string]string{cli.TellsEvents: "yes"}
	f.Add(cmd.Flags())
	cli.AddBundleFlags(cmd.Flags(), &f.Bundle)
	cmd.Flags().Var(output, "output", "output format: json, yaml, dot, mermaid or svg")
	cmd.Flags().UintVar(&stack, "stack", stack, "in SVG, stack `N` or more similar resources (0 never stacks)")
	cli.AddUnsavedFlag(cmd)
	return cmd
}

// CatalogTable returns a catalog as plain data.
func CatalogTable(c *catalog.Catalog) *schema.Table {
	items := make([]schema.Value, len(c.Resources))
	for i, r := range c.Resources {
		items[i] = schema.MapValue(resourceTable(c, i, r))
	}
	return &schema.Table{Entries: []schema.Entry{
		{Key: "protocol", Val: schema.StringValue(catalogProtocol)},
		{Key: "resources", Val: schema.ListValue(items...)},
	}}
}

// printCatalog prints a catalog as JSON on several lines, one resource after the other: the whole
// catalog at once would take several times the memory of the files.
func printCatalog(e *cli.Env, c *catalog.Catalog) error {
	out := bufio.NewWriterSize(secret.Underneath(e.Stdout), 64<<10)
	_, _ = out.WriteString("{\n  \"protocol\": \"" + catalogProtocol + "\",\n  \"resources\": [") // a failed write is reported by Flush
	enc := json.NewEncoder(newlineTrimmer{secret.DocumentsTo(e.Stdout, out)})
	enc.SetEscapeHTML(false)
	enc.SetIndent("    ", "  ")
	separator, end := "\n    ", "]\n}\n"
	for i, r := range c.Resources {
		_, _ = out.WriteString(separator)
		if err := enc.Encode(resourceTable(c, i, r)); err != nil {
			return err
		}
		separator, end = ",\n    ", "\n  ]\n}\n"
	}
	_, _ = out.WriteString(end)
	return out.Flush()
}

// A newlineTrimmer leaves out the newline at the end of each write.
type newlineTrimmer struct{ io.Writer }

// Write implements io.Writer.
func (w newlineTrimmer) Write(doc []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.TrimSuffix(doc, []byte("\n"))); err != nil {
		return 0, err
	}
	return len(doc), nil
}

func resourceTable(c *catalog.Catalog, i int, r *resource.Resource) *schema.Table {
	tab := &schema.Table{Entries: []schema.Entry{
		{Key: "type", Val: schema.StringValue(r.ID.Type)},
		{Key: "name", Val: schema.StringValue(r.ID.Name)},
		{Key: "position", Val: schema.StringValue(r.Pos.String())},
	}}
	add := func(key string, v schema.Value) { tab.Entries = append(tab.Entries, schema.Entry{Key: key, Val: v}) }
	if r.Skip != "" {
		add("skip", schema.StringValue(r.Skip))
		return tab
	}
	all := r.Type.Properties().Conceal(r.Properties())
	own := new(schema.Table)
	for _, e := range all.Entries {
		if f := r.Type.Schema().Field(e.Key); f == nil || !f.IsName {
			own.Entries = append(own.Entries, e)
		}
	}
	add("properties", schema.MapValue(own))
	if deps := c.Deps[i]; len(deps) > 0 {
		after := make([]schema.Value, len(deps))
		for k, d := range deps {
			after[k] = schema.StringValue(c.Resources[d.Index].ID.String())
		}
		add("after", schema.ListValue(after...))
	}
	return tab
}
