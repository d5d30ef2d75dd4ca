// Command steps runs the steps of CI one after the other, all of them even if one fails, and prints one table of them
// at the end:
//
//	go run ./.ci/steps change         what each change has to pass (.ci/run)
//	go run ./.ci/steps night          everything else (make nightly)
//	go run ./.ci/steps change fleet   only the step fleet of these
//	go run ./.ci/steps stress 6       test-all, fleet and browser six times under load (make stress)
//
// It exits with 1 if a step failed. A step that reaches its deadline fails; the deadlines end only what hangs.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ccm is the binary that the step hello builds for the steps after it.
var ccm string

func main() {
	os.Exit(run())
}

func run() int {
	dir, err := os.MkdirTemp("", "ccm-ci-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	_ = os.Chmod(dir, 0o755) // tests run it as other users
	ccm = filepath.Join(dir, "ccm")
	if len(os.Args) == 3 && os.Args[1] == "stress" {
		rounds, err := strconv.Atoi(os.Args[2])
		if err != nil || rounds < 1 {
			fmt.Fprintf(os.Stderr, "want a number of rounds, got %q\n", os.Args[2])
			return 2
		}
		if !stress(rounds) {
			return 1
		}
		return 0
	}
	if len(os.Args) < 2 || levels[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: go run ./.ci/steps change|night [STEP...], or stress ROUNDS")
		return 2
	}
	steps, only := levels[os.Args[1]], os.Args[2:]
	for _, name := range only {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.name == name }) {
			fmt.Fprintf(os.Stderr, "unknown step %q\n", name)
			return 2
		}
	}
	var results []result
	for _, s := range steps {
		if len(only) == 0 || slices.Contains(only, s.name) {
			results = append(results, s.run())
		}
	}
	printTable(os.Stdout, results)
	if slices.ContainsFunc(results, func(r result) bool { return r.err != nil }) {
		return 1
	}
	return 0
}

// A result is what came of one step.
type result struct {
	step  step
	took  time.Duration
	tests counts
	// omitted is why the step was not run, err why it failed.
	omitted string
	err     error
}

// run runs the step with its output on that of this process. Tests run with go test -json, of which only the closing
// lines of packages and the output of failed tests are printed.
func (s step) run() result {
	fmt.Printf("\n== %s: %s\n", s.name, s.command)
	if s.needs != "" {
		if out, err := exec.Command("sh", "-c", s.needs).CombinedOutput(); err != nil {
			why := strings.TrimSpace(string(out))
			if why == "" {
				why = s.needs + ": " + err.Error()
			}
			fmt.Println("left out:", why)
			return result{step: s, omitted: why}
		}
	}
	tests := newTestWriter(os.Stdout)
	cmd := exec.Command("sh", "-c", s.command)
	cmd.Env = append(os.Environ(), "TESTFLAGS=-json", "BUILD="+ccm)
	if _, err := os.Stat(ccm); err == nil { // suites test it instead of building their own
		cmd.Env = append(cmd.Env, "CCM="+ccm)
	}
	cmd.Stdout, cmd.Stderr = tests, os.Stderr
	begin := time.Now()
	err := runWithin(cmd, s.limit)
	tests.Close()
	return result{step: s, took: time.Since(begin), tests: tests.counts, err: err}
}
