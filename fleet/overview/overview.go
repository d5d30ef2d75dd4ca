// Package overview collects the present state of a fleet: its nodes, their last runs, the rollouts
// of releases, and the causes of failures. The terminal and the browser show the same.
//
// Begin with [Read].
package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/diag"
)

// Outcomes of nodes, besides those of runs.
const (
	Silent  = "silent"       // no heartbeat for three minutes
	Unheard = "not heard of" // approved, but its agent never began
	New     = "new"          // no run yet
)

// A Node is a node that operators have approved, with its own data.
type Node struct {
	*roster.Node
	Identity enrol.Node
}

// Outcome returns the outcome of the node's last run, or New.
func (n *Node) Outcome() string {
	if n.State == nil || n.State.Outcome == "" {
		return New
	}
	return n.State.Outcome
}

// Status returns the node's outcome, or Silent, or Unheard.
func (n *Node) Status(now time.Time) string {
	switch {
	case !n.HeardOf():
		return Unheard
	case n.Silent(now):
		return Silent
	}
	return n.Outcome()
}

// LastSeen returns the time of the node's last heartbeat, zero for none.
func (n *Node) LastSeen() time.Time { return n.HeartbeatTime }

// Failure returns the first failure of the node's last run, as one line.
func (n *Node) Failure() string {
	if n.State == nil || len(n.State.Failures) == 0 {
		return ""
	}
	f := n.State.Failures[0]
	line, _, _ := strings.Cut(f.Message, "\n")
	return f.Resource + ": " + line
}

// Trouble returns the failure of the node's last run, or else its first problem, as one line.
func (n *Node) Trouble() string {
	if text := n.Failure(); text != "" || n.State == nil || len(n.State.Problems) == 0 {
		return text
	}
	p := n.State.Problems[0]
	line, _, _ := strings.Cut(p.Message, "\n")
	return string(p.Code) + ": " + line
}

// Options choose the nodes and data to read.
type Options struct {
	Environment string           // "" for all
	Condition   *where.Condition // nil for all
	Facts       bool             // read all, even if the condition does not use them
	// ConditionOnly leaves out all data that the condition does not use.
	ConditionOnly bool
}

// documents returns which documents to read.
func (o Options) documents() roster.Options {
	c := o.Condition
	if c == nil {
		c = new(where.Condition)
	}
	return roster.Options{
		Facts:        c.Facts().With(where.Facts{All: o.Facts}),
		NoStates:     o.ConditionOnly && !c.Asks("state") && !c.Asks("labels"),
		NoHeartbeats: o.ConditionOnly && !c.Asks("seen"),
	}
}

// A List is the nodes of a fleet, by name.
type List struct {
	Nodes []*Node
	Total int // number of nodes, with those that do not match the condition
	// Foreign are nodes whose JWT is signed by none of the keys in fleet.json.
	Foreign []enrol.ForeignNode
}

// Nodes reads the nodes that are not revoked. An error of a condition about a node leaves that node
// out, and is returned with the other nodes.
func Nodes(ctx context.Context, d *enrol.Desk, o Options) (*List, error) {
	var enrolled []enrol.Node
	var foreign []enrol.ForeignNode
	var failed error
	var issued sync.WaitGroup
	issued.Go(func() { enrolled, foreign, failed = d.Nodes(ctx) })
	said, err := roster.ReadAs(ctx, d.Cluster.Conn, o.documents(), func() (map[string]string, error) {
		issued.Wait()
		return enrol.Environments(enrolled), failed
	})
	if err != nil {
		return nil, err
	}
	l := &List{}
	for _, f := range foreign {
		if o.Environment == "" || f.Environment == o.Environment || f.Environment == "" {
			l.Foreign = append(l.Foreign, f)
		}
	}
	by := make(map[string]*roster.Node, len(said))
	for _, n := range said {
		by[n.Name] = n
	}
	now := d.Now()
	var wrong error
	for _, e := range enrolled {
		if e.Revoked || o.Environment != "" && e.Environment != o.Environment {
			continue
		}
		l.Total++
		n := &Node{Node: by[e.Name], Identity: e}
		if n.Node == nil {
			n.Node = &roster.Node{Name: e.Name, Environment: e.Environment}
		}
		if o.Condition != nil {
			ok, err := o.Condition.Holds(n.About(now))
			if err != nil && wrong == nil {
				wrong = fmt.Errorf("%s: %w", e.Name, err)
			}
			if !ok || err != nil {
				continue
			}
		}
		l.Nodes = append(l.Nodes, n)
	}
	return l, wrong
}

// A Count is the number of nodes with the same property.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"nodes"`
}

// An Environment sums up the nodes of an environment.
type Environment struct {
	Name     string              `json:"name"`
	Nodes    int                 `json:"nodes"`
	Outcomes []Count             `json:"outcomes"` // the worst first
	Releases []Release           `json:"releases"` // the newest first
	Rollout  *release.Assessment `json:"rollout,omitempty"`
	Problem  string              `json:"problem,omitempty"` // why the rollout is unknown
}

// A Release is the number of nodes whose last run was of one release.
type Release struct {
	Version int64 `json:"release"` // 0 for none
	N       int   `json:"nodes"`
}

// A Cause is a failure that nodes have in common.
type Cause struct {
	Resource string   `json:"resource"` // or the code of a problem
	Message  string   `json:"message"`
	Nodes    []string `json:"nodes"`
}

// A Fleet sums up all nodes.
type Fleet struct {
	Time         time.Time     `json:"time"`
	Nodes        int           `json:"nodes"`
	Environments []Environment `json:"environments"`
	Causes       []Cause       `json:"causes"`
	// Foreign are nodes that no number includes: fleet.json is old, or foreign keys signed them.
	Foreign []enrol.ForeignNode `json:"not_in_fleet,omitempty"`
	List    []*Node             `json:"-"`
}

// order is the order of outcomes in reports.
var order = []string{"failed", "interrupted", Silent, "changed", "pending", Unheard, New, "stable"}

// rank is the place of an outcome in order.
func rank(outcome string) int {
	if i := slices.Index(order, outcome); i >= 0 {
		return i
	}
	return len(order) // a word of the node's own
}

// ByStatus returns nodes in order of urgency: nodes with a failure or a problem first, then by
// status, then by name.
func ByStatus(list []*Node, now time.Time) []*Node {
	calm := func(n *Node) int {
		if n.State != nil && len(n.State.Failures)+len(n.State.Problems) > 0 {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(slices.Values(list), func(a, b *Node) int {
		return cmp.Or(calm(a)-calm(b), rank(a.Status(now))-rank(b.Status(now)), strings.Compare(a.Name, b.Name))
	})
}

// Read reads the nodes and rollouts, and sums them up.
func Read(ctx context.Context, d *enrol.Desk, o Options) (*Fleet, error) {
	nodes, err := Nodes(ctx, d, o)
	if err != nil {
		return nil, err
	}
	list := nodes.Nodes
	f := &Fleet{Time: d.Now().UTC(), Nodes: nodes.Total, List: list, Causes: Causes(list), Foreign: nodes.Foreign}
	for _, name := range d.Cluster.Directory.Fleet.Environments {
		if o.Environment != "" && name != o.Environment {
			continue
		}
		e := summarize(name, list, f.Time)
		store, err := release.Open(d.Cluster, name, d.Now)
		if err != nil {
			return nil, err
		}
		control, assessment, err := (&release.Controller{Store: store, Clock: d.Now, Environments: d.Environments}).Look(ctx)
		switch {
		case err == nil:
			e.Rollout, e.Problem = assessment, strings.Join(assessment.Problems, "; ")
		case control == nil || control.Release != nil || len(control.Problems) > 0:
			e.Problem = err.Error()
		}
		f.Environments = append(f.Environments, e)
	}
	return f, nil
}

// summarize counts the nodes of an environment.
func summarize(name string, list []*Node, now time.Time) Environment {
	e := Environment{Name: name, Outcomes: []Count{}, Releases: []Release{}}
	outcomes, releases := map[string]int{}, map[int64]int{}
	for _, n := range list {
		if n.Environment != name {
			continue
		}
		e.Nodes++
		outcomes[n.Status(now)]++
		if n.State != nil {
			releases[n.State.Release]++
		}
	}
	for o, n := range outcomes {
		e.Outcomes = append(e.Outcomes, Count{o, n})
	}
	slices.SortFunc(e.Outcomes, func(a, b Count) int { return cmp.Or(rank(a.Name)-rank(b.Name), strings.Compare(a.Name, b.Name)) })
	for v, n := range releases {
		e.Releases = append(e.Releases, Release{v, n})
	}
	slices.SortFunc(e.Releases, func(a, b Release) int { return cmp.Compare(b.Version, a.Version) })
	return e
}

// Causes returns the failures of the last runs and the problems of nodes, most frequent first.
func Causes(list []*Node) []Cause {
	by := map[[2]string]*Cause{}
	add := func(resource, message, node string) {
		line, _, _ := strings.Cut(message, "\n")
		key := [2]string{resource, line}
		if by[key] == nil {
			by[key] = &Cause{Resource: resource, Message: line}
		}
		if names := by[key].Nodes; len(names) == 0 || names[len(names)-1] != node {
			by[key].Nodes = append(names, node)
		}
	}
	for _, n := range list {
		if n.State == nil {
			continue
		}
		for _, f := range n.State.Failures {
			add(f.Resource, f.Message, n.Name)
		}
		for _, p := range n.State.Problems {
			add(string(p.Code), p.Message, n.Name)
		}
	}
	causes := make([]Cause, 0, len(by))
	for _, c := range by {
		causes = append(causes, *c)
	}
	slices.SortFunc(causes, func(a, b Cause) int {
		return cmp.Or(len(b.Nodes)-len(a.Nodes), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Message, b.Message))
	})
	return causes
}

// ErrNoNode says that the fleet has no node of that name.
var ErrNoNode = diag.NotFound("node", "", nil)

// One reads all data of one node.
func One(ctx context.Context, d *enrol.Desk, name string) (*Node, error) {
	list, err := Nodes(ctx, d, Options{Facts: true})
	if err != nil && !errors.Is(err, direct.ErrNone) {
		return nil, err
	}
	for _, n := range list.Nodes {
		if n.Name == name {
			return n, nil
		}
	}
	return nil, ErrNoNode
}

// Skewed reports whether the node's clock is so wrong that it refuses jobs.
func (n *Node) Skewed() bool {
	const most = 5 * time.Minute
	return n.State != nil && (n.State.Skew > most.Seconds() || n.State.Skew < -most.Seconds())
}

// Failed returns the failures of the node's last run.
func (n *Node) Failed() []record.Failure {
	if n.State == nil {
		return nil
	}
	return n.State.Failures
}
