package template

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// A root is a tree that paths begin with.
type root string

const (
	factsRoot   root = "facts"
	dataRoot    root = "data"
	environRoot root = "env"
)

// roots are the names of the trees, in paths and as variables.
var roots = map[string]root{
	"facts": factsRoot, "Facts": factsRoot,
	"data": dataRoot, "Data": dataRoot,
	"env": environRoot, "environ": environRoot, "Environ": environRoot,
}

// trees are the trees for paths.
type trees struct {
	facts   *facts.Facts
	data    map[string]any
	environ map[string]string
	json    map[string]string // results of asJSON
}

// tree returns a whole tree, with all encrypted texts decrypted.
func (t *trees) tree(r root) (map[string]any, error) {
	tree, err := t.sealedTree(r)
	if err != nil || r != dataRoot {
		return tree, err
	}
	open, err := data.Unseal(tree)
	if err != nil {
		return nil, err
	}
	return open.(map[string]any), nil
}

// isSealed reports whether the data has encrypted texts.
func (t *trees) isSealed() bool { return data.HoldsSealed(t.data) }

// sealedTree returns a whole tree, with encrypted texts unchanged.
func (t *trees) sealedTree(r root) (map[string]any, error) {
	switch r {
	case factsRoot:
		return t.facts.Tree()
	case dataRoot:
		if t.data == nil {
			return map[string]any{}, nil
		}
		return t.data, nil
	}
	env := make(map[string]any, len(t.environ))
	for k, v := range t.environ {
		env[k] = v
	}
	return env, nil
}

// A notFoundError says that there is nothing at a path.
type notFoundError struct {
	problem string // "no fact os.familly"
	part    string
	names   []string
	fact    string // the path of a fact, "" for others
	environ bool   // the name is one of an environment variable
}

func (e *notFoundError) Error() string { return e.problem }

// hint suggests an existing name, or returns "".
func (e *notFoundError) hint() string {
	if e.environ {
		return "use the environment variable: Environ." + e.part
	}
	return cmp.Or(facts.HintElsewhere(e.fact), diag.DidYouMean(e.part, e.names))
}

// IsMissing reports whether an error means that there is nothing at a path, so that a default
// counts.
func IsMissing(err error) bool {
	_, ok := errors.AsType[*notFoundError](err)
	return ok
}

func notFound(r root, path []string, n int, known []string) *notFoundError {
	kind := map[root]string{factsRoot: "fact", dataRoot: "data", environRoot: "environment variable"}[r]
	e := &notFoundError{problem: fmt.Sprintf("no %s %q", kind, strings.Join(path, ".")), part: path[n], names: known}
	if r == factsRoot {
		e.fact = strings.Join(path, ".")
	}
	return e
}

// undefined returns the error that an expression in a template has no value. The text of the expression may be a
// path, such as Data.port.
func (t *trees) undefined(text string) *notFoundError {
	first, part, _ := strings.Cut(text, ".")
	if _, ok := t.environ[part]; ok && roots[first] == dataRoot {
		return &notFoundError{problem: "undefined value " + text, part: part, environ: true}
	}
	return &notFoundError{problem: fmt.Sprintf("undefined value %s: add a default with lookup(path, default), or test it with isset", text)}
}

// get returns the value at a path in a tree. Of the facts it gathers only the branch in the path.
func (t *trees) get(r root, path []string) (any, error) {
	if len(path) == 0 {
		return t.tree(r)
	}
	var val any
	switch r {
	case factsRoot:
		v, err := t.facts.Branch(path[0])
		if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
			return nil, notFound(r, path, 0, nf.Alternatives)
		}
		if err != nil {
			return nil, err
		}
		val = v
	case dataRoot:
		v, ok := t.data[path[0]]
		if !ok {
			err := notFound(r, path, 0, slices.Sorted(maps.Keys(t.data)))
			_, err.environ = t.environ[path[0]]
			return nil, err
		}
		val = v
	default:
		v, ok := t.environ[path[0]]
		if !ok {
			return nil, notFound(r, path, 0, slices.Sorted(maps.Keys(t.environ)))
		}
		val = v
	}
	for i, step := range path[1:] {
		next, known, ok := child(val, step)
		if !ok {
			if r != factsRoot {
				return nil, notFound(r, path, i+1, known)
			}
			return t.partOfText(path, i+1, known)
		}
		val = next
	}
	return data.Unseal(val)
}

// partOfText returns the fact that is a part of a text, if the path treats that text as a table
// whose name at n does not exist: os.release.major is os.release_major.
func (t *trees) partOfText(path []string, n int, known []string) (any, error) {
	val, err := t.facts.At(path)
	if nf, ok := errors.AsType[*facts.NotFoundError](err); ok && nf.Scalar != "" {
		return nil, &notFoundError{problem: nf.Error(), part: nf.Part}
	}
	if err != nil {
		return nil, notFound(factsRoot, path, n, known)
	}
	return val, nil
}

// child returns the value under a name or number of a tree, or else the existing names.
func child(val any, step string) (next any, known []string, ok bool) {
	switch x := val.(type) {
	case map[string]any:
		if next, ok = x[step]; !ok {
			known = slices.Sorted(maps.Keys(x))
		}
	case []any:
		if i, isNumber := index(step); isNumber && i < len(x) {
			next, ok = x[i], true
		}
	}
	return next, known, ok
}

// index reads a position in a list, counted from 0.
func index(s string) (int, bool) {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// fetch returns the value at a path: the name of a tree, and steps.
func (t *trees) fetch(args []any, strict bool) (any, error) {
	path := make([]string, len(args)-1)
	for i, step := range args[1:] {
		switch x := step.(type) {
		case string:
			path[i] = x
		case nil:
			return nil, diag.Expected("a name or a position in [ ]").Got("nothing")
		default:
			v, err := plain(x)
			if err != nil {
				return nil, err
			}
			n, ok := v.(int64)
			if !ok {
				return nil, diag.At(diag.Pos{}, diag.Expected("a name or a position in [ ]").Got("%s", describe(v)))
			}
			path[i] = strconv.FormatInt(n, 10)
		}
	}
	val, err := t.get(roots[args[0].(string)], path)
	if IsMissing(err) && !strict {
		return nil, nil
	}
	return val, err
}
