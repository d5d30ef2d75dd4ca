package page

import (
	"fmt"
	"html/template"

	"github.com/luaccm/ccm/runtime/report/graph"
)

// mostBoxes is the largest number of boxes in a drawing: nobody reads more.
const mostBoxes = 2000

// drawingOf draws the order of the resources, or returns the reason why it does not.
func drawingOf(rows []*row) (drawing template.HTML, why string) {
	nodes, at := make([]graph.Node, len(rows)), make(map[string]int, len(rows))
	for i, r := range rows {
		nodes[i] = graph.Node{Type: r.Type, Name: r.Name, Class: r.Outcome, Link: "#" + r.ID}
		at[r.FullName()] = i
	}
	var edges []graph.Edge
	add := func(to int, names []string, refresh bool) {
		for _, name := range names {
			if from, ok := at[name]; ok && from < to {
				edges = append(edges, graph.Edge{From: from, To: to, Refresh: refresh})
			}
		}
	}
	missing := 0
	for i, r := range rows {
		add(i, r.Requires, false)
		add(i, r.Subscribes, true)
		missing += r.OrderMore
	}
	if len(edges) == 0 {
		return "", ""
	}
	d := graph.Layout(nodes, edges, graph.DefaultStack)
	if len(d.Boxes) > mostBoxes {
		return "", fmt.Sprintf("The drawing would have %d boxes. Draw it with ccm catalog --output svg.", len(d.Boxes))
	}
	if missing > 0 {
		why = fmt.Sprintf("%d arrows are omitted.", missing)
	}
	return htmlOf(d.Element()), why
}
