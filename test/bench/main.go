//go:build linux

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
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	rounds                                      int
	only, out, ccm, before, floor, dir, disk    string
	choria, gru                                 string
	quick, keep, peers, goBench, lab, throwaway bool
	lines                                       bool          // the table as JSON, for a bench that started this one
	patience                                    time.Duration // with other work on the machine, before each row
	sizes                                       sizes
	self                                        string // the binary of this program, "" to measure nothing on one processor
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

func parse(args []string) (o options) {
	fs := flag.NewFlagSet("bench", flag.ExitOnError)
	fs.IntVar(&o.rounds, "rounds", 0, "how often each program runs (default 7, with -quick 2); the table has medians")
	fs.StringVar(&o.only, "only", "", "only these rows, separated by commas: "+strings.Join(keys(), " "))
	fs.BoolVar(&o.quick, "quick", false, "small sizes and 2 rounds: says that all of it works, not how fast it is")
	fs.StringVar(&o.out, "out", "", "write the document to `FILE` (with make bench docs/performance.md)")
	fs.BoolVar(&o.keep, "keep", false, "leave the work directories")
	fs.StringVar(&o.ccm, "ccm", "", "measure this `BINARY` instead of building one")
	fs.StringVar(&o.before, "before", "", "run this other `BINARY` of ccm in turn, and print how the two compare")
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
	o.sizes = fullSizes
	if o.quick {
		o.sizes = quickSizes
	}
	if o.rounds == 0 {
		o.rounds = 7
		if o.quick {
			o.rounds = 2
		}
	}
	return o
}

// run measures the rows that are asked for, and writes the table.
func run(w io.Writer, o options) error {
	wanted := strings.Split(o.only, ",")
	for _, key := range wanted {
		if o.only != "" && !slices.Contains(keys(), key) {
			return fmt.Errorf("-only: no row %q; there are %s", key, strings.Join(keys(), ", "))
		}
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	began := time.Now()
	var failed []error
	for i, r := range rows {
		if o.only != "" && !slices.Contains(wanted, r.key) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%2d/%d %s\n", i+1, len(rows), r.key)
		if err := b.row(r); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.key, err))
		}
	}
	if o.lines {
		return errors.Join(append(failed, json.NewEncoder(w).Encode(b.lines))...)
	}
	if o.goBench && o.only == "" {
		fmt.Fprintln(os.Stderr, "Go benchmarks")
		b.hot, err = b.hotPaths()
		failed = append(failed, err)
	}
	if o.out != "" && o.self != "" {
		fmt.Fprintln(os.Stderr, "on one processor")
		b.singleCore, err = b.onOneProcessor()
		failed = append(failed, err)
	}
	printTable(w, b.lines)
	if b.before != "" {
		fmt.Fprint(w, b.pairTable())
	}
	fmt.Fprintf(os.Stderr, "took %s\n", time.Since(began).Round(time.Second))
	if o.out != "" {
		failed = append(failed, b.writeDocument(o.out))
	}
	return errors.Join(failed...)
}

// keys are the names of the rows.
func keys() (list []string) {
	for _, r := range rows {
		list = append(list, r.key)
	}
	return list
}

// oneProcessorRows are the rows that are measured on one processor too.
const oneProcessorRows = "empty,stable,create,drift,execs"

// onOneProcessor measures some rows again with all programs confined to one processor
// (taskset(1)), which is a machine of half the speed for what can be done side by side
// and of the same speed for the rest.
func (b *bench) onOneProcessor() ([]line, error) {
	argv := []string{"taskset", "-c", "0", b.self, "-only", oneProcessorRows}
	for flag, dir := range map[string]string{"-dir": b.options.dir, "-disk": b.options.disk} {
		if dir != "" {
			argv = append(argv, flag, dir)
		}
	}
	return b.elsewhere(append(argv, "-ccm", b.ccm, "-floor", b.floor)...)
}

// elsewhere has another bench measure, and returns its lines.
func (b *bench) elsewhere(argv ...string) (lines []line, err error) {
	argv = append(argv, "-lines", "-rounds", fmt.Sprint(b.rounds), fmt.Sprintf("-quick=%v", b.quick))
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s: %w\n%s", argv[0], err, exit.Stderr)
	}
	if err == nil {
		err = json.Unmarshal(out, &lines)
	}
	return lines, err
}
