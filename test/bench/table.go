//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A line is one line of the table.
type line struct {
	Key   string
	Work  string
	Floor string
	Lua   string
	YAML  string
	// Value is what the target speaks of, for a script and for a manifest: 0 if that
	// was not measured.
	Value    [2]float64
	Limits   [2]float64 // that the target sets; 0 for none
	Unit     string     // of Value and Limits; "" is times
	Baseline string     // what Value is measured against; "" is the floor
	Peers    string
	Note     string
	Noisy    bool // others used the machine meanwhile
}

// both is a target for scripts and manifests alike.
func both(limit float64) [2]float64 { return [2]float64{limit, limit} }

// Ratio returns what was measured, as the target counts it.
func (l line) Ratio() string { return pair(l.Value, l.Unit) }

// Target returns what is wanted.
func (l line) Target() string {
	limits := l.Limits
	if limits[0] == limits[1] {
		limits[1] = 0
	}
	text := pair(limits, l.Unit)
	if text == "" {
		return ""
	}
	if l.Baseline != "" {
		text += " " + l.Baseline
	}
	return "≤ " + text
}

// Met says whether the target is met: yes or no, or of both languages, or
// nothing.
func (l line) Met() string {
	var words []string
	for i, of := range l.Value {
		if of == 0 || l.Limits[i] == 0 {
			continue
		}
		word := "no"
		switch {
		case of < 0:
			word = "too noisy"
		case of <= l.Limits[i]:
			word = "yes"
		}
		words = append(words, word)
	}
	if len(words) == 2 && words[0] == words[1] {
		words = words[:1]
	}
	return strings.Join(words, " / ")
}

func pair(of [2]float64, unit string) string {
	var words []string
	for _, f := range of {
		if f != 0 {
			words = append(words, number(f))
		}
	}
	text := strings.Join(words, " / ")
	if text != "" && unit != "" {
		text += " " + unit
	}
	return text
}

// number writes a figure with as many digits as are worth reading.
func number(f float64) string {
	digits := 2
	switch abs := max(f, -f); {
	case abs >= 100:
		digits = 0
	case abs >= 10:
		digits = 1
	}
	text := fmt.Sprintf("%.*f", digits, f)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// columns are the heads of the table.
var columns = []string{"work", "floor", "ccm, Lua", "ccm, YAML", "ratio", "target", "met", "peers"}

func (l line) cells() []string {
	work := l.Work
	if l.Noisy {
		work += " *"
	}
	return []string{work, or(l.Floor, "-"), or(l.Lua, "-"), or(l.YAML, "-"), or(l.Ratio(), "-"), or(l.Target(), "-"), or(l.met(), "-"), or(l.Peers, "-")}
}

func (l line) met() string {
	switch {
	case l.Met() != "":
		return l.Met()
	case l.Lua == "" && l.YAML == "":
		return "not measured"
	}
	return ""
}

// or returns the first text that is not empty.
func or(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// printTable prints the table and its notes for a terminal.
func printTable(w io.Writer, lines []line) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(columns, "\t"))
	for _, l := range lines {
		fmt.Fprintln(tw, strings.Join(l.cells(), "\t"))
	}
	_ = tw.Flush()
	for _, note := range notes(lines) {
		fmt.Fprintln(w, note)
	}
}

// notes lists what has to be said of lines.
func notes(lines []line) []string {
	var list []string
	noisy := false
	for _, l := range lines {
		if l.Note != "" {
			list = append(list, l.Work+": "+l.Note+".")
		}
		noisy = noisy || l.Noisy
	}
	if noisy {
		list = append(list, "*: other work used the machine meanwhile.")
	}
	return list
}

// markdown writes the table for a page.
func markdown(lines []line) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(l.cells(), " | "), "\n", " "))
	}
	return b.String()
}
