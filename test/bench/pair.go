//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A binaryPair is a run of ccm beside the same run of another binary of ccm (-before).
type binaryPair struct {
	row           string
	before, after *program
}

// withBefore puts a run of the other binary before each run of ccm. Each has a state of its
// own: to find the record of another version is more work than to find one's own.
func (b *bench) withBefore(programs []*program) (all []*program) {
	for _, p := range programs {
		if b.before != "" && p.argv[0] == b.ccm {
			other := *p
			other.argv = slices.Clone(p.argv)
			other.argv[0] = b.before
			for i, arg := range other.argv {
				if arg == filepath.Join(p.state, "ccm") {
					other.argv[i] = filepath.Join(p.state, "before")
				}
			}
			b.pairs = append(b.pairs, binaryPair{b.current, &other, p})
			all = append(all, &other)
		}
		all = append(all, p)
	}
	return all
}

// processor returns the processor time of a run, in milliseconds.
func processor(o outcome) float64 { return float64(o.CPU) / 1e6 }

// pairTable writes what both binaries take, and the medians of the ratios of the rounds.
func (b *bench) pairTable() string {
	var w strings.Builder
	w.WriteString("| row | run of | before | after | ratio | processor before | after | ratio |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range b.pairs {
		fmt.Fprintf(&w, "| %s | %s", p.row, p.after.name)
		for _, of := range []func(outcome) float64{wall, processor} {
			ratio := b.paired(func(k int) float64 { return of(p.after.runs[k]) / of(p.before.runs[k]) })
			fmt.Fprintf(&w, " | %s ms | %s ms | %s", number(p.before.median(of)), number(p.after.median(of)), number(ratio))
		}
		w.WriteString(" |\n")
	}
	return w.String()
}
