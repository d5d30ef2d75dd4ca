package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Only failed tests show their output; lines of packages and of other programs are passed on.
func TestEventsAreCounted(t *testing.T) {
	var out bytes.Buffer
	w := newTestWriter(&out)
	for _, part := range []string{ // in pieces, as pipes give them
		"go vet ./...\n{\"Action\":\"out", `put","Package":"p","Test":"TestA","Output":"a speaks\n"}` + "\n",
		`{"Action":"pass","Package":"p","Test":"TestA","Elapsed":2.5}` + "\n",
		`{"Action":"output","Package":"p","Test":"TestB/x","Output":"wrong\n"}` + "\n",
		`{"Action":"fail","Package":"p","Test":"TestB/x","Elapsed":1}` + "\n",
		`{"Action":"fail","Package":"p","Test":"TestB","Elapsed":1}` + "\n",
		`{"Action":"skip","Package":"p","Test":"TestC","Elapsed":0}` + "\n",
		`{"Action":"output","Package":"p","Test":"TestD","Output":"hangs\n"}` + "\n",
		`{"Action":"output","Package":"p","Output":"FAIL\tp\t4s\n"}` + "\n",
	} {
		_, err := w.Write([]byte(strings.ReplaceAll(part, "\n\"", `\n"`)))
		require.NoError(t, err)
	}
	w.Close()
	require.Equal(t, "go vet ./...\nwrong\nFAIL\tp\t4s\np TestD did not end:\nhangs\n", out.String())
	require.Equal(t, counts{passed: 1, failed: 1, skipped: 1, ended: []test{{"p TestA", 2.5}, {"p TestB", 1}, {"p TestC", 0}}}, w.counts)
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	printTable(&out, []result{
		{step: step{name: "lint"}, took: 3 * time.Second},
		{step: step{name: "fleet"}, took: 61 * time.Second, err: errors.New("exit status 1"),
			tests: counts{passed: 1, failed: 1, ended: []test{{"p TestA", 2}, {"p TestB", 58}}}},
		{step: step{name: "browser"}, omitted: "chromium is not installed"},
	})
	require.Equal(t, `
step     seconds  passed  failed  skipped  result
lint     3                                 ok
fleet    61       1       1       0        FAILED: exit status 1
browser  0                                 left out: chromium is not installed
all      64

slowest tests of fleet  seconds
p TestB                 58
p TestA                 2
`, out.String())
}

// A step that hangs is ended with its children, and fails.
func TestDeadline(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & wait")
	require.ErrorContains(t, runWithin(cmd, time.Millisecond), "not finished after 1ms")
}

func TestDeadlinesOfAChange(t *testing.T) {
	var all time.Duration
	for _, s := range levels["change"] {
		all += s.limit
	}
	require.Less(t, all, 90*time.Minute)
}
