package luadiff

import "slices"

// Shrink returns a program with fewer statements for which differs is still true. It tries to leave out runs of
// statements, half of the program at first, and to put the statements of a block in the place of the block.
func Shrink(p Program, differs func(Program) bool) Program {
	for size := max(p.Count()/2, 1); ; {
		before := p.Count()
		for at := p.Count() - 1; at >= 0; {
			kept := false
			for _, keepBody := range []bool{false, true} {
				if keepBody && size > 1 {
					continue
				}
				first := max(at-size+1, 0)
				if c := without(p, first, at, keepBody); c.Count() < p.Count() && differs(c) {
					p, kept = c, true
					break
				}
			}
			if at -= size; kept {
				at = min(at, p.Count()-1)
			}
		}
		switch {
		case size > 1:
			size /= 2
		case p.Count() == before:
			return p
		}
	}
}

// without returns p without its statements first to last, counted in the order of the text. The statements of a block go
// with it unless keepBody is set: then they take its place.
func without(p Program, first, last int, keepBody bool) Program {
	number := -1
	var reduce func(Program) Program
	reduce = func(list Program) Program {
		var out Program
		for _, s := range list {
			number++
			if number < first || number > last {
				with := *s
				with.Body, with.Else = reduce(s.Body), reduce(s.Else)
				out = append(out, &with)
				continue
			}
			body := slices.Concat(reduce(s.Body), reduce(s.Else))
			if keepBody {
				out = append(out, body...)
			}
		}
		return out
	}
	return reduce(p)
}
