package template

import "strings"

// A mark is an offset of the output and the line of the template that wrote from there on.
type mark struct {
	offset int
	at     Line
	text   bool // whether the line is from the template's own text
}

// lines returns the line of a template for each line of the output.
func (r *renderer) lines(file string) []Line {
	text := r.out.String()
	out := make([]Line, 0, strings.Count(text, "\n")+1)
	for begin := 0; begin <= len(text); {
		end := begin + strings.IndexByte(text[begin:], '\n')
		if end < begin {
			end = len(text)
		}
		out = append(out, r.lineAt(text, begin, end, file))
		begin = end + 1
	}
	return out
}

// lineAt returns the line that wrote the first visible character between two offsets of
// the output.
func (r *renderer) lineAt(text string, begin, end int, file string) Line {
	for begin < end && text[begin] == ' ' {
		begin++
	}
	lo, hi := 0, len(r.marks)
	for lo < hi {
		if mid := (lo + hi) / 2; r.marks[mid].offset <= begin {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return Line{file, 1}
	}
	m := r.marks[lo-1]
	at := Line{fileOf(m.at.File, file), m.at.Line}
	if m.text {
		at.Line += strings.Count(text[m.offset:begin], "\n")
	}
	return at
}
