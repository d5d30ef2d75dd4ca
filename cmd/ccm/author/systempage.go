package author

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/runtime/testsystem/stages"
)

//go:embed systempage.css
var systemStyle string

// writeSystemPage writes one page about all systems: the stages, the problems, what differs between the systems, and the
// first run of each. It needs no network and has no script.
func writeSystemPage(w io.Writer, m *matrix, runs []systemRun) error {
	reports := make([][]report.Event, len(runs))
	for i, r := range runs {
		for _, s := range r.stages {
			if s.Name != "run" {
				continue
			}
			for line := range bytes.Lines(s.Report) {
				var e report.Event
				if err := json.Unmarshal(line, &e); err == nil && e.Protocol == report.EventProtocol {
					reports[i] = append(reports[i], e)
				}
			}
		}
	}
	title := m.summary(runs)
	body := markup.New("main").Add(
		markup.New("h1").Add(markup.New("b").Say(title)).Say(" ccm "+m.e.Secrets.Redact(shellquote.Join(m.e.Args...))),
		section("Stages", stageTable(runs)), section("Problems", problemsOf(runs)...), section("What differs", differenceTable(runs, reports)...),
	)
	for i, r := range runs {
		rows := markup.New("div", "class", "events")
		for k := range reports[i] {
			rows.Add(part.Row(&reports[i][k], part.RowOptions{}))
		}
		body.Add(section("Run on "+r.target.Name, rows))
	}
	head := markup.New("title").Say(title)
	_, err := fmt.Fprintf(w, `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width,initial-scale=1">
%s<style>%s</style></head><body>%s</body></html>
`, head.HTML(), part.Style()+systemStyle, body.HTML())
	return err
}

// section returns a part of the page, with a line if it has no content.
func section(title string, content ...markup.Node) *markup.Element {
	if len(content) == 0 {
		content = append(content, markup.New("p").Say("None."))
	}
	return markup.New("section").Add(markup.New("h2").Say(title)).Add(content...)
}

// table returns a table with a column for each system.
func table(first string, runs []systemRun) (all, body *markup.Element) {
	head := markup.New("tr").Add(markup.New("th").Say(first))
	for _, r := range runs {
		head.Add(markup.New("th").Say(r.target.Name))
	}
	body = markup.New("tbody")
	return markup.New("div", "class", "table").Add(markup.New("table").Add(markup.New("thead").Add(head), body)), body
}

// stageTable returns the stages of all systems.
func stageTable(runs []systemRun) *markup.Element {
	all, body := table("Stage", runs)
	var names []string
	for _, r := range runs {
		for _, s := range r.stages {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	for _, name := range names {
		row := markup.New("tr").Add(markup.New("th").Say(name))
		for _, r := range runs {
			cell := markup.New("td")
			if i := slices.IndexFunc(r.stages, func(s stages.Stage) bool { return s.Name == name }); i >= 0 {
				s := r.stages[i]
				cell.Add(markup.New("b", "class", string(s.Status)).Say(string(s.Status)), markup.New("small").Say(s.Note))
			}
			row.Add(cell)
		}
		body.Add(row)
	}
	return all
}

// problemsOf returns what failed, and what to do.
func problemsOf(runs []systemRun) (list []markup.Node) {
	add := func(where, text string) {
		list = append(list, markup.New("h3").Say(where), markup.New("pre").Say(text))
	}
	for _, r := range runs {
		for _, s := range r.stages {
			for _, p := range s.Problems {
				add(r.target.Name+", "+s.Name, p.String())
			}
		}
		if r.err != nil {
			add(r.target.Name, r.err.Error())
		}
	}
	for _, line := range differences(runs) {
		list = append(list, markup.New("p").Say(line))
	}
	return list
}

// differenceTable returns the resources whose results differ between the systems.
func differenceTable(runs []systemRun, reports [][]report.Event) []markup.Node {
	var names []string
	results := make([]map[string]string, len(runs))
	for i := range runs {
		results[i] = make(map[string]string)
		for k := range reports[i] {
			e := &reports[i][k]
			name := e.Type + "#" + e.Name
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			results[i][name] = e.OutcomeWord(false) + "\n" + e.Story(false)
		}
	}
	all, body := table("Resource", runs)
	found := false
	for _, name := range names {
		row, differs := markup.New("tr").Add(markup.New("th").Say(name)), false
		for i := range runs {
			word, story, _ := strings.Cut(results[i][name], "\n")
			differs = differs || results[i][name] != results[0][name]
			row.Add(markup.New("td").Say(cmp.Or(word, "not declared")).Add(markup.New("small").Say(story)))
		}
		if differs {
			body.Add(row)
			found = true
		}
	}
	if !found {
		return nil
	}
	return []markup.Node{all}
}
