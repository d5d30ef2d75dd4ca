// Package lint looks for mistakes in scripts without running them: names that
// are not there, properties that a type does not have, commands that would run
// every time.
//
// Begin with [Linter.Check].
package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/plainsecret"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Linter knows the names that scripts can use.
type Linter struct {
	Registry  *resource.Registry
	Libraries []*std.Library
	Globals   []luaapi.Global
	// ModuleType returns the type that a module returns, nil if it returns something else; without the function no
	// module returns a type.
	ModuleType func(name string) *resource.Type
	// FactFields returns the names below the fact at a path, and false if not all are known; without
	// the function no names are known.
	FactFields func(path []string) ([]string, bool)
	// ReadFile reads the templates whose paths are written down; nil looks at none.
	ReadFile func(path string) ([]byte, error)
}

// A Finding is a mistake and the rule that found it.
type Finding struct {
	// Rule is one of Rules.
	Rule string
	*diag.Error
}

// The rules.
const (
	Syntax          = "syntax"
	UndefinedGlobal = "undefined-global"
	UnknownField    = "unknown-field"
	Property        = "property"
	UnknownType     = "unknown-type"
	Unguarded       = "unguarded"
	Escape          = "escape"
	Unused          = "unused"
	NilProperty     = "nil-property"
	NoRefresh       = "no-refresh"
	Template        = "template"
	PlainSecret     = "plain-secret"
)

// Rules lists the rules.
var Rules = []string{Syntax, UndefinedGlobal, UnknownField, Property, UnknownType, Unguarded, Escape, Unused, NilProperty, NoRefresh, Template, PlainSecret}

// ignoreComment matches the comment that silences a line.
var ignoreComment = lazyregexp.New(`--+\s*ccm:\s*ignore\b(.*)$`)

// Check returns the mistakes of a script, in the order of its text. It leaves out mistakes in a
// line with the comment "-- ccm: ignore"; with names of rules in the comment, only mistakes of
// these rules. Definition files of editors are only checked for their syntax.
func (l *Linter) Check(name, text string) []Finding {
	p, err := syntax.Parse(name, text)
	if err != nil {
		e, ok := errors.AsType[*diag.Error](err)
		if !ok {
			e = &diag.Error{Pos: diag.Pos{File: name}, Err: err}
		}
		return []Finding{{Syntax, e}}
	}
	if strings.HasPrefix(text, "---@meta") {
		return nil // definitions for an editor
	}
	s := newScan(l, p)
	s.script()
	s.escapes()
	s.plainSecrets()
	return s.sorted()
}

// plainSecrets reports likely plain secrets. Specs are exempt because they invent theirs.
func (s *scan) plainSecrets() {
	if s.spec {
		return
	}
	for _, f := range plainsecret.Text(s.p.Name, s.p.Text) {
		pos := diag.Pos{File: f.File, Line: f.Line, Col: f.Column, Len: f.Length}
		s.report(PlainSecret, pos, "encrypt it with ccm secret", "%s", f.Message())
	}
}

// sorted returns the findings in order, without those that are ignored.
func (s *scan) sorted() []Finding {
	lines := strings.Split(s.p.Text, "\n")
	out := slices.DeleteFunc(s.findings, func(f Finding) bool {
		if f.Pos.Line < 1 || f.Pos.Line > len(lines) {
			return false
		}
		m := ignoreComment().FindStringSubmatch(strings.TrimRight(lines[f.Pos.Line-1], "\r"))
		if m == nil {
			return false
		}
		rules := strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == ',' })
		return len(rules) == 0 || slices.Contains(rules, f.Rule)
	})
	slices.SortStableFunc(out, func(a, b Finding) int { return a.Pos.Compare(b.Pos) })
	return slices.CompactFunc(out, func(a, b Finding) bool { return a.Pos == b.Pos && a.Message() == b.Message() })
}

// specWords are the globals of spec files.
var specWords = []string{
	"after_each", "before_each", "catalog", "context", "describe", "insulate", "it", "machine", "pending", "setup", "spy", "stub", "suite", "teardown", "test",
}

// newScan returns the scan of one script.
func newScan(l *Linter, p *syntax.Script) *scan {
	s := &scan{l: l, p: p, fields: make(map[string][]string), assigned: make(map[string]bool), tested: make(map[string]bool)}
	s.spec = strings.HasSuffix(p.Name, "_spec.lua")
	for _, g := range l.Globals {
		s.globals = append(s.globals, g.Name)
		s.fields[g.Name] = g.Fields
	}
	for _, lib := range l.Libraries {
		if lib.Name == "data" {
			continue // the fields depend on the user's configuration
		}
		for i := range lib.Funcs {
			s.fields[lib.Name] = append(s.fields[lib.Name], lib.Funcs[i].Name())
		}
		for _, v := range lib.Values {
			s.fields[lib.Name] = append(s.fields[lib.Name], v.Name)
		}
	}
	for _, g := range facts.Standard() {
		s.facts = append(s.facts, g.Name)
	}
	if s.spec {
		s.globals = append(s.globals, specWords...)
	}
	s.defaults, s.curried = make(map[*resource.Type][]string), make(map[*ast.FuncCallExpr]bool)
	return s
}

// report notes a mistake.
func (s *scan) report(rule string, pos diag.Pos, hint, format string, args ...any) {
	s.findings = append(s.findings, Finding{rule, &diag.Error{Pos: pos, Err: fmt.Errorf(format, args...), Hint: hint}})
}
