package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// RequestProtocol is the protocol of requests.
const RequestProtocol = "io.choria.ccm.v1.resource.ensure.request"

// A Request asks for one resource to be converged.
type Request struct {
	Type       string
	Properties *schema.Table
	// Sensitive names the properties that are secret.
	Sensitive []string
}

// ReadRequest reads a request in JSON or YAML.
func ReadRequest(text []byte) (Request, error) {
	if trimmed := bytes.TrimSpace(text); bytes.HasPrefix(trimmed, []byte("{")) {
		r, err := ReadJSONRequest(text)
		if _, bad := errors.AsType[*json.SyntaxError](err); !bad {
			return r, err
		}
		// The text may be YAML that begins with a brace.
		if doc, yamlErr := data.Parse("request", string(text)); yamlErr == nil {
			return requestOf(ValueOf(doc.Root))
		}
		return r, err
	}
	doc, err := data.Parse("request", string(text))
	if err != nil {
		return Request{}, err
	}
	return requestOf(ValueOf(doc.Root))
}

// ReadJSONRequest reads a request in JSON.
func ReadJSONRequest(text []byte) (Request, error) {
	tab := new(schema.Table)
	if err := json.Unmarshal(text, tab); err != nil {
		return Request{}, diag.Expected("a request, one JSON object: %w", err)
	}
	return requestOf(schema.MapValue(tab))
}

// requestOf reads the fields of a request.
func requestOf(v schema.Value) (Request, error) {
	var r Request
	if v.Kind != schema.Map {
		return r, diag.Expected("a request, a table with protocol, type and properties")
	}
	var errs diag.List
	fields := []string{"protocol", "type", "properties", "sensitive"}
	given := make(map[string]bool)
	for _, e := range v.Table().Entries {
		if given[e.Key] {
			errs.Add(diag.Duplicate("%s", e.Key))
			continue
		}
		given[e.Key] = true
		switch {
		case e.Key == "protocol" && e.Val.S != RequestProtocol:
			errs.Add(fmt.Errorf("protocol: %w", diag.Expected("%q", RequestProtocol).Got("%s", describeValue(e.Val))))
		case e.Key == "protocol":
		case e.Key == "type" && e.Val.Kind != schema.String:
			errs.Add(fmt.Errorf("type: %w", diag.Expected("the name of a resource type").Got("%s", describeValue(e.Val))))
		case e.Key == "type":
			r.Type = e.Val.S
		case e.Key == "properties" && e.Val.Kind != schema.Map:
			errs.Add(fmt.Errorf("properties: %w", diag.Expected("a table").Got("%s", describeValue(e.Val))))
		case e.Key == "properties":
			r.Properties = e.Val.Table()
		case e.Key == "sensitive":
			r.Sensitive = e.Val.Texts()
			if e.Val.Kind != schema.List || len(r.Sensitive) != len(e.Val.Items()) {
				errs.Add(fmt.Errorf("sensitive: %w", diag.Expected("a list of names of properties").Got("%s", describeValue(e.Val))))
			}
		default:
			err := diag.At(diag.Pos{}, diag.Unknown("field", e.Key, fields))
			if err.Hint == "" {
				err.Hint = "a request has " + strings.Join(fields, ", ")
			}
			errs.Add(err)
		}
	}
	for _, name := range fields[:3] {
		if !given[name] {
			errs.Add(diag.Required(name))
		}
	}
	return r, errs.Err()
}

// describeValue returns a value for a message.
func describeValue(v schema.Value) string {
	text, err := json.Marshal(v.Go())
	if err != nil || len(text) > 60 {
		return "something else"
	}
	return string(text)
}
