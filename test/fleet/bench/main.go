// Bench measures fleets: three nats-servers as ccm fleet init configures them, and nodes, each with its own key and
// TLS connection. The first 1,000 run the agent's code for fleets on a simulated machine: runs do nothing, and the
// node's files are in memory. The others are connections that read and store the same messages without verifying
// signatures: 10,000 machines would have the processors for that, this machine has not.
//
//	go run ./bench -nodes 1000,10000 -out ../../docs/fleet.md
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/test/fleet/crowd"
)

func main() {
	nodes := flag.String("nodes", "1000,10000", "how many nodes, `N` after N")
	machines := flag.Int("machines", 1000, "how `MANY` of them run the code of nodes, but at least 1,000; the others are connections")
	out := flag.String("out", "", "the `FILE` between whose markers the table is written; else it is printed")
	dir := flag.String("dir", "", "where the servers have their data: a `DIRECTORY` on a disk; else that of temporary files")
	flag.Parse()
	debug.SetGCPercent(400) // this process has the heaps of all nodes, and much of them stays in use
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureAll(ctx, *nodes, *machines, *dir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench-fleet:", err)
		os.Exit(1)
	}
}

// measureAll measures fleets of several sizes one after another, and writes the table.
func measureAll(ctx context.Context, sizes string, machines int, dir, out string) error {
	var all []*measurement
	for text := range strings.SplitSeq(sizes, ",") {
		count, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || count < crowd.Few {
			return fmt.Errorf("-nodes: want numbers from %d on, got %q", crowd.Few, text)
		}
		m, err := measure(ctx, count, min(count, max(machines, crowd.Few)), dir)
		if err != nil {
			return fmt.Errorf("%d nodes: %w", count, err)
		}
		all = append(all, m)
	}
	text := table(all)
	if out == "" {
		fmt.Print(text)
		return nil
	}
	return write(out, text)
}

// A measurement has the results for a fleet of one size.
type measurement struct {
	nodes  int
	values map[string]value // by the names of rows
}

// A value is the result of a row for one size.
type value struct {
	text   string
	number float64 // in the unit of the row's target
}

func (m *measurement) set(row string, number float64, format string, args ...any) {
	m.values[row] = value{fmt.Sprintf(format, args...), number}
	fmt.Fprintf(os.Stderr, "%6d nodes: %s: %s\n", m.nodes, row, m.values[row].text)
}
