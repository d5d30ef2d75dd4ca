package data

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// Check checks the rules against the data, into which more data may have been merged. It returns
// every breach at the place of its rule.
func (r Resolution) Check() error {
	var errs diag.List
	missing := make(map[string]bool)
	for _, required := range []bool{true, false} {
		for _, rule := range r.Rules {
			if rule.Required != required {
				continue
			}
			key := strings.Join(rule.Path, ".")
			val := valueAt(r.Data, rule.Path)
			switch {
			case required && (val == nil || val == ""):
				missing[key] = true
				errs.Add(diag.At(rule.pos, diag.Required(fmt.Sprintf("data.%s", key))))
			case !required && !missing[key]:
				errs.Add(rule.check(key, val))
			}
		}
	}
	return errs.Err()
}

// check evaluates the expression of the rule. It skips lists, tables, missing values and encrypted
// ones.
func (r Rule) check(key string, val any) error {
	switch val.(type) {
	case nil, map[string]any, []any, *SealedValue:
		return nil
	}
	prog, err := compileRule(r.Validate)
	if err != nil {
		return diag.Errorf(r.pos, "@validate: %s", err)
	}
	text := fmt.Sprint(val)
	if f, ok := val.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	ok, err := expr.Run(prog, ruleEnv(text))
	switch {
	case err != nil:
		return diag.Errorf(r.pos, "data.%s: %s: %s", key, r.Validate, plainError(err))
	case ok != true:
		return diag.Errorf(r.pos, "data.%s: %w", key, diag.Expected("%s", r.Validate).Got("%q", text))
	}
	return nil
}

func valueAt(data map[string]any, path []string) any {
	var val any = data
	for _, step := range path {
		m, ok := val.(map[string]any)
		if !ok {
			return nil
		}
		val = m[step]
	}
	return val
}

// compileRule compiles the expression of a @validate.
func compileRule(text string) (*vm.Program, error) {
	prog, err := expr.Compile(text, expr.Env(ruleEnv("")), expr.AsBool())
	if err != nil {
		return nil, plainError(err)
	}
	return prog, nil
}

// textHint returns the hint for a rule that cannot be compiled because it uses the value, which is
// a text, as a number.
func textHint(err error) string {
	if strings.Contains(err.Error(), "mismatched types string and ") {
		return "value is a string: convert it with int(value)"
	}
	return ""
}

// plainError returns an error of the expression library without the excerpt
// that it draws, since errors here have places of their own.
func plainError(err error) error {
	if fe, ok := errors.AsType[*file.Error](err); ok {
		if fe.Prev != nil {
			return fe.Prev
		}
		return diag.InExpression(fe.Message)
	}
	return err
}

// ruleEnv returns the environment of a rule's expression: the value as text, and the functions.
func ruleEnv(value string) map[string]any {
	env := map[string]any{"value": value, "Value": value}
	for name, f := range validators {
		env["is"+name] = f
		env["is_"+strings.ToLower(name)] = f
	}
	matches := func(v any, pattern string) (bool, error) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return false, err
		}
		return re.MatchString(fmt.Sprint(v)), nil
	}
	env["isRegex"], env["is_regex"] = matches, matches
	return env
}

// validators are the functions is<Name>(value) of rules.
var validators = map[string]func(v any) bool{
	"IP": func(v any) bool { _, err := netip.ParseAddr(fmt.Sprint(v)); return err == nil },
	"IPv4": func(v any) bool {
		a, err := netip.ParseAddr(fmt.Sprint(v))
		return err == nil && a.Is4()
	},
	"IPv6": func(v any) bool {
		a, err := netip.ParseAddr(fmt.Sprint(v))
		return err == nil && a.Is6()
	},
	"Int":      func(v any) bool { _, err := strconv.ParseInt(fmt.Sprint(v), 10, 64); return err == nil },
	"Float":    func(v any) bool { _, err := strconv.ParseFloat(fmt.Sprint(v), 64); return err == nil },
	"Duration": func(v any) bool { return isDuration(fmt.Sprint(v)) },
	"ShellSafe": func(v any) bool {
		return !strings.ContainsAny(strings.TrimSpace(fmt.Sprint(v)), "`$;|&><()\n\r\x00")
	},
	"Hostname": func(v any) bool { return isHostname(fmt.Sprint(v)) },
	"FQDN": func(v any) bool {
		s := strings.TrimSuffix(fmt.Sprint(v), ".")
		return isHostname(s) && strings.Contains(s, ".")
	},
}

var (
	hostLabel = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	longUnits = lazyregexp.New(`^(\d+(\.\d+)?(y|Y|M|w|W|d|D))+`)
)

// isHostname follows RFC 1123.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !hostLabel().MatchString(label) {
			return false
		}
	}
	return true
}

// isDuration takes durations as Go writes them, with days, weeks, months and
// years before them.
func isDuration(s string) bool {
	rest := longUnits().ReplaceAllString(strings.TrimLeft(s, "+-"), "")
	if rest == "" {
		return s != "" && rest != s
	}
	_, err := time.ParseDuration(rest)
	return err == nil
}
