//go:build linux

// Bench measures ccm: whole processes, in turn with the floor programs (floor),
// which do the least that the same work can cost, and with whichever peers are
// installed. It prints a table of targets and results and writes docs/performance.md,
// which explains how to read the table. rows.go has the rows.
//
//	go run ./test/bench                   everything; about five minutes
//	go run ./test/bench -quick            small sizes, under a minute; for a look
//	go run ./test/bench -only loop,empty  some rows
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
)

// options are the flags of the command line.
type options struct {
	rounds                 int
	shrink                 int // sizes are divided by it
	only, out, ccm, before string
	dir, disk              string
	peers                  bool
}

func main() {
	if err := run(os.Stdout, parse(os.Args[1:])); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options) {
	memory := "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		memory = os.TempDir()
	}
	disk, err := os.UserCacheDir()
	if err != nil {
		disk = os.TempDir()
	}
	fs := flag.NewFlagSet("bench", flag.ExitOnError)
	fs.IntVar(&o.rounds, "rounds", 7, "how often each program runs; the table has medians")
	quick := fs.Bool("quick", false, "a twentieth of the work, in 2 rounds: a test of the benchmark")
	fs.StringVar(&o.only, "only", "", "only these rows, separated by commas: "+strings.Join(keys(), " "))
	fs.StringVar(&o.out, "out", "", "write the document to `FILE` (with make bench docs/performance.md)")
	fs.StringVar(&o.ccm, "ccm", "", "measure this `BINARY` instead of building one")
	fs.StringVar(&o.before, "before", "", "run this other `BINARY` of ccm in turn, and print how the two compare")
	fs.StringVar(&o.dir, "dir", memory, "work in this `DIR`")
	fs.StringVar(&o.disk, "disk", disk, "create durable files in this `DIR` too")
	fs.BoolVar(&o.peers, "peers", true, "measure the peers that are installed")
	_ = fs.Parse(args)
	if o.shrink, o.rounds = 1, max(1, o.rounds); *quick {
		o.shrink, o.rounds = 20, 2
	}
	return o
}

// run measures the rows that are asked for, and writes the table.
func run(w io.Writer, o options) error {
	wanted := keys()
	if o.only != "" {
		wanted = strings.Split(o.only, ",")
	}
	for _, key := range wanted {
		if !slices.Contains(keys(), key) {
			return fmt.Errorf("-only: no row %q; rows: %s", key, strings.Join(keys(), ", "))
		}
	}
	b, err := newBench(o)
	for _, dir := range b.places {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return err
	}
	var failed []error
	for _, g := range groups {
		if slices.Contains(wanted, g.key) {
			fmt.Fprintln(os.Stderr, g.key)
			failed = append(failed, b.measure(g))
		}
	}
	fmt.Fprint(w, table(b.lines))
	if o.before != "" {
		fmt.Fprint(w, b.pairTable())
	}
	if o.out != "" {
		failed = append(failed, b.writePage(o.out))
	}
	return errors.Join(failed...)
}

// keys are the names of the groups of rows.
func keys() (list []string) {
	for _, g := range groups {
		list = append(list, g.key)
	}
	return list
}
