//go:build linux

package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/luaccm/ccm/test/bench/measure"
)

// A line is a row with its figures, as the table has them.
type line struct{ Work, Floor, Lua, YAML, Ratio, Spread, Target, Met, Peers, Note string }

// A metric is what is measured of a run, in milliseconds or bytes.
type metric func(c *command, u measure.Usage) float64

var metrics = map[string]metric{
	"wall": func(_ *command, u measure.Usage) float64 { return float64(u.Wall) / 1e6 },
	"cpu":  func(_ *command, u measure.Usage) float64 { return float64(u.CPU) / 1e6 },
	"rss":  func(_ *command, u measure.Usage) float64 { return float64(u.RSS) },
	// Without the site and lists, which a program has to read in any case.
	"read":  func(c *command, u measure.Usage) float64 { return float64(u.Read) - c.inputs },
	"items": func(c *command, _ measure.Usage) float64 { return c.items },
	"in use": func(_ *command, u measure.Usage) float64 {
		return outputNumber(u, `([0-9.]+) MiB in use at the end`) * (1 << 20)
	},
	"order": func(_ *command, u measure.Usage) float64 { return outputNumber(u, `(?m)^  order +([0-9.]+) ms$`) },
}

// units are in milliseconds or bytes.
var units = map[string]float64{"ms": 1, "µs": 1e-3, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}

// outputNumber returns the number that a pattern finds in the output of a command.
func outputNumber(u measure.Usage, pattern string) float64 {
	m := regexp.MustCompile(pattern).FindStringSubmatch(u.Output)
	if m == nil {
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(m[1], 64)
	return f
}

// sum returns the value of an expression (see row) in round k, NaN if a load in it was not measured.
func (b *bench) sum(expression, column string, of metric, k int) (sum float64) {
	for word := range strings.FieldsSeq(expression) {
		name, minus := strings.CutPrefix(word, "-")
		if !strings.Contains(name, "@") {
			name += "@" + column
		}
		c := b.commands[name]
		if c == nil || len(c.runs) == 0 {
			return math.NaN()
		}
		f := of(c, c.runs[min(k, len(c.runs)-1)])
		if minus {
			f = -f
		}
		sum += f
	}
	return sum
}

// each returns the results of a function for all rounds, sorted. Ratios are computed within a round, so
// that a machine that gets slower for a while affects both sides of a ratio.
func (b *bench) each(of func(k int) float64) []float64 {
	list := make([]float64, b.rounds)
	for k := range list {
		list[k] = of(k)
	}
	slices.Sort(list)
	return list
}

func (b *bench) median(of func(k int) float64) float64 { return median(b.each(of)) }

// median returns the median of a sorted list, NaN if an element is NaN.
func median(list []float64) float64 {
	if n := len(list); !math.IsNaN(list[0]) { // these come first
		return (list[(n-1)/2] + list[n/2]) / 2
	}
	return math.NaN()
}

// spread returns half of the interquartile range of a sorted list, in percent of its median.
func spread(list []float64) float64 {
	quarter := len(list) / 4
	return math.Round(50 * (list[len(list)-1-quarter] - list[quarter]) / math.Abs(median(list)))
}

// line computes the line of a row.
func (b *bench) line(r row) line {
	of, unit := metrics[cmp.Or(r.metric, "wall")], cmp.Or(r.unit, "ms")
	value := func(expression, column string, k int) float64 {
		if f, err := strconv.ParseFloat(cmp.Or(expression, "0"), 64); err == nil {
			return f
		}
		f := b.sum(expression, column, of, k) / units[unit]
		if r.each {
			f /= b.sum(expression, column, metrics["items"], k)
		}
		return f
	}
	cell := func(column string) string {
		return figures(unit, b.median(func(k int) float64 {
			if r.base == "1" {
				return value(r.cost, column, k) - value(r.less, column, k)
			}
			return value(r.cost, column, k)
		}))
	}
	l := line{Work: r.work, Floor: cell("floor"), Lua: cell("lua"), YAML: cell("yaml"), Peers: b.peerTimes(r), Note: b.note(r.note)}
	var ratios [2]float64
	var spreads []float64
	for i, language := range []string{"lua", "yaml"} {
		list := b.each(func(k int) float64 {
			base := value(r.cost, "floor", k)
			if r.base != "" {
				base = value(r.base, language, k)
			}
			return (value(r.cost, language, k) - value(r.less, language, k)) / base
		})
		ratios[i] = median(list)
		if !math.IsNaN(ratios[i]) {
			spreads = append(spreads, spread(list))
		}
	}
	slices.Sort(spreads)
	l.Spread = figures("%", spreads[max(0, len(spreads)-1):]...)
	l.Met = metText(ratios, r.limits)
	if r.limits[0] == r.limits[1] {
		r.limits[1] = math.NaN()
	}
	if r.base != "1" {
		unit = "" // times
	}
	l.Ratio, l.Target = figures(unit, ratios[:]...), strings.TrimSpace("≤ "+figures(unit, r.limits[:]...)+" "+r.than)
	return l
}

// metText says whether ratios are within limits: yes or no, or one word for each language.
func metText(ratios, limits [2]float64) string {
	var words []string
	for i, ratio := range ratios {
		switch {
		case math.IsNaN(ratio):
		case ratio < 0: // a difference of times that vary more than it
			words = append(words, "too noisy")
		case ratio <= limits[i]:
			words = append(words, "yes")
		default:
			words = append(words, "no")
		}
	}
	return cmp.Or(strings.Join(slices.Compact(words), " / "), "not measured")
}

// figures formats numbers with a unit; "-" if none was measured.
func figures(unit string, numbers ...float64) string {
	var words []string
	for _, f := range numbers {
		if !math.IsNaN(f) {
			words = append(words, number(f))
		}
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.TrimSpace(strings.Join(words, " / ") + " " + unit)
}

// number formats a figure with about three significant digits.
func number(f float64) string {
	switch abs := math.Abs(f); {
	case abs >= 100:
		return fmt.Sprintf("%.0f", f)
	case abs >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0")
	}
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

// note replaces expressions in braces by their medians in milliseconds.
func (b *bench) note(text string) string {
	return regexp.MustCompile(`\{[^}]*\}`).ReplaceAllStringFunc(text, func(expression string) string {
		return figures("ms", b.median(func(k int) float64 { return b.sum(strings.Trim(expression, "{}"), "", metrics["wall"], k) }))
	})
}

// peerTimes lists the times of peers.
func (b *bench) peerTimes(r row) string {
	var words []string
	for _, p := range b.installed {
		name := r.cost + "@" + p.binary
		if c := b.commands[name]; c != nil && r.metric == "" {
			took := b.note("{" + name + "}")
			if c.err != nil {
				took = strings.Split(c.err.Error(), ": ")[1]
			}
			words = append(words, p.Name+" "+took)
		}
	}
	return cmp.Or(strings.Join(words, ", "), "-")
}

// table formats lines as a table in Markdown, with their notes below it.
func table(lines []line) string {
	text := "| work | floor | ccm, Lua | ccm, YAML | ratio | ± | target | met | peers |\n|---|---|---|---|---|---|---|---|---|\n"
	for _, l := range lines {
		text += "| " + strings.Join([]string{l.Work, l.Floor, l.Lua, l.YAML, l.Ratio, l.Spread, l.Target, l.Met, l.Peers}, " | ") + " |\n"
	}
	text += "\n"
	for _, l := range lines {
		if l.Note != "" {
			text += "- " + l.Work + ": " + l.Note + ".\n"
		}
	}
	return text
}

// pairTable formats the times of both binaries of ccm, and the medians of the ratios of the rounds, as
// a table in Markdown.
func (b *bench) pairTable() string {
	var w strings.Builder
	w.WriteString("| run | before | after | ratio | processor, before | after | ratio |\n|---|---|---|---|---|---|---|\n")
	for _, c := range b.pairs {
		fmt.Fprintf(&w, "| `%s` |", c.name)
		for _, of := range []metric{metrics["wall"], metrics["cpu"]} {
			before := func(k int) float64 { return of(c.before, c.before.runs[k]) }
			after := func(k int) float64 { return of(c, c.runs[k]) }
			ratio := func(k int) float64 { return after(k) / before(k) }
			fmt.Fprintf(&w, " %s | %s | %s |", figures("ms", b.median(before)), figures("ms", b.median(after)), figures("", b.median(ratio)))
		}
		w.WriteString("\n")
	}
	return w.String()
}

//go:embed performance.md.tmpl
var pageText string

// writePage writes the page about performance.
func (b *bench) writePage(name string) error {
	join := func(text ...string) (string, error) { return shell(strings.Join(text, "")) }
	t, err := template.New("performance.md").Funcs(template.FuncMap{"shell": join}).Parse(pageText)
	if err != nil {
		return err
	}
	var text strings.Builder
	err = t.Execute(&text, map[string]any{
		"CCM": b.binary("ccm"), "Rounds": b.rounds, "Shrink": b.shrink, "Memory": b.places[false], "Disk": b.places[true], "Peers": b.installed, "Table": table(b.lines),
	})
	return errors.Join(err, os.WriteFile(name, []byte(text.String()), 0o644))
}
