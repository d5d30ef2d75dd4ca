package data

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// An annotation is a line of a comment that belongs to a key and begins with @.
type annotation struct {
	text     string
	nearLine int // a line of the file near text
}

// annotationsOf returns the annotations above a key and next to the key and its value.
func (c *converter) annotationsOf(key, val *yaml.Node) []annotation {
	if key.HeadComment == "" && key.LineComment == "" && val.LineComment == "" {
		return nil
	}
	return slices.Concat(c.annotationsIn(key.HeadComment, key.Line), c.annotationsIn(key.LineComment, key.Line), c.annotationsIn(val.LineComment, val.Line))
}

func (c *converter) annotationsIn(comment string, line int) (out []annotation) {
	if !strings.Contains(comment, "@") {
		return nil
	}
	for text := range strings.Lines(comment) {
		text = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(text), "#"))
		if strings.HasPrefix(text, "@") {
			out = append(out, annotation{text, line})
		}
	}
	return out
}

// pos returns the place of an annotation: the nearest line that contains it.
func (a annotation) pos(s *source) diag.Pos {
	for d := range len(s.lines()) {
		for _, n := range []int{a.nearLine - d, a.nearLine + d} {
			if i := strings.Index(s.line(n), a.text); i >= 0 {
				return diag.Pos{File: s.file, Line: n, Col: i + 1, Len: len(a.text)}
			}
		}
	}
	return diag.Pos{File: s.file, Line: a.nearLine}
}

// A Rule is a condition on a value, from an annotation in the data section.
type Rule struct {
	// Path leads to the value.
	Path []string
	// Required is set if there must be a value, and not the empty text.
	Required bool
	// Validate is an expression that must hold for the value, or "".
	Validate string

	pos diag.Pos // of the annotation
}

// rules returns the rules in the comments of the data section.
func (r *resolver) rules(n *Node) (rules []Rule) {
	if n == nil {
		return nil
	}
	r.rulesBelow(n, nil, &rules)
	return rules
}

func (r *resolver) rulesBelow(n *Node, path []string, rules *[]Rule) {
	for _, e := range n.Entries {
		here := append(slices.Clip(path), e.Key.Text)
		for _, a := range e.Key.annotations() {
			if rule, ok := r.rule(a, e.Key.src); ok {
				rule.Path = here
				*rules = append(*rules, rule)
			}
		}
		if e.Val.Kind == schema.Map {
			r.rulesBelow(e.Val, here, rules)
		}
	}
}

var directives = []string{"@require", "@required", "@validate"}

// rule reads one annotation. A word that is not close to a directive is an ordinary
// comment.
func (r *resolver) rule(a annotation, src *source) (Rule, bool) {
	word, rest, _ := strings.Cut(a.text, " ")
	rest = strings.TrimSpace(rest)
	rule := Rule{pos: a.pos(src)}
	wrong := func(hint, format string, args ...any) (Rule, bool) {
		e := diag.Errorf(rule.pos, format, args...)
		e.Hint = hint
		r.errs = append(r.errs, e)
		return Rule{}, false
	}
	switch word {
	case "@require", "@required":
		if rest != "" {
			return wrong("", "%w", diag.Expected("nothing after %s", word).Got("%q", rest))
		}
		rule.Required = true
	case "@validate":
		if rest == "" {
			return wrong("such as @validate isIPv4(value)", "%w", diag.Expected("an expression after @validate"))
		}
		if _, err := compileRule(rest); err != nil {
			rule.pos.Col += strings.LastIndex(a.text, rest)
			rule.pos.Len = len(rest)
			return wrong(textHint(err), "@validate: %s", err)
		}
		rule.Validate = rest
	default:
		if near := diag.Nearest(word, directives); near != "" {
			return wrong("did you mean "+near+"?", "unknown annotation %s", word)
		}
		return Rule{}, false
	}
	return rule, true
}
