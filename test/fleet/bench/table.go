package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The rows of the table.
const (
	rowRestore         = "`ccm fleet init --apply`: all streams, and the approvals of all nodes stored again"
	rowConnect         = "all nodes connect (TLS 1.3, 256 at a time)"
	rowMemoryConnected = "memory of a server when all are connected"
	rowFacts           = "facts (4 KiB) of all nodes stored"
	rowQueryFacts      = "`ccm fleet nodes --where` about a fact, 1 of 4 nodes has it"
	rowReadFacts       = "reading the facts of all nodes, which is the part of it that the servers do"
	rowQueryLabels     = "the same about a label"
	rowRelease         = "release signed, stored, and believed by the last node; its first stage has none"
	rowTaken           = "release for all, and its bundle (10 KiB) taken by the last node"
	rowReported        = "run by the last node, and seen by the rollout"
	rowJob             = "job to all, accepted by the last node"
	rowJobOne          = "job to one, accepted"
	rowBundle          = "bundle of 5 MiB to 1,000 nodes at once"
	rowMemoryAfter     = "memory of a server after all of the above"
	rowIdle            = "processor time of the three servers while nodes are idle"
	rowLost            = "one server killed while all nodes send 50 events"
	rowGap             = "time without an acknowledgement then"
	rowDisk            = "disk of a server at the end"
)

// rows are the rows in order, with the targets for 10,000 nodes in the unit of the row.
var rows = []struct {
	name   string
	most   float64
	wanted string // "" for no target
}{
	{rowRestore, 0, ""},
	{rowConnect, 10, "≤ 10 s"},
	{rowMemoryConnected, 256, "≤ 256 MiB"},
	{rowFacts, 2.5, "≤ 2.5 s"},
	{rowIdle, 0.05, "≤ 0.05 cores"},
	{rowQueryFacts, 0.3, "≤ 300 ms"},
	{rowReadFacts, 0, ""},
	{rowQueryLabels, 0, ""},
	{rowRelease, 0.3, "≤ 300 ms"},
	{rowTaken, 0, ""},
	{rowReported, 0, ""},
	{rowJob, 0.8, "≤ 800 ms"},
	{rowJobOne, 0, ""},
	{rowBundle, 12, "≤ 12 s"},
	{rowMemoryAfter, 1024, "≤ 1 GiB"},
	{rowLost, 0, "none, none"},
	{rowGap, 10, "≤ 10 s"},
	{rowDisk, 0, ""},
}

// table returns the text of the table for all sizes.
func table(all []*measurement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %d cores and %s for three `nats-server`s, all nodes and the operator together; %s. Before it began the load of the machine was %.1f: beyond 1, other work makes the times longer.\n\n| work |",
		time.Now().Format("2006-01-02"), runtime.NumCPU(), memory(), version(), load)
	for _, m := range all {
		fmt.Fprintf(&b, " %s nodes | NATS alone |", thousands(m.nodes))
	}
	b.WriteString(" wanted of 10,000 on a quiet machine |\n|---|" + strings.Repeat("---|---|", len(all)) + "---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, m := range all {
			v, alone := m.values[r.name], m.floor[r.name]
			missed := ""
			switch {
			case r.wanted == "" || v.number <= r.most:
			case alone.number > r.most:
				missed = " (missed, by NATS alone too)"
			default:
				missed = " (missed)"
			}
			fmt.Fprintf(&b, " %s%s | %s |", v.text, missed, alone.text)
		}
		fmt.Fprintf(&b, " %s |\n", r.wanted)
	}
	return b.String()
}

// Markers around the table on the page.
const (
	begin = "<!-- written by make bench-fleet -->\n"
	end   = "<!-- end of what make bench-fleet writes -->\n"
)

// write replaces the table on a page.
func write(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(old, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return fmt.Errorf("%s: expected the lines %q and %q", file, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(file, slices.Concat(before, []byte(begin+"\n"+text+"\n"+end), after), 0o644)
}

// load returns the load average of the last minute (proc_loadavg(5)).
var load = func() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	x, _ := strconv.ParseFloat(first, 64)
	return x
}()

// memory returns the memory of the machine.
func memory() string {
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return fmt.Sprintf("%.0f GiB", kib/(1<<20))
		}
	}
	return "unknown memory"
}

// version returns the version of nats-server in go.mod.
func version() string {
	out, err := exec.Command("go", "list", "-m", "-f", "nats-server {{.Version}}", "github.com/nats-io/nats-server/v2").Output()
	if err != nil {
		return "nats-server"
	}
	return strings.TrimSpace(string(out))
}

// thousands returns a number with thousands separators.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
