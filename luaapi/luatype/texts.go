package luatype

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// hasTexts reports whether checkTexts has anything to look at.
func (d *definition) hasTexts() bool {
	for _, f := range d.fields {
		if f.oneLine || f.nonEmpty != "" {
			return true
		}
	}
	return false
}

// checkTexts reports a text with a line break or a NUL byte in a property that is said to be one
// line, and an empty text of a kind that has none. In a file of lines a break would begin another
// one, and programs in C read no further than a NUL.
func (d *definition) checkTexts(want *resource.Properties) error {
	for i := range d.schema.Fields {
		name := d.schema.Fields[i].Name
		f := d.fields[name]
		if !f.oneLine && f.nonEmpty == "" {
			continue
		}
		v, given := want.Value(name)
		text, found := breaksLine(v)
		switch {
		case !given:
		case found && f.oneLine:
			return resource.PropertyErrorf(name, "%w", diag.Expected("one line").Got("%q", text))
		case f.nonEmpty != "" && isEmpty(v):
			return resource.PropertyErrorf(name, "%w", diag.Expected("%s", f.nonEmpty).Got("an empty string"))
		case f.relative && strings.ContainsRune(v.S, 0): // others are refused by Path
			return resource.PropertyErrorf(name, "%w", diag.Expected("a path without NUL bytes").Got("%q", v.S))
		}
	}
	return nil
}

// isEmpty reports whether v is an empty text, or a list with one.
func isEmpty(v schema.Value) bool {
	return v.Kind == schema.String && v.S == "" || slices.ContainsFunc(v.Items(), isEmpty)
}

// breaksLine returns a text in v that is more than a line.
func breaksLine(v schema.Value) (text string, found bool) {
	for _, item := range v.Items() {
		if text, found = breaksLine(item); found {
			return text, true
		}
	}
	if t := v.Table(); t != nil {
		for _, e := range t.Entries {
			if strings.ContainsAny(e.Key, lineBreaks) {
				return e.Key, true
			}
			if text, found = breaksLine(e.Val); found {
				return text, true
			}
		}
	}
	return v.S, strings.ContainsAny(v.S, lineBreaks)
}

const lineBreaks = "\r\n\x00"
