// Bench measures ccm: whole processes, in turn with the floor programs (floor),
// which do the least that the same work can cost, and with whichever peers are
// installed. It prints a table of what was wanted and what was measured and writes
// docs/performance.md, where the reading of it is explained.
//
//	go run ./test/bench                  everything; about five minutes
//	go run ./test/bench -quick           small sizes, under a minute; for a look
//	go run ./test/bench -only loop,start some rows
//
// Run it from the top of the repository, on a machine that does nothing else.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	rounds   int
	only     string
	quick    bool
	sizes    sizes // full ones if empty
	out      string
	keep     bool
	ccm      string
	floor    string
	dir      string
	disk     string
	peers    bool
	choria   string
	gru      string
	goBench  bool
	patience time.Duration
	lab      bool
	self     string // the binary of this program, "" to measure nothing on one processor
	// Used by a bench that another one has started.
	lines     bool
	throwaway bool
}

func main() {
	o := parse(os.Args[1:])
	if self, err := os.Executable(); err == nil {
		o.self = self
	}
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) options {
	var o options
	fs := flag.NewFlagSet("bench", flag.ExitOnError)
	fs.IntVar(&o.rounds, "rounds", 7, "how often each program runs; medians are told")
	fs.StringVar(&o.only, "only", "", "only these rows, separated by commas: "+strings.Join(keys(), " "))
	fs.BoolVar(&o.quick, "quick", false, "small sizes and 2 rounds: says that all of it works, not how fast it is")
	fs.StringVar(&o.out, "out", "", "write the document to `FILE` (with make bench docs/performance.md)")
	fs.BoolVar(&o.keep, "keep", false, "leave the work directories")
	fs.StringVar(&o.ccm, "ccm", "", "measure this `BINARY` instead of building one")
	fs.StringVar(&o.floor, "floor", "", "the floor `BINARY`, instead of building it")
	fs.StringVar(&o.dir, "dir", "", "work in this `DIR` (default: /dev/shm if it is there)")
	fs.StringVar(&o.disk, "disk", "", "create durable files in this `DIR` too (default: the user's cache directory)")
	fs.BoolVar(&o.peers, "peers", true, "measure the peers that are installed")
	fs.StringVar(&o.choria, "choria", "", "`BINARY` of Choria's ccm")
	fs.StringVar(&o.gru, "gru", "gructl", "`BINARY` of gru")
	fs.BoolVar(&o.goBench, "go", true, "run the Go benchmarks too")
	fs.DurationVar(&o.patience, "patience", 10*time.Second, "how long to wait before each row for other work on the machine to end")
	fs.BoolVar(&o.lab, "lab", false, "measure services in a throw-away system (test/lab; root)")
	fs.BoolVar(&o.lines, "lines", false, "print the lines of the table as JSON")
	fs.BoolVar(&o.throwaway, "throwaway", false, "this is a throw-away system: make units in it")
	_ = fs.Parse(args)
	if o.quick {
		o.sizes = quickSizes
	}
	if o.quick && !given(fs, "rounds") {
		o.rounds = 2
	}
	return o
}

func given(fs *flag.FlagSet, name string) bool {
	found := false
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// run measures and tells.
func run(w io.Writer, o options) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	began := time.Now()
	var failed []error
	for i, r := range chosen {
		fmt.Fprintf(os.Stderr, "%2d/%d %s\n", i+1, len(chosen), r.key)
		if err := b.row(r); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.key, err))
		}
	}
	if o.lines {
		return errors.Join(append(failed, writeLines(w, b.lines))...)
	}
	if o.goBench && o.only == "" {
		fmt.Fprintln(os.Stderr, "Go benchmarks")
		if b.hot, err = b.hotPaths(); err != nil {
			failed = append(failed, err)
		}
	}
	if o.out != "" && o.self != "" {
		fmt.Fprintln(os.Stderr, "on one processor")
		if b.one, err = b.onOneProcessor(o.self); err != nil {
			failed = append(failed, err)
		}
	}
	printTable(w, b.lines)
	for _, note := range notes(b.lines) {
		fmt.Fprintln(w, note)
	}
	fmt.Fprintf(os.Stderr, "took %s\n", time.Since(began).Round(time.Second))
	if o.out != "" {
		failed = append(failed, b.writeDocument(o.out))
	}
	return errors.Join(failed...)
}

// choose returns the rows that are asked for.
func choose(only string) ([]row, error) {
	if only == "" {
		return rows, nil
	}
	var chosen []row
	for key := range strings.SplitSeq(only, ",") {
		at := slices.IndexFunc(rows, func(r row) bool { return r.key == key })
		if at < 0 {
			return nil, fmt.Errorf("-only: no row %q; there are %s", key, strings.Join(keys(), ", "))
		}
		chosen = append(chosen, rows[at])
	}
	return chosen, nil
}

func keys() []string {
	list := make([]string, len(rows))
	for i, r := range rows {
		list[i] = r.key
	}
	return list
}
