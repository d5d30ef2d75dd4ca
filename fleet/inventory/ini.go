package inventory

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// section is the head of a section: [web], [web:vars], [web:children].
var section = lazyregexp.New(`^\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?$`)

// readINI reads what Ansible documents as "INI format" (docs.ansible.com, ini_inventory).
func (inv *Inventory) readINI(file string, text []byte) error {
	g, kind := inv.group("ungrouped", file), ""
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		at := fmt.Sprintf("%s:%d", file, n+1)
		if m := section().FindStringSubmatch(line); m != nil {
			g, kind = inv.group(m[1], at), m[2]
			if kind != "vars" {
				g.define(inv)
			}
			if kind != "" && kind != "vars" && kind != "children" {
				return fmt.Errorf("%s: %w", at, diag.Expected("[%s], [%[1]s:vars] or [%[1]s:children]", m[1]).Got("%q", line))
			}
			continue
		}
		if name, _, closed := strings.Cut(line, "]"); line[0] == '[' && !(closed && strings.Contains(name, ":")) {
			return fmt.Errorf("%s: %w", at, diag.Expected("a group name such as [web]").Got("%q", line))
		}
		var err error
		switch kind {
		case "vars":
			err = g.vars.addLine(line, at)
		case "children":
			err = inv.childLine(g, line, at)
		default:
			err = inv.hostLine(g, line, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addLine reads a line of a section of variables.
func (v variables) addLine(line, at string) error {
	name, value, ok := strings.Cut(line, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return fmt.Errorf("%s: %w", at, diag.Expected("NAME=VALUE").Got("%q", line))
	}
	v[name] = variable{literal(strings.TrimSpace(value)), at}
	return nil
}

func (inv *Inventory) childLine(g *group, line, at string) error {
	words, err := splitLine(line)
	if err != nil || len(words) != 1 {
		return fmt.Errorf("%s: %w", at, diag.Expected("a group name").Got("%q", line))
	}
	if child := inv.group(words[0], at); child.defined {
		g.addChild(child.name)
	} else {
		child.parents = append(child.parents, g)
	}
	return nil
}

// hostLine reads a line of hosts and their variables.
func (inv *Inventory) hostLine(g *group, line, at string) error {
	words, err := splitLine(line)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if len(words) == 0 {
		return nil
	}
	names, port, err := expandHosts(words[0])
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	for _, name := range names {
		h, err := inv.host(name, at)
		if err != nil {
			return err
		}
		g.add(name)
		if port > 0 {
			h.vars["ansible_port"] = variable{port, at}
		}
		for _, word := range words[1:] {
			name, value, ok := strings.Cut(word, "=")
			if !ok || name == "" {
				return fmt.Errorf("%s: %w", at, diag.Expected("NAME=VALUE after the host").Got("%q", word))
			}
			h.vars[name] = variable{literal(value), at}
		}
	}
	return nil
}

// splitLine splits a line as Python's shlex does: quotes, backslashes, comments.
func splitLine(line string) (words []string, err error) {
	var word strings.Builder
	begun := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '#':
			i = len(line)
		case c == ' ' || c == '\t' || c == '\r':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			begun = true
		case c == '\'' || c == '"':
			end := i + 1
			for ; end < len(line) && line[end] != c; end++ {
				if c == '"' && line[end] == '\\' && end+1 < len(line) && (line[end+1] == '"' || line[end+1] == '\\') {
					end++
				}
				word.WriteByte(line[end])
			}
			if end >= len(line) {
				return nil, diag.Unterminated("quote %c", c)
			}
			i, begun = end, true
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// expandHosts returns the hosts of a pattern such as web[01:20]:2222, and its port, 0 if it has
// none.
func expandHosts(pattern string) (names []string, port int64, err error) {
	if i := strings.LastIndexByte(pattern, ':'); i > 0 && i < len(pattern)-1 {
		before := pattern[:i]
		outside := strings.Count(before, "[") == strings.Count(before, "]")
		bracketed := before[0] == '[' && strings.HasSuffix(before, "]") && strings.Count(before, ":") > 1 // [::1]:22
		plain := !strings.Contains(withoutRanges(before), ":")
		if n, e := strconv.ParseUint(pattern[i+1:], 10, 16); e == nil && n > 0 && outside && (bracketed || plain) {
			pattern, port = before, int64(n)
			if bracketed {
				pattern = before[1 : len(before)-1]
			}
		}
	}
	if names, err = expandRanges(pattern, nil); err != nil {
		err = fmt.Errorf("%q: %w", pattern, err)
	}
	return names, port, err
}

// withoutRanges returns a pattern without its parts in brackets.
func withoutRanges(pattern string) string {
	for {
		head, rest, ok := strings.Cut(pattern, "[")
		_, tail, closed := strings.Cut(rest, "]")
		if !ok || !closed {
			return pattern
		}
		pattern = head + tail
	}
}

// expandRanges replaces each [begin:end] or [begin:end:step] by its values.
func expandRanges(pattern string, list []string) ([]string, error) {
	head, rest, ok := strings.Cut(pattern, "[")
	bounds, tail, closed := strings.Cut(rest, "]")
	if !ok || !closed || !strings.Contains(bounds, ":") {
		return append(list, pattern), nil
	}
	values, err := rangeOf(bounds)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if list, err = expandRanges(head+v+tail, list); err != nil {
			return nil, err
		}
		if len(list) > maxHosts {
			return nil, diag.Exceeds("range", "%d hosts", maxHosts)
		}
	}
	return list, nil
}

// rangeOf returns the values between two bounds, both included.
func rangeOf(bounds string) (values []string, err error) {
	parts := strings.Split(bounds, ":")
	step := 1
	if len(parts) == 3 {
		step, err = strconv.Atoi(parts[2])
	}
	if err != nil || step < 1 || len(parts) > 3 || parts[1] == "" {
		return nil, diag.Expected("a range such as 01:20, a:f or 1:9:2").Got("%q", bounds)
	}
	begin, end := parts[0], parts[1]
	if begin == "" {
		begin = "0"
	}
	if isLetter(begin) && isLetter(end) && begin <= end {
		for c := int(begin[0]); c <= int(end[0]); c += step {
			values = append(values, string(rune(c)))
		}
		return values, nil
	}
	from, err1 := strconv.ParseUint(begin, 10, 31)
	to, err2 := strconv.ParseUint(end, 10, 31)
	width := 0
	if strings.HasPrefix(begin, "0") && len(begin) > 1 {
		if width = len(begin); len(end) != width {
			return nil, diag.Expected("bounds of the same length").Got("%q", bounds)
		}
	}
	if err1 != nil || err2 != nil || from > to || (to-from)/uint64(step) >= maxHosts {
		return nil, diag.Expected("a range such as 01:20, a:f or 1:9:2").Got("%q", bounds)
	}
	for n := from; n <= to; n += uint64(step) {
		values = append(values, fmt.Sprintf("%0*d", width, n))
	}
	return values, nil
}

func isLetter(s string) bool {
	return len(s) == 1 && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}
