package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// suites are the targets of make that stress runs.
var suites = []string{"test-all", "fleet", "browser"}

// A round is one run of all suites under unusual conditions.
type round struct {
	threads          int // GOMAXPROCS
	zone, language   string
	withoutPrivilege bool // test-all as an account without a home, which needs root
}

// roundAt returns the conditions of a round, counted from 0.
func roundAt(i int, isRoot bool) round {
	zones := []string{"Asia/Kathmandu", "America/St_Johns", "Pacific/Chatham"}
	languages := []string{"tr_TR.UTF-8", "de_DE.ISO-8859-1", "C"}
	return round{1 + i%2, zones[i%len(zones)], languages[i%len(languages)], isRoot && i/2%2 == 1}
}

// String names the conditions in the table.
func (r round) String() string {
	text := fmt.Sprintf("GOMAXPROCS=%d TZ=%s LANG=%s", r.threads, r.zone, r.language)
	if r.withoutPrivilege {
		text += " without a home"
	}
	return text
}

// command returns the command of a suite in this round. The seeds of -shuffle are in the output.
func (r round) command(suite string) *exec.Cmd {
	flags := "-json -count=1 -shuffle=on"
	if r.withoutPrivilege && suite == "test-all" {
		script, _ := filepath.Abs(".ci/steps/without-home")
		flags += " -exec " + script
	}
	cmd := exec.Command("make", suite, "TESTFLAGS="+flags)
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", r.threads), "TZ="+r.zone, "LANG="+r.language, "LC_ALL="+r.language)
	return cmd
}

// stress runs all suites in a number of rounds while every processor is busy, and prints what failed how often. It
// reports whether nothing failed.
func stress(rounds int) bool {
	runtime.GOMAXPROCS(runtime.NumCPU() + 1)
	var done atomic.Bool
	defer done.Store(true)
	for range runtime.NumCPU() {
		go func() {
			for !done.Load() { // uses a processor
			}
		}()
	}
	failures := map[string][]round{} // by test
	for i := range rounds {
		r := roundAt(i, os.Geteuid() == 0)
		for _, suite := range suites {
			fmt.Printf("\n== round %d of %d, %s: %v\n", i+1, rounds, suite, r)
			tests := newTestWriter(os.Stdout)
			cmd := r.command(suite)
			cmd.Stdout, cmd.Stderr = tests, os.Stderr
			err := runWithin(cmd, 3*time.Hour, os.Stderr)
			tests.Close()
			if err != nil && len(tests.failures) == 0 {
				tests.failures = []string{"make " + suite + ": " + err.Error()}
			}
			for _, name := range tests.failures {
				failures[name] = append(failures[name], r)
			}
		}
	}
	printFailures(os.Stdout, rounds, failures)
	return len(failures) == 0
}

// printFailures prints a row for each test that failed, with its rounds; the most frequent first.
func printFailures(out io.Writer, rounds int, failures map[string][]round) {
	fmt.Fprintln(out)
	if len(failures) == 0 {
		fmt.Fprintf(out, "nothing failed in %d rounds\n", rounds)
		return
	}
	names := slices.SortedFunc(maps.Keys(failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(failures[b]), len(failures[a])), cmp.Compare(a, b))
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "failed\ttest\tunder")
	for _, name := range names {
		var under []string
		for _, r := range failures[name] {
			under = append(under, r.String())
		}
		fmt.Fprintf(w, "%d of %d\t%s\t%s\n", len(under), rounds, name, strings.Join(under, "; "))
	}
	w.Flush()
}
