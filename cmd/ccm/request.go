package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/schema"
)

// A request asks for one resource to be brought in order.
type request struct {
	typ        string
	properties *schema.Table
}

// single returns what a request asks for.
func (r request) single(s *single) (manifest.Single, error) {
	reg, err := registry(&surroundings{facts: s.facts, data: s.data, clock: s.env.clock})
	if err != nil {
		return manifest.Single{}, err
	}
	t := reg.Type(r.typ)
	if t == nil {
		return manifest.Single{}, unknownType(reg, r.typ)
	}
	what, err := manifest.ParseRequest(t, r.properties)
	what.Pos = diag.Pos{File: "request"}
	return what, err
}

// readRequest reads a request in JSON or YAML.
func readRequest(text []byte) (request, error) {
	if trimmed := bytes.TrimSpace(text); bytes.HasPrefix(trimmed, []byte("{")) {
		r, err := readJSON(text)
		if _, bad := errors.AsType[*json.SyntaxError](err); !bad {
			return r, err
		}
		// It may still be YAML that begins with a brace.
		if doc, yamlErr := data.Parse("request", string(text)); yamlErr == nil {
			return requestOf(manifest.ValueOf(doc.Root))
		}
		return r, err
	}
	doc, err := data.Parse("request", string(text))
	if err != nil {
		return request{}, err
	}
	return requestOf(manifest.ValueOf(doc.Root))
}

// readJSON reads a request in JSON.
func readJSON(text []byte) (request, error) {
	tab := new(schema.Table)
	if err := json.Unmarshal(text, tab); err != nil {
		return request{}, fmt.Errorf("want a request, one JSON object: %w", err)
	}
	return requestOf(schema.MapValue(tab))
}

// requestOf reads the fields of a request.
func requestOf(v schema.Value) (request, error) {
	var r request
	if v.Kind != schema.Map {
		return r, errors.New("want a request, a table with protocol, type and properties")
	}
	var errs diag.List
	fields := []string{"protocol", "type", "properties"}
	given := make(map[string]bool)
	for _, e := range v.Table().Entries {
		if given[e.Key] {
			errs.Add(fmt.Errorf("%s is given twice", e.Key))
			continue
		}
		given[e.Key] = true
		switch {
		case e.Key == "protocol" && e.Val.S != requestProtocol:
			errs.Add(fmt.Errorf("protocol: want %q, got %s", requestProtocol, plainly(e.Val)))
		case e.Key == "protocol":
		case e.Key == "type" && e.Val.Kind != schema.String:
			errs.Add(fmt.Errorf("type: want the name of a resource type, got %s", plainly(e.Val)))
		case e.Key == "type":
			r.typ = e.Val.S
		case e.Key == "properties" && e.Val.Kind != schema.Map:
			errs.Add(fmt.Errorf("properties: want a table, got %s", plainly(e.Val)))
		case e.Key == "properties":
			r.properties = e.Val.Table()
		default:
			errs.Add(diag.Errorf(diag.Pos{}, "unknown field %q", e.Key).WithHint("%s", orElse(diag.DidYouMean(e.Key, fields), "a request has "+strings.Join(fields, ", "))))
		}
	}
	for _, name := range fields {
		if !given[name] {
			errs.Add(fmt.Errorf("%s is required", name))
		}
	}
	return r, errs.Err()
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// plainly returns a value for a message.
func plainly(v schema.Value) string {
	text, err := json.Marshal(v.Go())
	if err != nil || len(text) > 60 {
		return "something else"
	}
	return string(text)
}
