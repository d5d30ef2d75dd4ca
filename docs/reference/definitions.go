package reference

import (
	"os"
	"path/filepath"
	"strings"
)

// A function is one of a definition file of the Lua language server.
type function struct{ Name, Signature, Doc string }

// functionsOf returns the functions of a definition file of the repository, in its order. Its
// comments are written as LuaLS reads them (@param, @return).
func (s Source) functionsOf(file string) (list []function, err error) {
	text, err := os.ReadFile(filepath.Join(s.Repository, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	var doc, params, results []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		comment, isComment := strings.CutPrefix(line, "---")
		tag, rest, _ := strings.Cut(comment, " ")
		switch declared, isFunction := strings.CutPrefix(line, "function "); {
		case isFunction:
			name, _, _ := strings.Cut(declared, "(")
			signature := name + "(" + strings.Join(params, ", ") + ")"
			if len(results) > 0 {
				signature += ": " + strings.Join(results, ", ")
			}
			list = append(list, function{name, signature, strings.Join(doc, " ")})
		case isComment && tag == "@param":
			name, typ, _ := strings.Cut(rest, " ")
			params = append(params, name+": "+firstType(typ))
			continue
		case isComment && tag == "@return":
			results = append(results, firstType(rest))
			continue
		case isComment && !strings.HasPrefix(tag, "@"):
			doc = append(doc, comment)
			continue
		case isComment:
			continue
		}
		doc, params, results = nil, nil, nil
	}
	return list, nil
}

// firstType returns the type that a comment begins with, without the words behind it.
func firstType(text string) string {
	depth := 0
	for i, r := range text {
		switch {
		case strings.ContainsRune("({<", r):
			depth++
		case strings.ContainsRune(")}>", r):
			depth--
		case r == ' ' && depth == 0 && !strings.HasSuffix(text[:i], ":") && !strings.HasSuffix(text[:i], ","):
			return text[:i]
		}
	}
	return text
}
