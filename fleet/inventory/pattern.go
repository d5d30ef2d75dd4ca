package inventory

import (
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// Select returns the hosts of patterns in the order of the patterns, all for no pattern. A pattern
// is a host, a group, a pattern with * ? [abc], ~ and a regular expression, or one of these with
// [0], [-1] or [0:2] behind it; several are joined by : or ,. A pattern with & in front keeps only
// its hosts among the selected ones, one with ! removes them. A position counts in the order of the group.
func (inv *Inventory) Select(patterns []string) ([]Host, error) {
	var with, only, without []string
	for _, list := range patterns {
		for _, p := range splitPatterns(list) {
			switch p[0] {
			case '&':
				only = append(only, p[1:])
			case '!':
				without = append(without, p[1:])
			default:
				with = append(with, p)
			}
		}
	}
	if len(with) == 0 {
		with = []string{"all"}
	}
	var selected []string
	for _, p := range with {
		names := []string{p}
		if inv.hosts[p] == nil { // a host takes precedence over a group of its name
			var err error
			if names, err = inv.match(p); err != nil {
				return nil, err
			}
		}
		selected = append(selected, names...)
	}
	selected = distinct(selected)
	for i, p := range append(slices.Clip(only), without...) {
		names, err := inv.match(p)
		if err != nil {
			return nil, err
		}
		selected = slices.DeleteFunc(selected, func(name string) bool { return slices.Contains(names, name) == (i >= len(only)) })
	}
	groups := inv.groupsOf()
	var list []Host
	for _, name := range selected {
		h := Host{Name: name, Groups: []string{}, vars: inv.resolve(name, groups[name])}
		for _, g := range groups[name] {
			if g.name != "all" && g.name != "ungrouped" {
				h.Groups = append(h.Groups, g.name)
			}
		}
		slices.Sort(h.Groups)
		list = append(list, h)
	}
	if len(list) == 0 {
		return nil, diag.None("host of the inventory matches %s", strings.Join(patterns, " "))
	}
	return list, nil
}

// splitPatterns splits at commas, or else at colons that are not in brackets.
func splitPatterns(list string) (parts []string) {
	at := func(r rune) bool { return r == ',' }
	if !strings.Contains(list, ",") && net.ParseIP(strings.TrimLeft(list, "!&")) == nil {
		depth := 0
		at = func(r rune) bool {
			switch r {
			case '[':
				depth++
			case ']':
				depth--
			}
			return r == ':' && depth <= 0
		}
	}
	for _, p := range strings.FieldsFunc(list, at) {
		if p = strings.TrimSpace(p); p != "" && p != "!" && p != "&" {
			parts = append(parts, p)
		}
	}
	return parts
}

// subscript matches a pattern with [0], [-1], [0:2] or [1:] at its end.
var subscript = lazyregexp.New(`^(.+)\[(?:(-?[0-9]+)|([0-9]+)[:-]([0-9]*))\]$`)

// match returns the hosts of one pattern: those of groups in the order of the groups, and then single ones.
func (inv *Inventory) match(pattern string) ([]string, error) {
	if m := subscript().FindStringSubmatch(pattern); m != nil && pattern[0] != '~' {
		names, err := inv.match(m[1])
		if err != nil {
			return nil, err
		}
		return part(pattern, names, m[2], m[3], m[4])
	}
	fits, err := matcher(pattern)
	if err != nil {
		return nil, err
	}
	var list []string
	matched := false
	for _, name := range inv.names {
		if fits(name) || pattern == "*" && name == "all" {
			matched = true
			list = append(list, inv.members(name)...)
		}
	}
	if !matched || pattern[0] == '~' || strings.ContainsAny(pattern, ".?*[") {
		for _, h := range inv.order {
			if fits(h) {
				list, matched = append(list, h), true
			}
		}
	}
	if !matched {
		return nil, diag.None("host or group %q in the inventory", pattern)
	}
	return distinct(list), nil
}

// matcher returns a function that reports whether a name fits a pattern.
func matcher(pattern string) (func(string) bool, error) {
	if text, ok := strings.CutPrefix(pattern, "~"); ok {
		re, err := regexp.Compile("^(?:" + text + ")")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		return re.MatchString, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	return func(name string) bool {
		ok, _ := path.Match(pattern, name) // the pattern was checked
		return ok || name == pattern
	}, nil
}

// part returns the part of a list that a subscript selects.
func part(pattern string, names []string, index, from, to string) ([]string, error) {
	first, last := 0, len(names)-1
	if index != "" {
		n, err := strconv.Atoi(index)
		if n < 0 {
			n += len(names)
		}
		if err != nil {
			n = len(names)
		}
		first, last = n, n
	} else {
		first, _ = strconv.Atoi(from)
		if n, err := strconv.Atoi(to); err == nil {
			last = min(n, last)
		}
	}
	if first < 0 || first > last || last >= len(names) {
		return nil, fmt.Errorf("%s matches none of %d hosts", pattern, len(names))
	}
	return names[first : last+1], nil
}
