package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// slowest is how many tests of each step the table names.
const slowest = 5

// printTable prints a row for each step with its seconds and those of processors, and below the slowest tests of each.
// Steps ran side by side, so that all of them took less than the sum.
func printTable(out io.Writer, results []result, all time.Duration) {
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "step\tseconds\tcpu\tpassed\tfailed\tskipped\tresult")
	var cpu time.Duration
	for _, r := range results {
		cpu += r.cpu
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.step.name, seconds(r.took.Seconds()), seconds(r.cpu.Seconds()), r.tests.cells(), r.text())
	}
	fmt.Fprintf(w, "all\t%s\t%s\n", seconds(all.Seconds()), seconds(cpu.Seconds()))
	for _, r := range results {
		slices.SortStableFunc(r.tests.ended, func(a, b test) int { return cmp.Compare(b.seconds, a.seconds) })
		for i, t := range r.tests.ended {
			if i == slowest || t.seconds < 1 {
				break
			}
			if i == 0 {
				fmt.Fprintf(w, "\nslowest tests of %s\tseconds\n", r.step.name)
			}
			fmt.Fprintf(w, "%s\t%s\n", t.name, seconds(t.seconds))
		}
	}
	w.Flush()
}

// cells returns passed, failed and skipped tests, or nothing if the step has no tests.
func (c counts) cells() string {
	if c.passed+c.failed+c.skipped == 0 {
		return "\t\t"
	}
	return fmt.Sprintf("%d\t%d\t%d", c.passed, c.failed, c.skipped)
}

func (r result) text() string {
	switch {
	case r.omitted != "":
		return "left out: " + r.omitted
	case r.err != nil:
		return "FAILED: " + r.err.Error()
	}
	return "ok"
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 0, 64) }
