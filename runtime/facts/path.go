package facts

import "strings"

var escapeName = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

// splitPath returns the names in a dotted path. A backslash takes its meaning
// from the dot or the backslash after it.
func splitPath(path string) []string {
	var names []string
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path) && (path[i+1] == '.' || path[i+1] == '\\'):
			i++
			name.WriteByte(path[i])
		case c == '.':
			names = append(names, name.String())
			name.Reset()
		default:
			name.WriteByte(c)
		}
	}
	return append(names, name.String())
}

// joinPath returns the path of the fact called name below path.
func joinPath(path, name string) string {
	name = escapeName.Replace(name)
	if path == "" {
		return name
	}
	return path + "." + name
}
