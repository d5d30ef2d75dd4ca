package luadiff

import "slices"

// Shrink returns a program with fewer statements for which differs is still true.
func Shrink(p Program, differs func(Program) bool) Program {
	for tries := 2000; tries > 0; {
		next := p
		for size := max(len(p)/2, 1); size > 0 && len(next) == len(p); size /= 2 {
			for _, c := range candidates(p, size) {
				if tries--; tries < 0 {
					return p
				}
				if differs(c) {
					next = c
					break
				}
			}
			if next.Count() != p.Count() {
				break
			}
		}
		if next.Count() == p.Count() {
			return p
		}
		p = next
	}
	return p
}

// candidates returns p without each run of size statements; for size 1 also with a block in the
// place of its statement, and with smaller blocks.
func candidates(p Program, size int) []Program {
	var out []Program
	for end := len(p); end > 0; end -= size {
		out = append(out, slices.Concat(p[:max(end-size, 0)], p[end:]))
	}
	for i, s := range p {
		replace := func(with ...*Stmt) { out = append(out, slices.Concat(p[:i], Program(with), p[i+1:])) }
		if s.End == "" {
			continue
		}
		if size == 1 {
			replace(s.Body...)
		}
		for _, c := range candidates(s.Body, size) {
			with := *s
			with.Body = c
			replace(&with)
		}
		for _, c := range candidates(s.Else, size) {
			with := *s
			with.Else = c
			replace(&with)
		}
	}
	return out
}
