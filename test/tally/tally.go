// Package tally counts what tests try, so that the table in docs/reliability.md says
// what the tests did and not what somebody remembers of them. `make reliability` runs
// the tests that use it and writes the table.
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

// Variable names the environment variable that holds the file to which counts are
// written. Without it nothing is written.
const Variable = "CCM_TALLY"

// ShortVariable names the variable that has the counts written of the short forms.
const ShortVariable = "CCM_TALLY_SHORT"

// A Row is what one test counted, and one line of the table.
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

// Of returns a counter for a row of the table: what the test breaks and what must hold
// then. The counts are written when the test ends. One that is skipped writes none.
// Subtests may each have a counter with the same words: their counts are added.
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

// Fail counts one failure and says what failed. The test goes on. A test that fails in
// any other way counts as one failure.
func (c *Counter) Fail(format string, args ...any) {
	c.t.Helper()
	c.failed.Add(1)
	c.t.Errorf(format, args...)
}

// Times returns how often to try: long when the table is written, short otherwise.
func Times(short, long int) int {
	if os.Getenv(Variable) != "" && os.Getenv(ShortVariable) == "" {
		return long
	}
	return short
}

// write appends one line, so that the tests of several processes can share a file.
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
