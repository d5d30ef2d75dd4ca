// Command steps runs the steps of CI, all of them even if one fails, and prints one table of them at the end:
//
//	go run ./.ci/steps change         what each change has to pass (.ci/run)
//	go run ./.ci/steps night          everything else (make nightly)
//	go run ./.ci/steps change fleet   only the step fleet of these
//	go run ./.ci/steps stress 6       test-all, fleet and browser six times under load (make stress)
//
// It exits with 1 if a step failed. A step that reaches its deadline fails; the deadlines end only what hangs.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	if len(only) > 0 {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return !slices.Contains(only, s.name) })
	}
	begin := time.Now()
	results := runLanes(steps, os.Stdout)
	printTable(os.Stdout, results, time.Since(begin))
	if slices.ContainsFunc(results, func(r result) bool { return r.err != nil }) {
		return 1
	}
	return 0
}

// runLanes runs steps by their lanes, and returns their results in the order of the steps. Steps that run beside others
// print when they start, and their output when they end.
func runLanes(steps []step, out io.Writer) []result {
	results := make([]result, len(steps))
	lanes := map[int][]int{}
	for i, s := range steps {
		if s.lane == 0 {
			fmt.Fprintf(out, "\n== %s: %s\n", s.name, s.command)
			results[i] = s.run(out)
		} else {
			lanes[s.lane] = append(lanes[s.lane], i)
		}
	}
	var running sync.WaitGroup
	var printing sync.Mutex
	for _, lane := range lanes {
		running.Go(func() {
			for _, i := range lane {
				var output bytes.Buffer
				write := func(format string, args ...any) {
					printing.Lock()
					defer printing.Unlock()
					fmt.Fprintf(out, format, args...)
				}
				write("\n== %s starts\n", steps[i].name)
				results[i] = steps[i].run(&output)
				write("\n== %s: %s\n%s", steps[i].name, steps[i].command, &output)
			}
		})
	}
	running.Wait()
	return results
}

// A result is what came of one step.
type result struct {
	step  step
	took  time.Duration
	cpu   time.Duration // processor time of the step and of all its children that ended
	tests counts
	// omitted is why the step was not run, err why it failed.
	omitted string
	err     error
}

// run runs the step, and writes its output. Tests run with go test -json, of which only the closing lines of packages and
// the output of failed tests are written.
func (s step) run(out io.Writer) result {
	if s.needs != "" {
		if text, err := exec.Command("sh", "-c", s.needs).CombinedOutput(); err != nil {
			why := strings.TrimSpace(string(text))
			if why == "" {
				why = s.needs + ": " + err.Error()
			}
			fmt.Fprintln(out, "left out:", why)
			return result{step: s, omitted: why}
		}
	}
	out = &syncWriter{out: out}
	tests := newTestWriter(out)
	cmd := exec.Command("sh", "-c", s.command)
	cmd.Env = append(os.Environ(), "TESTFLAGS=-json", "BUILD="+ccm)
	if _, err := os.Stat(ccm); err == nil { // suites test it instead of building their own
		cmd.Env = append(cmd.Env, "CCM="+ccm)
	}
	cmd.Stdout, cmd.Stderr = tests, out
	begin := time.Now()
	err := runWithin(cmd, s.limit, out)
	tests.Close()
	r := result{step: s, took: time.Since(begin), tests: tests.counts, err: err}
	if state := cmd.ProcessState; state != nil {
		r.cpu = state.UserTime() + state.SystemTime()
	}
	return r
}

// A syncWriter takes standard output and standard error of one command.
type syncWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *syncWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}
