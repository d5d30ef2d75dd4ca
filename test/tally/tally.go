// Package tally counts the tries of tests, so that the table in test/reliability/counts.md shows what the tests have really
// done. `make reliability` runs the tests that use it and writes the table.
//
//	func TestKilledAnywhere(t *testing.T) {
//		tries := tally.Of(t, "the process ends at any step of a run", "the next run converges")
//		for n := range tally.Times(20, 2000) {
//			tries.Add(1)
//			...
//		}
//	}
package tally

import (
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// Variable is the environment variable with the file for the counts. Without it nothing is written.
const Variable = "CCM_TALLY"

// ShortVariable is the variable that makes short forms of tests write counts too.
const ShortVariable = "CCM_TALLY_SHORT"

// A Row has the counts of one test, and is one line of the table.
type Row struct {
	Test   string `json:"test"`
	Broken string `json:"broken"`
	Holds  string `json:"holds"`
	Tried  int64  `json:"tried"`
	Failed int64  `json:"failed"`
}

// A Counter counts tries. It may be used by several goroutines.
type Counter struct {
	t             testing.TB
	tried, failed atomic.Int64
}

// Of returns a counter for a row of the table: what the test breaks, and what must hold then. The counts are written
// at the end of the test, unless it is skipped. Counters of subtests with the same words are added up.
func Of(t testing.TB, broken, holds string) *Counter {
	c := &Counter{t: t}
	t.Cleanup(func() {
		file := os.Getenv(Variable)
		if file == "" || t.Skipped() {
			return
		}
		test, _, _ := strings.Cut(t.Name(), "/")
		row := Row{Test: test, Broken: broken, Holds: holds, Tried: c.tried.Load(), Failed: c.failed.Load()}
		if t.Failed() {
			row.Failed = max(row.Failed, 1)
		}
		if err := write(file, row); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Add counts n tries.
func (c *Counter) Add(n int) { c.tried.Add(int64(n)) }

// Fail counts one failure and logs it. The test goes on. A test that fails in any other way counts as one failure.
func (c *Counter) Fail(format string, args ...any) {
	c.t.Helper()
	c.failed.Add(1)
	c.t.Errorf(format, args...)
}

// Times returns the number of tries: long when the table is written, short otherwise.
func Times(short, long int) int {
	if os.Getenv(Variable) != "" && os.Getenv(ShortVariable) == "" {
		return long
	}
	return short
}

// write appends one line, so that tests in several processes can share a file.
func write(file string, row Row) error {
	line, err := json.Marshal(row)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
