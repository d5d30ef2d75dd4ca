package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/site"
)

func newSchemaCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema request|response|event|manifest",
		Short: "Print JSON Schemas of requests, responses, events and manifests",
		Long: `Print a JSON Schema (draft 2020-12). Read-only.

  ccm schema manifest > manifest.schema.json

  request    input of "ccm ensure api pipe"
  response   output of "ccm ensure api pipe"
  event      output of "ccm run --output json" for a resource
  manifest   a YAML manifest, for editors

The schemas are generated from the declarations of the resource types.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(schemas, args[0]) {
				return nil
			}
			err := diag.At(diag.Pos{}, diag.Expected("one of %s", strings.Join(schemas, ", ")).Got("%s", cmp.Or(strings.Join(args, " "), "nothing")))
			if len(args) > 0 {
				err.Hint = diag.DidYouMean(args[0], schemas)
			}
			return err
		},
		ValidArgs: schemas,
		RunE: func(_ *cobra.Command, args []string) error {
			reg, err := site.Documented()
			if err != nil {
				return err
			}
			switch args[0] {
			case "request":
				return e.Print().JSON(manifest.RequestSchema(reg, manifest.RequestProtocol))
			case "response":
				return e.Print().JSON(report.ResponseSchema())
			case "event":
				event := report.EventSchema()
				event["$schema"], event["title"] = report.SchemaDialect, "ccm event"
				return e.Print().JSON(event)
			}
			site.AddShipped(reg)
			return e.Print().JSON(manifest.Schema(reg))
		},
	}
}

var schemas = []string{"request", "response", "event", "manifest"}
