package report

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/report/graph"
)

// The drawings show the resources of a catalog in the order in which they are converged, with an
// arrow from each to those that come after it. A dashed arrow means that a change refreshes the
// other resource. Skipped resources are grey, or dashed in SVG.

// Dot returns a catalog in the language of Graphviz.
func Dot(c *catalog.Catalog) string {
	var b strings.Builder
	b.WriteString("digraph ccm {\n  rankdir = LR;\n  node [shape = box, style = rounded, fontname = \"sans-serif\"];\n  edge [fontname = \"sans-serif\", fontsize = 10];\n")
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	quote := func(i int) string { return `"` + escape.Replace(c.Resources[i].ID.String()) + `"` }
	for i, r := range c.Resources {
		b.WriteString("  " + quote(i))
		if r.Skip != "" {
			b.WriteString(" [color = gray, fontcolor = gray]")
		}
		b.WriteString(";\n")
	}
	for i, deps := range c.Deps {
		for _, d := range deps {
			fmt.Fprintf(&b, "  %s -> %s", quote(d.Index), quote(i))
			if d.Refresh {
				b.WriteString(` [style = dashed, label = "refresh"]`)
			}
			b.WriteString(";\n")
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// Mermaid returns a catalog in the language of Mermaid.
func Mermaid(c *catalog.Catalog) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	escape := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ")
	skipped := false
	for i, r := range c.Resources {
		class := ""
		if r.Skip != "" {
			class, skipped = ":::skipped", true
		}
		fmt.Fprintf(&b, "  r%d[\"%s\"]%s\n", i, escape.Replace(r.ID.String()), class)
	}
	for i, deps := range c.Deps {
		for _, d := range deps {
			arrow := "-->"
			if d.Refresh {
				arrow = "-. refresh .->"
			}
			fmt.Fprintf(&b, "  r%d %s r%d\n", d.Index, arrow, i)
		}
	}
	if skipped {
		b.WriteString("  classDef skipped stroke:#aaa,color:#aaa\n")
	}
	return b.String()
}

// SVG returns a catalog as a picture. At least stack resources of one type with the same
// neighbors become one box; 0 draws each by itself.
func SVG(c *catalog.Catalog, stack int) string {
	nodes, edges := make([]graph.Node, len(c.Resources)), []graph.Edge(nil)
	for i, r := range c.Resources {
		nodes[i] = graph.Node{Type: r.ID.Type, Name: r.ID.Name}
		if r.Skip != "" {
			nodes[i].Class = "skipped"
		}
		for _, d := range c.Deps[i] {
			edges = append(edges, graph.Edge{From: d.Index, To: i, Refresh: d.Refresh})
		}
	}
	return graph.Layout(nodes, edges, stack).SVG()
}
