package report

// ResponseProtocol is the protocol of responses.
const ResponseProtocol = "io.choria.ccm.v1.resource.ensure.response"

// A Response is the answer to a request: the event of the resource, or the reason why nothing was
// done.
type Response struct {
	Protocol string `json:"protocol"`
	State    *Event `json:"state,omitempty"`
	Error    string `json:"error,omitempty"`
}

// SchemaDialect is the dialect of the JSON Schemas.
const SchemaDialect = "https://json-schema.org/draft/2020-12/schema"

// ResponseSchema returns the JSON Schema of a response: a state or an error, not both.
func ResponseSchema() map[string]any {
	return map[string]any{
		"$schema": SchemaDialect, "title": "ccm response", "type": "object",
		"description": "The response to a request: the state of the resource, or an error.",
		"properties": map[string]any{
			"protocol": map[string]any{"const": ResponseProtocol},
			"state":    map[string]any{"$ref": "#/$defs/event"},
			"error":    map[string]any{"type": "string", "minLength": 1},
		},
		"required": []any{"protocol"}, "additionalProperties": false,
		"oneOf": []any{map[string]any{"required": []any{"state"}}, map[string]any{"required": []any{"error"}}},
		"$defs": map[string]any{"event": EventSchema()},
	}
}
