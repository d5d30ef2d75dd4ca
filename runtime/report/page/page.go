// Package page writes the report of a run as one HTML file that needs no network and no other
// file. JavaScript only adds search and filters.
//
// All texts from the machine or from a site are escaped by html/template. A
// Content-Security-Policy (W3C CSP Level 3) allows only the script of this package.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/part"
)

//go:embed page.html
var source string

//go:embed page.css
var style string

//go:embed page.js
var script string

// parsed parses the page on first use.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"took": part.Took, "px": px, "badge": func(typ string) template.HTML { return htmlOf(part.Badge(typ)) }}).Parse(source))
})

// view is the data of the page.
type view struct {
	*report.Run
	Verdict verdict
	Started string
	Counts  []part.Count
	Bar     template.HTML
	Legend  template.HTML
	// Missing is the number of resources that are counted but not listed.
	Missing  int
	Failures []failure
	Timeline timeline
	Slowest  []*row
	Graph    template.HTML
	NoGraph  string // why there is no drawing
	Rows     []*row

	Style  template.CSS
	Script template.JS
	Policy string
}

// htmlOf returns an element for the template. Elements escape their texts.
func htmlOf(e *markup.Element) template.HTML { return template.HTML(e.HTML()) }

// A row is a resource.
type row struct {
	*report.Event
	ID   string // of the element
	Word string // for the outcome
	Part template.HTML
}

// FullName returns type#name.
func (r *row) FullName() string { return r.Type + "#" + r.Name }

// MostRows is the largest number of resources that a page lists. A browser takes seconds for
// more, and a page has to stay below 10 MiB.
const MostRows = 8000

// Write writes a run.
func Write(w io.Writer, run *report.Run) error {
	sum := sha256.Sum256([]byte(script))
	v := &view{
		Run: run, Verdict: verdictOf(run), Style: template.CSS(part.Style() + style), Script: template.JS(script),
		Policy: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
	}
	if !run.Summary.StartTime.IsZero() {
		v.Started = run.Summary.StartTime.Local().Format("Mon 2 Jan 2006, 15:04:05 MST")
	}
	v.Counts = part.Counts(&run.Summary, run.Drift)
	v.Bar, v.Legend = htmlOf(part.Bar(v.Counts)), htmlOf(part.Legend(v.Counts))
	v.Rows = rowsOf(run)
	v.Missing = max(run.Summary.Total-len(v.Rows), 0)
	v.Failures = failuresOf(run, v.Rows)
	v.Timeline = timelineOf(&run.Summary, v.Rows)
	v.Slowest = slowest(v.Rows)
	v.Graph, v.NoGraph = drawingOf(v.Rows)
	return parsed().Execute(w, v)
}

// rowsOf returns the resources to list, in their order. If there are too many, stable ones are
// left out first.
func rowsOf(run *report.Run) []*row {
	var rows []*row
	stable := MostRows
	for i := range run.Events {
		if run.Events[i].Outcome != "stable" {
			stable--
		}
	}
	for i := range run.Events {
		e := &run.Events[i]
		if e.Outcome == "stable" {
			if stable--; stable < 0 {
				continue
			}
		} else if len(rows) >= MostRows && !e.Failed {
			continue
		}
		id := fmt.Sprintf("r%d", i+1)
		rows = append(rows, &row{Event: e, ID: id, Word: e.OutcomeWord(run.Drift), Part: htmlOf(part.Row(e, part.RowOptions{ID: id, Drift: run.Drift}))})
	}
	return rows
}

// slowest returns the resources that took the longest time.
func slowest(rows []*row) []*row {
	const most = 8
	list := slices.Clone(rows)
	slices.SortStableFunc(list, func(a, b *row) int { return int(min(max(b.Duration-a.Duration, -1), 1)) })
	return list[:min(len(list), most)]
}
