package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/event"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// fillExpires is the time in which nodes may send lost messages again.
const fillExpires = 5 * time.Minute

// A fillResult is the result of filling the gaps of a node.
type fillResult struct {
	Node        string      `json:"node"`
	Environment string      `json:"environment"`
	Gaps        []event.Gap `json:"gaps"`
	Answer      *job.Node   `json:"answer"`
}

// missing returns the number of the node's missing messages.
func (f *fillResult) missing() (n int64) {
	for _, g := range f.Gaps {
		n += g.Messages
	}
	return n
}

// fillGaps finds gaps in the messages of nodes, and asks the nodes to send the messages again.
func (f *eventFlags) fillGaps(ctx context.Context, e *cli.Env, nodes []string) error {
	d, err := f.DeskOf(e, identity.Operator)
	if err != nil {
		return err
	}
	defer d.Cluster.Close()
	if err := f.check(ctx, d, nodes); err != nil {
		return err
	}
	issued, err := d.Environments(ctx)
	if err != nil {
		return err
	}
	if f.environment != "" {
		maps.DeleteFunc(issued, func(_, env string) bool { return env != f.environment })
	}
	gaps, err := (&event.Looker{NC: d.Cluster.Conn, JetStream: d.Cluster.JetStream, Environments: issued, Nodes: nodes}).Gaps(ctx)
	if err != nil {
		return err
	}
	results := fillResults(event.Open(gaps))
	if len(results) == 0 {
		cli.Say(e, "No gaps in the event stream.")
		return nil
	}
	byEnvironment := make(map[string][]*fillResult)
	for _, x := range results {
		byEnvironment[x.Environment] = append(byEnvironment[x.Environment], x)
	}
	for _, environment := range slices.Sorted(maps.Keys(byEnvironment)) {
		sender, err := f.sign.sender(e, d.Cluster, environment)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(byEnvironment[environment], signed.MaxNames) {
			if err := requestMessages(ctx, sender, some); err != nil {
				return err
			}
		}
	}
	return f.printResults(e, results)
}

// fillResults groups gaps by node, in results without an answer yet.
func fillResults(gaps []event.Gap) (list []*fillResult) {
	for _, g := range gaps {
		if len(list) == 0 || list[len(list)-1].Node != g.Node {
			list = append(list, &fillResult{Node: g.Node, Environment: g.Environment})
		}
		last := list[len(list)-1]
		last.Gaps = append(last.Gaps, g)
	}
	return list
}

// requestMessages asks nodes of an environment to send the messages of a period again that includes all
// gaps, and sets their answers.
func requestMessages(ctx context.Context, s *job.Sender, some []*fillResult) error {
	j := &signed.Job{Verb: signed.VerbEvents, Reason: "servers lost events"}
	var names []string
	for _, x := range some {
		names = append(names, x.Node)
		for _, g := range x.Gaps {
			if j.Since.IsZero() || g.Since.Before(j.Since) {
				j.Since = g.Since
			}
			if g.Until.After(j.Until) {
				j.Until = g.Until
			}
		}
	}
	s.Fill(j, names, fillExpires)
	p, err := s.Send(ctx, j, names, nil)
	if p != nil {
		for i, n := range p.ByNode { // both by name
			some[i].Answer = n
		}
	}
	return err
}

// printResults prints the results of filling gaps.
func (f *eventFlags) printResults(e *cli.Env, list []*fillResult) error {
	rows := [][]string{{"NODE", "MISSING", "UNTIL", "ANSWER"}}
	open := 0
	for _, x := range list {
		done := x.Answer != nil && x.Answer.Done()
		if !done {
			open++
		}
		if f.output.Value == "json" {
			if err := e.Print().Line(x); err != nil {
				return err
			}
			continue
		}
		answer := "no answer"
		if x.Answer != nil && x.Answer.Result != nil {
			if answer = words.FirstLine(x.Answer.Result.Message); !done {
				answer = fmt.Sprintf("%s: %s", x.Answer.State, answer)
			}
		}
		last := x.Gaps[len(x.Gaps)-1]
		rows = append(rows, []string{x.Node, strconv.FormatInt(x.missing(), 10), last.Before.Local().Format("2006-01-02 15:04"), answer})
	}
	if f.output.Value == "text" {
		e.Print().Table(rows)
		terminal.Fprintf(e.Stderr, "%d of %s sent their events again\n", len(list)-open, words.Count(len(list), "node"))
	}
	if open > 0 {
		return cli.Status(cli.ExitFailed)
	}
	return nil
}
