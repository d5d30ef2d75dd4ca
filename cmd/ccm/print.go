package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/schema"
)

// printData prints plain data as text, JSON or YAML, with names in order.
func (e *env) printData(val any, form string) error {
	if form == "json" {
		return e.printJSON(val)
	}
	return e.printValue(schema.ValueOf(val), form)
}

// tableOf returns a struct with json tags as plain data, with names in the order
// of the struct.
func tableOf(x any) (*schema.Table, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return nil, err
	}
	tab := new(schema.Table)
	return tab, json.Unmarshal(b.Bytes(), tab)
}

// printYAML prints a struct with json tags as YAML.
func (e *env) printYAML(x any) error {
	tab, err := tableOf(x)
	if err != nil {
		return err
	}
	return e.printValue(schema.MapValue(tab), "yaml")
}

// printValue prints a value as text or YAML.
func (e *env) printValue(v schema.Value, form string) error {
	if form == "yaml" {
		text, err := data.EncodeValue(v)
		if err != nil {
			return err
		}
		_, err = io.WriteString(e.data(), text)
		return err
	}
	writeValue(e.data(), v, "")
	return nil
}

// writeValue prints a value for people, as an indented tree with one name a line.
func writeValue(w io.Writer, v schema.Value, indent string) {
	switch {
	case v.Kind == schema.Map && len(v.Table().Entries) > 0:
		for _, e := range v.Table().Entries {
			writeNamed(w, e.Key+":", e.Val, indent)
		}
	case v.Kind == schema.List && len(v.Items()) > 0:
		for _, item := range v.Items() {
			writeNamed(w, "-", item, indent)
		}
	default:
		fmt.Fprintln(w, indent+scalar(v))
	}
}

func writeNamed(w io.Writer, name string, v schema.Value, indent string) {
	if v.Kind == schema.Map && len(v.Table().Entries) > 0 || v.Kind == schema.List && len(v.Items()) > 0 {
		fmt.Fprintln(w, indent+name)
		writeValue(w, v, indent+"  ")
		return
	}
	text := strings.TrimSuffix(scalar(v), "\n")
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(w, "%s%s %s\n", indent, name, text)
		return
	}
	fmt.Fprintln(w, indent+name)
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(w, strings.TrimRight(indent+"  "+line, " "))
	}
}

// scalar returns what is no tree on one line, or a text of several lines as it is.
func scalar(v schema.Value) string {
	switch v.Kind {
	case schema.Nil:
		return "null"
	case schema.Map:
		return "{}"
	case schema.List:
		return "[]"
	case schema.Float:
		return strconv.FormatFloat(v.F, 'f', -1, 64)
	}
	return fmt.Sprint(v.Go())
}
