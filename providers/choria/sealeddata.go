package choria

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// dataPath is a path into data as templates write it: .data.db.password, Data.db.
var dataPath = lazyregexp.New(`\b[dD]ata((?:\.\w+)*)`)

// namedData adds the paths into data that the code in a template names. An empty path is all of data: a
// template that has it in a variable or in an index is not looked at more closely.
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

// openData returns a copy of data in which what is encrypted under the paths is decrypted.
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

// openAt decrypts what is at a path, or at the part of it that there is.
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
