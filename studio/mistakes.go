package studio

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A diagnosis is a mistake or a warning.
type diagnosis struct {
	*diag.Error
	severity string
}

func (c *checkResult) add(err error, severity string) {
	var list diag.List
	list.Add(err)
	for _, d := range list {
		c.mistakes = append(c.mistakes, diagnosis{d, severity})
	}
}

// mistakesOf returns the mistakes in the form for the page.
func (d *document) mistakesOf(c *checkResult) []Mistake {
	out := []Mistake{}
	for _, m := range c.mistakes {
		if len(out) == diag.MaxShown {
			break
		}
		x := Mistake{
			File: relative(d.directory, m.Pos.File), Line: m.Pos.Line, Severity: m.severity,
			Message: terminal.Lines((&diag.Error{Subject: m.Subject, Err: m.Err}).Message()), Hint: terminal.Lines(m.Hint),
		}
		if x.File == d.name {
			x.Col, x.Len = columnOf(d.text, m.Pos)
		}
		for _, n := range m.Notes {
			x.Notes = append(x.Notes, Note{relative(d.directory, n.Pos.File), n.Pos.Line, terminal.Lines(n.Text)})
		}
		d.locate(m, &x)
		out = append(out, x)
	}
	return out
}

// relative returns the path of a file relative to a directory, or the unchanged path of a file
// outside of it.
func relative(directory, file string) string {
	if !filepath.IsAbs(file) {
		return path.Clean(filepath.ToSlash(file))
	}
	if rel, err := filepath.Rel(directory, file); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return file
}

// columnOf returns a column and a length in units of UTF-16.
func columnOf(text string, p diag.Pos) (col, size int) {
	if p.Col <= 0 {
		return 0, 0
	}
	line := lineOf(text, p.Line)
	from := min(p.Col-1, len(line))
	to := min(from+p.Len, len(line))
	return units(line[:from]) + 1, units(line[from:to])
}

// lineOf returns a line of a text, "" if it has fewer.
func lineOf(text string, n int) string {
	for line := range strings.Lines(text) {
		if n--; n == 0 {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}

// units returns the length of a text in units of UTF-16.
func units(text string) (n int) {
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// locate finds the resource and the property of a mistake.
func (d *document) locate(m diagnosis, x *Mistake) {
	if d.model == nil || d.read != d.rev {
		return
	}
	for i := range d.model.Resources {
		r := &d.model.Resources[i]
		last := lastLine(d.text, r.To)
		if x.File == d.name && x.Line > 0 {
			if x.Line < r.Line || x.Line > last {
				continue
			}
		} else if m.Subject == "" || m.Subject != r.ID && !slices.Contains(r.Names, strings.TrimPrefix(m.Subject, r.Type+"#")) {
			continue
		}
		x.Resource = r.Key
		if namedProperty(m) == "" && x.Line == r.Line && (m.Pos.Col == 0 || m.Pos.Col == r.Column) {
			return // the mistake is about the whole resource
		}
		for _, p := range r.Props {
			if p.Line <= x.Line && x.Line <= lastLine(d.text, p.To) && mentions(m, p.Name) {
				x.Field = p.Name
			}
		}
		if x.Field == "" {
			x.Field = namedProperty(m)
		}
		return
	}
}

// lastLine returns the number of the line with an offset.
func lastLine(text string, offset int) int {
	offset = min(max(offset, 0), len(text))
	return 1 + strings.Count(text[:offset], "\n")
}

// mentions reports whether a mistake's message begins with a property, or with none at all.
func mentions(m diagnosis, property string) bool {
	named := namedProperty(m)
	return named == "" || named == property
}

// namedProperty returns the property at the beginning of a message, where all messages about a
// property have it, and "" if there is none.
func namedProperty(m diagnosis) string {
	head, _, ok := strings.Cut(m.Err.Error(), ":")
	if !ok || strings.ContainsAny(head, " #/\"") {
		return ""
	}
	head, _, _ = strings.Cut(head, "[")
	head, _, _ = strings.Cut(head, ".")
	return head
}
