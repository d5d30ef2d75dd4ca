// Bench measures fleets: three nats-servers as ccm fleet init configures them, and nodes, each with its own key and
// TLS connection. In a fleet of 1,000 all run the agent's code for fleets on a simulated machine: runs do nothing, and
// the node's files are in memory. In a larger fleet one of a hundred does. The others are connections that read and
// store the same messages at the same times, and verify no signature: nodes have processors of their own for that, and
// here they would take those of the servers.
//
//	go run ./bench -nodes 1000,10000 -out bench.md
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
	out := flag.String("out", "", "write the table between the markers of `FILE` (default: print it)")
	dir := flag.String("dir", "", "`DIRECTORY` on a disk for the data of the servers (default: temporary)")
	flag.Parse()
	debug.SetGCPercent(400) // this process has the heaps of all nodes, and much of them stays in use
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureAll(ctx, *nodes, *dir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench-fleet:", err)
		os.Exit(1)
	}
}

// measureAll measures fleets of several sizes one after another, and writes the table.
func measureAll(ctx context.Context, sizes, dir, out string) error {
	var all []*measurement
	for text := range strings.SplitSeq(sizes, ",") {
		count, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || count < crowd.Few {
			return fmt.Errorf("-nodes: expected numbers from %d on, got %q", crowd.Few, text)
		}
		m, err := measure(ctx, count, machinesOf(count), dir)
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

// machinesOf returns how many nodes of a fleet run the agent's code.
func machinesOf(nodes int) int {
	if nodes == crowd.Few {
		return nodes
	}
	return nodes / 100
}

// A measurement has the results for a fleet of one size.
type measurement struct {
	nodes  int
	values map[string]value // by the names of rows
	floor  map[string]value // what NATS alone takes
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
