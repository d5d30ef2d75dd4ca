package main

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
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
		`{"Action":"fail","Package":"p","Test":"TestB/x","Elapsed":3}` + "\n",
		`{"Action":"fail","Package":"p","Test":"TestB","Elapsed":1}` + "\n",
		`{"Action":"skip","Package":"p","Test":"TestC","Elapsed":0}` + "\n",
		`{"Action":"output","Package":"p","Test":"TestD","Output":"hangs\n"}` + "\n",
		`{"Action":"output","Package":"p","Output":"FAIL\tp\t4s\n"}` + "\n",
		`{"Action":"fail","Package":"p","Elapsed":4}` + "\n",
		`{"Action":"fail","Package":"q","Elapsed":0}` + "\n",
	} {
		_, err := w.Write([]byte(strings.ReplaceAll(part, "\n\"", `\n"`)))
		require.NoError(t, err)
	}
	w.Close()
	require.Equal(t, "go vet ./...\nwrong\nFAIL\tp\t4s\np TestD did not end:\nhangs\n", out.String())
	require.Equal(t, counts{passed: 1, failed: 1, skipped: 1, ended: []test{{"p TestA", 2.5}, {"p TestB", 3}, {"p TestC", 0}},
		failures: []string{"p TestB", "q", "p TestD"}}, w.counts)
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	printTable(&out, []result{
		{step: step{name: "lint"}, took: 3 * time.Second, cpu: 5 * time.Second},
		{step: step{name: "fleet"}, took: 61 * time.Second, cpu: 40 * time.Second, err: errors.New("exit status 1"),
			tests: counts{passed: 1, failed: 1, ended: []test{{"p TestA", 2}, {"p TestB", 58}}}},
		{step: step{name: "browser"}, omitted: "chromium is not installed"},
	}, 62*time.Second)
	require.Equal(t, `
step     seconds  cpu  passed  failed  skipped  result
lint     3        5                             ok
fleet    61       40   1       1       0        FAILED: exit status 1
browser  0        0                             left out: chromium is not installed
all      62       45

slowest tests of fleet  seconds
p TestB                 58
p TestA                 2
`, out.String())
}

// A step that hangs is ended with its children, and fails.
func TestDeadline(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & wait")
	require.ErrorContains(t, runWithin(cmd, time.Millisecond, io.Discard), "not finished after 1ms")
}

func TestDeadlinesOfAChange(t *testing.T) {
	lanes := map[int]time.Duration{}
	for _, s := range levels["change"] {
		lanes[s.lane] += s.limit
	}
	for lane, limit := range lanes {
		if lane != 0 {
			require.Less(t, lanes[0]+limit, 85*time.Minute)
		}
	}
}

// Lanes run side by side, each step of a lane after the one before it, and their outputs are not mixed.
func TestLanes(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, exec.Command("mkfifo", fifo).Run())
	var out bytes.Buffer
	results := runLanes([]step{
		{name: "first", limit: time.Minute, command: "echo built > " + dir + "/built"},
		{name: "reads", lane: 1, limit: time.Minute, command: "cat " + dir + "/built; cat " + fifo}, // waits for the other lane
		{name: "after", lane: 1, limit: time.Minute, command: "echo after; exit 3"},
		{name: "writes", lane: 2, limit: time.Minute, command: "echo through > " + fifo},
	}, &out)
	require.Len(t, results, 4)
	require.NoError(t, results[1].err)
	require.ErrorContains(t, results[2].err, "exit status 3")
	require.Contains(t, out.String(), "; cat "+fifo+"\nbuilt\nthrough\n")
	require.Contains(t, out.String(), "exit 3\nafter\n")
}

// Four rounds have both numbers of threads, each with and without privileges.
func TestRounds(t *testing.T) {
	seen := map[[2]any]bool{}
	for i := range 4 {
		r := roundAt(i, true)
		seen[[2]any{r.threads, r.withoutPrivilege}] = true
		require.Equal(t, r.withoutPrivilege, strings.Contains(strings.Join(r.command("test-all").Args, " "), "without-home"))
		require.NotContains(t, r.command("fleet").Args[2], "without-home")
		require.False(t, roundAt(i, false).withoutPrivilege)
	}
	require.Len(t, seen, 4)
}

func TestFailuresAreCounted(t *testing.T) {
	var out bytes.Buffer
	printFailures(&out, 3, map[string][]round{"p TestA": {roundAt(1, true)}, "p TestB": {roundAt(0, true), roundAt(2, true)}})
	require.Equal(t, `
failed  test     under
2 of 3  p TestB  GOMAXPROCS=1 TZ=Asia/Kathmandu LANG=tr_TR.UTF-8; GOMAXPROCS=1 TZ=Pacific/Chatham LANG=C without a home
1 of 3  p TestA  GOMAXPROCS=2 TZ=America/St_Johns LANG=de_DE.ISO-8859-1
`, out.String())
	out.Reset()
	printFailures(&out, 3, nil)
	require.Equal(t, "\nnothing failed in 3 rounds\n", out.String())
}
