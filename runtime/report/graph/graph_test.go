package graph

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// site returns n nodes as in a typical site: packages, each with a directory, files in it, and a service that the
// files refresh; and single nodes.
func site(n int) (nodes []Node, edges []Edge) {
	add := func(typ, name string, after ...Edge) int {
		if len(nodes) == n {
			return n - 1
		}
		nodes = append(nodes, Node{Type: typ, Name: name})
		for _, e := range after {
			edges = append(edges, Edge{e.From, len(nodes) - 1, e.Refresh})
		}
		return len(nodes) - 1
	}
	base := add("exec", "apt-get update")
	for k := 0; len(nodes) < n; k++ {
		p := add("package", fmt.Sprintf("app%d", k), Edge{From: base})
		dir := add("file", fmt.Sprintf("/etc/app%d", k), Edge{From: p})
		var files []Edge
		for f := range 3 + k%9 {
			file := add("file", fmt.Sprintf("/etc/app%d/conf.d/%02d.conf", k, f), Edge{From: dir}, Edge{From: p})
			files = append(files, Edge{From: file, Refresh: true})
		}
		user := add("user", fmt.Sprintf("app%d", k))
		add("service", fmt.Sprintf("app%d", k), append(files, Edge{From: p}, Edge{From: user})...)
		add("line", fmt.Sprintf("/etc/motd of %d", k))
	}
	edges = slices.DeleteFunc(edges, func(e Edge) bool { return e.From >= e.To })
	return nodes, edges
}

// random returns n nodes with about twice as many edges, without order.
func random(n int, seed uint64) (nodes []Node, edges []Edge) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		nodes = append(nodes, Node{Type: []string{"file", "package", "service"}[r.IntN(3)], Name: fmt.Sprint("/n", i)})
		for range min(i, r.IntN(5)) {
			edges = append(edges, Edge{r.IntN(i), i, r.IntN(4) == 0})
		}
	}
	return nodes, edges
}

func TestGoldenPictures(t *testing.T) {
	for _, n := range []int{5, 50} {
		nodes, edges := site(n)
		got, file := Layout(nodes, edges, DefaultStack).SVG(), fmt.Sprintf("testdata/%d.svg", n)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), got, "go test -update writes it; look at it then")
	}
}

// Every node is in one box, no box covers another or leaves the drawing, every line leads to the right, from box to
// box, and all dependencies can be followed.
func TestLayout(t *testing.T) {
	for _, stack := range []int{0, DefaultStack} {
		for _, n := range []int{0, 1, 2, 20, 300} {
			nodes, edges := site(n)
			checkDrawing(t, nodes, edges, stack)
		}
		for seed := range uint64(30) {
			nodes, edges := random(int(seed*seed)%90+1, seed)
			checkDrawing(t, nodes, edges, stack)
		}
	}
	nodes, edges := site(5000)
	checkDrawing(t, nodes, edges, DefaultStack)
}

func checkDrawing(t *testing.T, nodes []Node, edges []Edge, stack int) {
	t.Helper()
	d := Layout(nodes, edges, stack)
	boxOf := make(map[int]int)
	for k, b := range d.Boxes {
		for _, m := range b.Members {
			require.NotContains(t, boxOf, m)
			boxOf[m] = k
			require.Equal(t, nodes[b.Members[0]].Type, nodes[m].Type)
		}
		require.True(t, len(b.Members) == 1 || stack > 0 && len(b.Members) >= stack)
		require.True(t, b.X >= 0 && b.Y >= 0 && b.X+b.W <= d.Width && b.Y+b.H <= d.Height, "%+v in %v x %v", b, d.Width, d.Height)
	}
	require.Len(t, boxOf, len(nodes))
	byTop := slices.Clone(d.Boxes)
	slices.SortFunc(byTop, func(a, b Box) int { return int(a.Y*100) - int(b.Y*100) })
	for i, a := range byTop {
		for _, b := range byTop[i+1:] {
			if b.Y >= a.Y+a.H {
				break
			}
			require.False(t, a.X < b.X+b.W && b.X < a.X+a.W, "%s covers %s", a.Label, b.Label)
		}
	}
	follows, refreshes := make([][]int, len(d.Boxes)), make(map[[2]int]bool)
	for _, l := range d.Lines {
		a, b := d.Boxes[l.From], d.Boxes[l.To]
		require.Less(t, a.X+a.W, b.X)
		require.GreaterOrEqual(t, len(l.Points), 2)
		require.Equal(t, Point{a.X + a.W, a.Y + a.H/2}, l.Points[0])
		require.Equal(t, Point{b.X, b.Y + b.H/2}, l.Points[len(l.Points)-1])
		follows[l.From] = append(follows[l.From], l.To)
		refreshes[[2]int{l.From, l.To}] = l.Refresh
	}
	if len(nodes) > 300 {
		return
	}
	for _, e := range edges {
		from, to := boxOf[e.From], boxOf[e.To]
		require.True(t, reaches(follows, from, to), "%s to %s", nodes[e.From], nodes[e.To])
		if e.Refresh {
			require.True(t, refreshes[[2]int{from, to}], "%s refreshes %s", nodes[e.From], nodes[e.To])
		}
	}
}

func reaches(follows [][]int, from, to int) bool {
	seen, next := make(map[int]bool), []int{from}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		if i == to {
			return true
		}
		if !seen[i] {
			seen[i] = true
			next = append(next, follows[i]...)
		}
	}
	return false
}

// An edge that a longer path implies is left out, but never one that refreshes.
func TestReduced(t *testing.T) {
	edges := []Edge{{0, 1, false}, {0, 2, false}, {1, 2, false}, {0, 3, true}, {2, 3, false}}
	require.Equal(t, []Edge{{0, 1, false}, {0, 3, true}, {1, 2, false}, {2, 3, false}}, transitiveReduction(4, merged(edges)))
}

// A stack is split where outcomes differ.
func TestStackOfOutcomes(t *testing.T) {
	var nodes []Node
	var edges []Edge
	nodes = append(nodes, Node{Type: "package", Name: "nginx"})
	for i := range 12 {
		nodes = append(nodes, Node{Type: "file", Name: fmt.Sprintf("/etc/web/conf.d/%d", i), Class: "stable"})
		edges = append(edges, Edge{From: 0, To: i + 1})
	}
	d := Layout(nodes, edges, DefaultStack)
	require.Len(t, d.Boxes, 2)
	require.Equal(t, "12 × /etc/web/conf.d/…", d.Boxes[1].Label)
	nodes[7].Class = "failed"
	d = Layout(nodes, edges, DefaultStack)
	var labels []string
	for _, b := range d.Boxes {
		labels = append(labels, b.Label)
	}
	require.Equal(t, []string{"nginx", "11 × /etc/web/conf.d/…", "/etc/web/conf.d/6"}, labels)
	require.Contains(t, d.SVG(), `<g class="failed"`)
	require.Len(t, Layout(nodes, edges, 0).Boxes, 13)
}

// Names are text, whatever is in them.
func TestHostileNames(t *testing.T) {
	nodes := []Node{
		{Type: "file", Name: "</text><script>alert(1)</script>\x00\x1b[31m\n\"'&", Class: `"><script>`, Link: `#"><script>`},
		{Type: "x<y", Name: strings.Repeat("長", 80)},
		{Type: "file", Name: ""},
		{Type: "file", Name: "\xff\xfe"},
	}
	text := Layout(nodes, []Edge{{0, 1, true}}, DefaultStack).SVG()
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if start, ok := tok.(xml.StartElement); ok {
			require.NotEqual(t, "script", start.Name.Local)
		}
	}
	require.Contains(t, text, strings.Repeat("長", 18)+"…"+strings.Repeat("長", 19)+"<")
}

// FuzzLayout draws any graph: bytes are edges of nodes of which the number is given.
func FuzzLayout(f *testing.F) {
	f.Add(uint8(5), []byte{0, 1, 1, 2, 0, 2, 3, 4}, uint8(3))
	f.Fuzz(func(t *testing.T, n uint8, pairs []byte, stack uint8) {
		var nodes []Node
		for i := range int(n) {
			nodes = append(nodes, Node{Type: []string{"a", "b"}[i%2], Name: fmt.Sprint(i)})
		}
		var edges []Edge
		for k := 0; k+1 < len(pairs); k += 2 {
			if a, b := int(pairs[k]), int(pairs[k+1]); a < b && b < int(n) {
				edges = append(edges, Edge{a, b, (a+b)%3 == 0})
			}
		}
		if stack == 1 {
			stack = 2
		}
		checkDrawing(t, nodes, edges, int(stack))
	})
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{300, 5000} {
		nodes, edges := site(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Layout(nodes, edges, DefaultStack)
			}
		})
		b.Run(fmt.Sprint(n, " without stacks"), func(b *testing.B) {
			for b.Loop() {
				Layout(nodes, edges, 0)
			}
		})
	}
}
