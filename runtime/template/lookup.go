package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/luaccm/ccm/runtime/diag"
)

// Lookup returns the value at a path of GJSON, such as facts.os.family,
// data.users.0.name or env.HOME. A missing value is an error, unless there is a
// fallback, which replaces null too.
func (e *Env) Lookup(path string, fallback ...any) (any, error) {
	val, err := e.trees.find(path)
	return orFallback(val, err, fallback)
}

// LookupSteps is Lookup for a path in parts, in which a name may hold dots.
func (e *Env) LookupSteps(steps []string, fallback ...any) (any, error) {
	val, err := e.trees.findSteps(steps)
	return orFallback(val, err, fallback)
}

// orFallback returns the found value; for a missing value the fallback, or an error that suggests
// existing values.
func orFallback(val any, err error, fallback []any) (any, error) {
	if isNothing(val, err) && len(fallback) > 0 {
		return fallback[0], nil
	}
	if m, ok := errors.AsType[*notFoundError](err); ok {
		return nil, &diag.Error{Err: m, Hint: m.hint()}
	}
	return val, err
}

// isNothing reports whether a lookup found no value, or null, which Lua too does not tell from no value.
func isNothing(val any, err error) bool { return IsMissing(err) || err == nil && val == nil }

func (t *trees) findSteps(steps []string) (any, error) {
	if len(steps) == 0 {
		return nil, diag.Expected("a path that begins with facts, data or env").Got("an empty list")
	}
	r := roots[steps[0]]
	if r == "" {
		return nil, &notFoundError{problem: diag.Expected("a path that begins with facts, data or env").Got("%q", steps[0]).Error(), part: steps[0], names: []string{"facts", "data", "env"}}
	}
	return t.get(r, steps[1:])
}

// dottedName reports a path with a name that has dots, which GJSON takes for separators.
func (t *trees) dottedName(r root, first string, steps []string) error {
	var val any
	var err error
	for i := range steps {
		if i > 0 {
			if val, err = t.get(r, steps[:i]); err != nil {
				return nil
			}
		} else if r == factsRoot {
			continue // to see all names would be to gather all facts
		} else if val, err = t.sealedTree(r); err != nil {
			return nil
		}
		table, ok := val.(map[string]any)
		if !ok {
			return nil
		}
		for n := len(steps); n > i+1; n-- {
			name := strings.Join(steps[i:n], ".")
			if _, ok := table[name]; !ok {
				continue
			}
			parts := append(append([]string{first}, steps[:i]...), name)
			parts = append(parts, steps[n:]...)
			return &diag.Error{Err: diag.None("value at %q: dots separate the name %q", strings.Join(append([]string{first}, steps...), "."), name), Hint: "pass the path as a list: " + listOf(parts)}
		}
	}
	return nil
}

// listOf writes the items of a list of strings.
func listOf(parts []string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = strconv.Quote(p)
	}
	return strings.Join(quoted, ", ")
}

// pathParts reads the list form of a path.
func pathParts(v any) ([]string, bool) {
	list, err := plain(v)
	items, ok := list.([]any)
	if err != nil || !ok {
		return nil, false
	}
	out := make([]string, len(items))
	for i, item := range items {
		s, err := inText(item)
		if err != nil {
			return nil, false
		}
		out[i] = s
	}
	return out, true
}

// lookup is the function of expressions.
func (t *trees) lookup(args ...any) (any, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, fmt.Errorf("lookup: %w", diag.Expected("a path and an optional default").Got("%d values", len(args)))
	}
	var val any
	var err error
	if path, ok := args[0].(string); ok {
		val, err = t.find(path)
	} else if parts, ok := pathParts(args[0]); ok {
		val, err = t.findSteps(parts)
	} else {
		return nil, fmt.Errorf("lookup: %w", diag.Expected("a path").Got("%s", describe(args[0])))
	}
	if isNothing(val, err) && len(args) == 2 {
		return args[1], nil
	}
	return val, err
}

func (t *trees) find(path string) (any, error) {
	first, rest, _ := strings.Cut(path, ".")
	r := roots[first]
	if r == "" && !isSimple(first) {
		return t.query(path) // a path that begins with a modifier or a list of paths
	}
	if r == "" {
		return nil, &notFoundError{problem: diag.Expected("a path that begins with facts, data or env").Got("%q", path).Error(), part: first, names: []string{"facts", "data", "env"}}
	}
	if rest == "" {
		return t.tree(r)
	}
	if !isSimple(rest) {
		return t.query(path)
	}
	val, err := t.get(r, strings.Split(rest, "."))
	if IsMissing(err) {
		if dotted := t.dottedName(r, first, strings.Split(rest, ".")); dotted != nil {
			return nil, dotted
		}
	}
	return val, err
}

// isSimple reports whether a path has no character that GJSON gives a meaning.
func isSimple(path string) bool {
	return !strings.ContainsAny(path, `*?|#@!\{}[]()<>=%:"'~,`) && !strings.HasPrefix(path, ".") && !strings.HasSuffix(path, ".") && !strings.Contains(path, "..")
}

// query asks GJSON. If the path names a branch of the facts, only that branch is gathered.
func (t *trees) query(path string) (any, error) {
	first, rest, _ := strings.Cut(path, ".")
	r, key := roots[first], ""
	if r == factsRoot {
		branch := rest
		if i := strings.IndexAny(rest, ".|"); i >= 0 {
			branch = rest[:i]
		}
		if isSimple(branch) {
			key = branch
		}
	}
	text, err := t.asJSON(r, first, key)
	if err != nil {
		return nil, err
	}
	res := gjson.Get(text, path)
	if !res.Exists() {
		return nil, &notFoundError{problem: fmt.Sprintf("no value at %q", path)}
	}
	return fromJSON(res), nil
}

// asJSON returns a tree as JSON under its name: of the facts only one branch, unless key is "";
// without a root, all trees.
func (t *trees) asJSON(r root, name, key string) (string, error) {
	id := name + "." + key
	if text, ok := t.json[id]; ok {
		return text, nil
	}
	doc := make(map[string]any)
	for _, n := range []string{"facts", "data", "env"} {
		if r != "" && roots[n] != r {
			continue
		}
		if r != "" {
			n = name
		}
		if key != "" {
			val, err := t.get(r, []string{key})
			if err != nil {
				return "", err
			}
			doc[n] = map[string]any{key: val}
			continue
		}
		tree, err := t.tree(roots[n])
		if err != nil {
			return "", err
		}
		doc[n] = tree
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return "", err
	}
	if t.json == nil {
		t.json = make(map[string]string)
	}
	t.json[id] = string(text)
	return string(text), nil
}

func fromJSON(res gjson.Result) any {
	switch {
	case res.IsArray():
		list := []any{}
		res.ForEach(func(_, v gjson.Result) bool {
			list = append(list, fromJSON(v))
			return true
		})
		return list
	case res.IsObject():
		m := make(map[string]any)
		res.ForEach(func(k, v gjson.Result) bool {
			m[k.String()] = fromJSON(v)
			return true
		})
		return m
	case res.Type == gjson.Number:
		if i, err := strconv.ParseInt(res.Raw, 10, 64); err == nil {
			return i
		}
		if f := res.Float(); f == float64(int64(f)) && !strings.ContainsAny(res.Raw, ".eE") {
			return int64(f)
		}
		return res.Float()
	}
	return res.Value()
}
