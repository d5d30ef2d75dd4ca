package overview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/signed"
)

// An Answer is the result of asking the nodes of a fleet.
type Answer struct {
	// Nodes are the nodes that answered and match the condition, with their present data, by name.
	Nodes []*Node
	// Total is the number of nodes, and Answered the number of those that answered.
	Total, Answered int
	// Offline are nodes without a heartbeat, which were not asked; Unanswered are nodes that were
	// asked, and refused or did not answer in time.
	Offline, Unanswered []string
	Foreign             []enrol.ForeignNode // which cannot be asked, see List
	// ConditionError is the first error of the condition about a node; that node is left out.
	ConditionError error
}

// A Query describes which nodes are asked, and how.
type Query struct {
	Options
	Names []string // only these; nil for all
	// Sender sends the jobs to the nodes of an environment.
	Sender func(environment string) (*job.Sender, error)
	// Timeout is the time limit for the nodes.
	Timeout time.Duration
}

// Ask makes the nodes send their facts and their state again, by a job for each environment, and
// returns the nodes that did. It does not ask nodes without a heartbeat.
func Ask(ctx context.Context, d *enrol.Desk, a Query) (*Answer, error) {
	before, err := Nodes(ctx, d, Options{Environment: a.Environment, Facts: true})
	if err != nil {
		return nil, err
	}
	answer := &Answer{Foreign: before.Foreign}
	known := make(map[string]uint64) // sequences of the present facts
	asked := make(map[string][]string)
	for _, n := range before.Nodes {
		if len(a.Names) > 0 && !slices.Contains(a.Names, n.Name) {
			continue
		}
		answer.Total++
		if n.Silent(d.Now()) {
			answer.Offline = append(answer.Offline, n.Name)
			continue
		}
		known[n.Name] = n.FactsSequence
		asked[n.Environment] = append(asked[n.Environment], n.Name)
	}
	ended, err := askAll(ctx, a, asked)
	if err != nil {
		return nil, err
	}
	after, err := readNewer(ctx, d, a.Environment, known, ended)
	if err != nil {
		return nil, err
	}
	for _, n := range after {
		sequence, was := known[n.Name]
		at, did := ended[n.Name]
		switch {
		case !was:
			continue
		case !did || n.FactsSequence == sequence:
			answer.Unanswered = append(answer.Unanswered, n.Name)
			continue
		}
		answer.Answered++
		n.HeartbeatTime = at
		if a.Condition != nil {
			ok, err := a.Condition.Holds(n.About(d.Now()))
			if err != nil && answer.ConditionError == nil {
				answer.ConditionError = fmt.Errorf("%s: %w", n.Name, err)
			}
			if !ok || err != nil {
				continue
			}
		}
		answer.Nodes = append(answer.Nodes, n)
	}
	return answer, nil
}

// askAll sends the jobs, and returns the times when nodes reported them done.
func askAll(ctx context.Context, a Query, asked map[string][]string) (map[string]time.Time, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		ended = make(map[string]time.Time)
	)
	for environment, names := range asked {
		wg.Go(func() {
			s, err := a.Sender(environment)
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
				return
			}
			j := &signed.Job{Verb: signed.VerbFacts, Condition: manyNames(names)}
			s.Fill(j, names, a.Timeout)
			done := make(map[string]time.Time)
			p, err := s.Send(ctx, j, names, func(p *job.Progress) {
				for _, n := range p.ByNode {
					if n.Done() && done[n.Name].IsZero() {
						done[n.Name] = s.Clock()
					}
				}
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			}
			if p == nil {
				return
			}
			for _, n := range p.ByNode {
				if n.Done() {
					ended[n.Name] = done[n.Name]
					if ended[n.Name].IsZero() {
						ended[n.Name] = s.Clock()
					}
				}
			}
		})
	}
	wg.Wait()
	return ended, errors.Join(errs...)
}

// manyNames returns the condition of a job for more nodes than a job can name.
func manyNames(names []string) string {
	if len(names) > signed.MaxNames {
		return "true"
	}
	return ""
}

// lagging is the longest time that a replica may lag behind.
const lagging = 5 * time.Second

// readNewer reads the nodes until all that answered have newer facts than known. A direct read may
// be answered by a replica that lags.
func readNewer(ctx context.Context, d *enrol.Desk, environment string, known map[string]uint64, ended map[string]time.Time) ([]*Node, error) {
	until := time.Now().Add(lagging)
	for {
		list, err := Nodes(ctx, d, Options{Environment: environment, Facts: true})
		if err != nil {
			return nil, err
		}
		nodes := list.Nodes
		old := slices.ContainsFunc(nodes, func(n *Node) bool {
			_, did := ended[n.Name]
			return did && n.FactsSequence == known[n.Name]
		})
		if !old || time.Now().After(until) {
			return nodes, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
