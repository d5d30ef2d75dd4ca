package part

import (
	"strings"

	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// differences returns the differences of a resource: the properties as a table, and the lines of
// a content. For an unknown resource it adds the forecast.
func differences(e *report.Event) []markup.Node {
	list := append(properties(e.Diff, ""), lines(e.Text)...)
	if e.Forecast != nil {
		list = append(append(list, properties(e.Forecast.Diff, "Expected")...), lines(e.Forecast.Text)...)
	}
	return list
}

// properties returns a table of properties with their present and wanted values.
func properties(diff []resource.Delta, caption string) []markup.Node {
	if len(diff) == 0 {
		return nil
	}
	table := markup.New("table", "class", "diff")
	if caption != "" {
		table.Add(markup.New("caption").Say(caption))
	}
	rows := markup.New("tbody")
	for _, d := range diff {
		rows.Add(markup.New("tr").Add(markup.New("th", "scope", "row").Say(d.Property), cell("del", d.Have), cell("add", d.Want)))
	}
	return []markup.Node{table.Add(rows)}
}

func cell(class, value string) *markup.Element {
	if value == "" {
		value = "(none)"
	}
	return markup.New("td", "class", class).Say(value)
}

// lines returns the lines of a unified diff without its header, colored.
func lines(diff string) []markup.Node {
	text := markup.New("pre", "class", "text", "tabindex", "0", "aria-label", "difference of the content")
	header, empty := true, true
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		header = header && !strings.HasPrefix(line, "@@") && (strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") ||
			strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "new file ") || strings.HasPrefix(line, "deleted file ") || strings.HasPrefix(line, "index "))
		if header {
			continue
		}
		class := ""
		if line != "" {
			class = map[byte]string{'+': "add", '-': "del", '@': "at", '[': "at", '\\': "at"}[line[0]]
		}
		text.Add(markup.New("span", "class", class).Say(line + "\n"))
		empty = false
	}
	if empty {
		return nil
	}
	return []markup.Node{text}
}
