package choria

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// dataPath matches a path into data in a template: .data.db.password, Data.db.
var dataPath = lazyregexp.New(`\b[dD]ata((?:\.\w+)*)`)

// namedData adds the paths into data in the code of a template. An empty path stands for all of
// data: it is used if the template puts data into a variable or an index.
func namedData(paths [][]string, text, left, right string) [][]string {
	for {
		_, rest, found := strings.Cut(text, left)
		if !found {
			return paths
		}
		code, after, _ := strings.Cut(rest, right)
		for _, m := range dataPath().FindAllStringSubmatch(code, -1) {
			var path []string
			if m[1] != "" {
				path = strings.Split(m[1][1:], ".")
			}
			paths = append(paths, path)
		}
		text = after
	}
}

// openData returns a copy of data that is decrypted under the paths.
func (e Env) openData(paths [][]string) (map[string]any, error) {
	tree, _ := copied(e.Data).(map[string]any)
	if e.Open == nil {
		return tree, nil
	}
	slices.SortFunc(paths, slices.Compare[[]string])
	for _, path := range paths {
		if len(path) == 0 {
			open, err := e.Open(tree)
			if err != nil {
				return nil, err
			}
			return open.(map[string]any), nil
		}
		if err := e.openAt(tree, path); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// openAt decrypts the value at a path, or at its existing part.
func (e Env) openAt(tree map[string]any, path []string) error {
	val, ok := tree[path[0]]
	if !ok {
		return nil
	}
	if inner, ok := val.(map[string]any); ok && len(path) > 1 {
		return e.openAt(inner, path[1:])
	}
	open, err := e.Open(val)
	tree[path[0]] = open
	return err
}
