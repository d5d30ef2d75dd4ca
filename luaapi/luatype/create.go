package luatype

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// A type that edits can have a property create of type any. It says that a missing file
// is made, with which owner, group and mode:
//
//	create = true
//	create = { owner = "root", group = "root", mode = "0644" }
//
// What is left out is the user and group of this process, and mode 0644. A file that is
// there keeps its own.

// A newFile is a file that an edit makes.
type newFile struct {
	attr safepath.Attr
	text string // attr for a report
}

// makesFiles reports whether the type has the property create.
func (d *definition) makesFiles() bool {
	f := d.schema.Field("create")
	return f != nil && f.Kind == schema.Any
}

// creation returns the attributes that create gives to a file. Wanted is false if create is false
// or left out.
func (d *definition) creation(want *resource.Properties) (given map[string]string, wanted bool, err error) {
	if !d.makesFiles() {
		return nil, false, nil
	}
	var v any
	for _, e := range want.Table().Entries {
		if e.Key == "create" {
			v = e.Val.Go()
		}
	}
	switch v := v.(type) {
	case nil:
		return nil, false, nil
	case bool:
		return nil, v, nil
	case []any:
		if len(v) == 0 {
			return nil, true, nil
		}
	case map[string]any:
		given = make(map[string]string)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s, ok := v[name].(string)
			if id, is := v[name].(int64); is && name != "mode" {
				s, ok = strconv.FormatInt(id, 10), true
			}
			switch {
			case !slices.Contains(attributes, name):
				return nil, false, resource.PropertyErrorf("create", "%w", diag.Unknown("field", name, attributes))
			case !ok || s == "":
				return nil, false, resource.PropertyErrorf("create", "%s: %w", name, diag.Expected("a string").Got("%s", shown(v[name])))
			}
			given[name] = s
		}
		if err := new(Mode).UnmarshalText([]byte(given["mode"])); given["mode"] != "" && err != nil {
			return nil, false, resource.PropertyErrorf("create", "mode: %w", err)
		}
		return given, true, nil
	}
	return nil, false, resource.PropertyErrorf("create", "%w", diag.Expected(`true or a table such as { owner = "root", group = "root", mode = "0644" }`).Got("%s", shown(v)))
}

// shown returns a value for a message, a text in quotes.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return text(v)
}

// fileToMake returns the owner, group and mode of the file that is made because nothing stands
// at the path.
func (d *definition) fileToMake(v *host.View, want *resource.Properties, path string) (*newFile, error) {
	given, wanted, err := d.creation(want)
	if err != nil {
		return nil, err
	}
	if !wanted {
		e := &diag.Error{Err: diag.Expected("a file to edit at %s", path).Found("nothing")}
		if d.makesFiles() {
			return nil, e.WithHint(`create it with create = { owner = ..., group = ..., mode = ... }`)
		}
		return nil, e.WithHint("create an empty file with file { %q, owner = ..., group = ..., mode = ... }", path)
	}
	if err := v.CheckParent(path); err != nil {
		return nil, err
	}
	attr := host.NewAttr(v, path, safepath.Regular)
	if owner := given["owner"]; owner != "" {
		if attr.UID, err = v.UserID(owner); err != nil {
			return nil, err
		}
	}
	if group := given["group"]; group != "" {
		if attr.GID, err = v.GroupID(group); err != nil {
			return nil, err
		}
	}
	if mode := given["mode"]; mode != "" {
		var m Mode
		if err := m.UnmarshalText([]byte(mode)); err != nil {
			return nil, fmt.Errorf("create: mode: %w", err)
		}
		attr.Mode = uint32(m)
	}
	return &newFile{attr, fmt.Sprintf("owner %s, group %s, mode %s", v.UserName(attr.UID), v.GroupName(attr.GID), Mode(attr.Mode))}, nil
}

// addTo says in a decision that the file is made.
func (f *newFile) addTo(dec *resource.Decision) {
	dec.Add("create", "", f.text)
	for i := range dec.Actions {
		dec.Actions[i].Phrase = "created the file and " + dec.Actions[i].Phrase
	}
}
