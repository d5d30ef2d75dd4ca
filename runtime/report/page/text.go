package page

import "strings"

// A line is one of a diff, with its class: add, del, at or "".
type line struct{ Class, Text string }

// TextLines returns the lines of the diff of a resource, without its header.
func (r *row) TextLines() []line { return linesOf(r.Text) }

// ForecastLines returns those of what is expected of a resource that is unknown.
func (r *row) ForecastLines() []line {
	if r.Forecast == nil {
		return nil
	}
	return linesOf(r.Forecast.Text)
}

func linesOf(diff string) []line {
	var list []line
	header := true
	for text := range strings.Lines(diff) {
		text = strings.TrimSuffix(text, "\n")
		header = header && !strings.HasPrefix(text, "@@") && (strings.HasPrefix(text, "diff ") || strings.HasPrefix(text, "--- ") ||
			strings.HasPrefix(text, "+++ ") || strings.HasPrefix(text, "new file ") || strings.HasPrefix(text, "deleted file ") || strings.HasPrefix(text, "index "))
		if header {
			continue
		}
		l := line{Text: text}
		if text != "" {
			l.Class = map[byte]string{'+': "add", '-': "del", '@': "at", '[': "at", '\\': "at"}[text[0]]
		}
		list = append(list, l)
	}
	return list
}
