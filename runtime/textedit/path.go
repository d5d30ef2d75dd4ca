package textedit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Path is the way to a value: keys of maps, and positions in lists from 0. The position behind the last item is
// for a new item.
type Path []string

// ParsePath parses a path such as log-opts.max-size or servers.0.name. In a key, a backslash escapes a dot or a
// backslash.
func ParsePath(text string) (Path, error) {
	var path Path
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '.' || text[i+1] == '\\'):
			i++
			name.WriteByte(text[i])
		case c == '.':
			path = append(path, name.String())
			name.Reset()
		default:
			name.WriteByte(c)
		}
	}
	path = append(path, name.String())
	if slices.Contains(path, "") {
		return nil, diag.Expected("names separated by dots").Got("%q", text)
	}
	return path, nil
}

// String returns the path in the syntax of ParsePath.
func (p Path) String() string {
	names := make([]string, len(p))
	for i, name := range p {
		names[i] = strings.NewReplacer(`\`, `\\`, ".", `\.`).Replace(name)
	}
	return strings.Join(names, ".")
}

// find returns the value at a path. It is an error if the path leads through a scalar, or to an impossible position
// in a list.
func find(doc any, path Path) (value any, found bool, err error) {
	for i, step := range path {
		switch d := doc.(type) {
		case nil:
			return nil, false, numberIn(path, i)
		case map[string]any:
			v, ok := d[step]
			if !ok {
				return nil, false, numberIn(path, i+1)
			}
			doc = v
		case []any:
			n, ok := position(step, len(d))
			if !ok {
				return nil, false, diag.OfKind(at(path, i), "a list of %d: %w", len(d), diag.Expected("a position from 0 to %d", len(d)).Got("%q", step))
			}
			if n == len(d) {
				return nil, false, numberIn(path, i+1)
			}
			doc = d[n]
		case alias:
			return nil, false, diag.OfKind(at(path, i), "an alias: change the anchored value")
		default:
			return nil, false, diag.OfKind(at(path, i), "a plain value without %q", step)
		}
	}
	return doc, true, nil
}

// numberIn refuses numbers in the part of a path that is created: they could be keys or positions.
func numberIn(path Path, from int) error {
	for i := from; i < len(path); i++ {
		if strings.Trim(path[i], "0123456789") == "" {
			return fmt.Errorf("%s does not exist, and %s may be a name or a position: set %[1]s as a whole", at(path, i), path[i])
		}
	}
	return nil
}

// at returns the first n steps of a path for messages.
func at(path Path, n int) string {
	if n == 0 {
		return "the document"
	}
	return path[:n].String()
}

// put returns a document with a value set at a path, which find has accepted.
func put(doc any, path Path, value any) any {
	if len(path) == 0 {
		return value
	}
	if list, ok := doc.([]any); ok {
		list = slices.Clone(list)
		n, _ := position(path[0], len(list))
		if n == len(list) {
			return append(list, put(nil, path[1:], value))
		}
		list[n] = put(list[n], path[1:], value)
		return list
	}
	m, _ := doc.(map[string]any)
	if m = maps.Clone(m); m == nil {
		m = make(map[string]any)
	}
	m[path[0]] = put(m[path[0]], path[1:], value)
	return m
}

// cut returns a document without the value at a path.
func cut(doc any, path Path) any {
	switch d := doc.(type) {
	case []any:
		d = slices.Clone(d)
		n, _ := position(path[0], len(d))
		if len(path) == 1 {
			return slices.Delete(d, n, n+1)
		}
		d[n] = cut(d[n], path[1:])
		return d
	case map[string]any:
		d = maps.Clone(d)
		if len(path) == 1 {
			delete(d, path[0])
		} else {
			d[path[0]] = cut(d[path[0]], path[1:])
		}
		return d
	}
	return doc
}
