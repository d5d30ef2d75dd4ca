package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// TableOf returns a struct with json tags as plain data, with names in the order
// of the struct.
func TableOf(x any) (*Table, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return nil, err
	}
	tab := new(Table)
	return tab, json.Unmarshal(b.Bytes(), tab)
}

// Tree formats a value for people, as an indented tree with one name a line.
func Tree(v Value) string {
	var b strings.Builder
	writeTree(&b, v, "")
	return b.String()
}

// NamedTree is [Tree] with a name above it, or before a tree of one line.
func NamedTree(name string, v Value) string {
	var b strings.Builder
	writeNamed(&b, name, v, "")
	return b.String()
}

func writeTree(w *strings.Builder, v Value, indent string) {
	switch {
	case v.Kind == Map && len(v.Table().Entries) > 0:
		for _, e := range v.Table().Entries {
			writeNamed(w, e.Key+":", e.Val, indent)
		}
	case v.Kind == List && len(v.Items()) > 0:
		for _, item := range v.Items() {
			writeNamed(w, "-", item, indent)
		}
	default:
		fmt.Fprintln(w, indent+scalar(v))
	}
}

func writeNamed(w *strings.Builder, name string, v Value, indent string) {
	if v.Kind == Map && len(v.Table().Entries) > 0 || v.Kind == List && len(v.Items()) > 0 {
		fmt.Fprintln(w, indent+name)
		writeTree(w, v, indent+"  ")
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

// scalar returns a value that is no tree on one line, or a text of several lines unchanged.
func scalar(v Value) string {
	switch v.Kind {
	case Nil:
		return "null"
	case Map:
		return "{}"
	case List:
		return "[]"
	case Float:
		return strconv.FormatFloat(v.F, 'f', -1, 64)
	}
	return fmt.Sprint(v.Go())
}
