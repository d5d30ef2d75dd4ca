package reference

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
)

// schemasPage returns the page about the JSON Schemas.
func (s Source) schemasPage() string {
	p := page{root: "../"}
	p.printf("# JSON Schemas")
	p.console("$ ccm docs --schema event > event.json")
	p.printf("`ccm docs --schema` prints the JSON Schemas (draft 2020-12) of input and output, generated for the types and properties of this version.")
	request := manifest.RequestSchema(s.Registry, manifest.RequestProtocol)
	for _, x := range []struct {
		name, doc string
		schema    map[string]any
	}{
		{"request", "One resource to converge. `ccm ensure api` reads one a line ([ensure.md](../ensure.md#the-json-api)). Its `protocol` is `" + manifest.RequestProtocol + "`.", request},
		{"response", "The answer to a request: `state`, which is an [event](events.md#event), or `error`, a text. Its `protocol` is `" + report.ResponseProtocol + "`.", report.ResponseSchema()},
		{"event", "What became of a resource. Its fields are in [events.md](events.md).", report.EventSchema()},
		{"manifest", "A manifest in YAML ([manifests.md](../manifests.md)). An editor that is given it completes types and properties.", manifest.Schema(s.Registry)},
	} {
		p.printf("## `ccm docs --schema %s`", x.name)
		p.printf("%s", x.doc)
		if names := keysOf(x.schema["properties"]); len(names) > 0 {
			p.printf("Top level: `%s`.", strings.Join(names, "`, `"))
		}
	}
	p.printf("## Properties of types")
	p.printf("`ccm docs TYPE --output json` prints the schema of the properties of one type, `ccm docs --output json` of all types.")
	return p.String()
}

// keysOf returns the names of a map, in order.
func keysOf(m any) (names []string) {
	switch m := m.(type) {
	case map[string]any:
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
