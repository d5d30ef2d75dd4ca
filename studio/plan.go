package studio

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/graph"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/runtime/resource"
)

// keptPlans is the number of plans whose outcomes are kept for drawings.
const keptPlans = 4

// outcomes are the outcomes of the resources in a plan.
type outcomes struct {
	job      string
	outcomes map[string]string // by ID
	counts   report.Summary
}

// plan answers POST /api/plan.
func (c *commands) plan(ctx context.Context, in PlanRequest) (any, error) {
	d, err := c.workspace.document(in.File, false)
	if err != nil {
		return nil, err
	}
	if err := c.workspace.gate.check(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := c.workspace.atRevision(d, in.Rev); err != nil {
		return nil, err
	}
	if kind := kindOf(d.name, &d.text); kind != "manifest" && kind != "script" {
		return nil, refuse(http.StatusUnprocessableEntity, "", diag.Expected("a script or a manifest").Error())
	}
	shown := []string{"ccm", "plan"}
	args := []string{"plan", "--output", "json", "--diff", "full", "--state-dir", c.stateDir}
	args = append(args, c.insecureFlag()...)
	var own []string
	if in.Profile != "" {
		file, err := profileFile(in.Profile)
		if err != nil {
			return nil, err
		}
		own = append(own, "--facts", file)
	}
	for _, target := range in.Targets {
		if _, err := resource.ParseID(target); err != nil {
			return nil, refuse(http.StatusBadRequest, "", err.Error())
		}
		own = append(own, "--target", target)
	}
	own = append(own, "--", d.name)
	texts := c.workspace.editedTexts(d)
	stdin, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	args = slices.Concat(args, []string{"--unsaved"}, own)
	job, err := c.jobs.start(func(id string) command {
		found := c.newOutcomes(id)
		return command{args: args, stdin: stdin, line: func(line json.RawMessage) {
			if e := c.notePlanned(found, line); e != nil {
				c.hub.send("plan", *e)
			}
		}}
	}, func(id string, e commandEnd) {
		c.hub.send("plan-end", PlanEnd{Job: id, Status: e.status, Exit: e.exit, Messages: e.messages, Duration: e.duration.Milliseconds(), Cut: e.cut})
	})
	if err != nil {
		return nil, err
	}
	if i := slices.Index(own, "--"); i >= 0 {
		own = slices.Delete(own, i, i+1)
	}
	job.Command = shellquote.Join(append(shown, own...)...)
	for path := range maps.Keys(texts) {
		if name := relative(c.workspace.directory.path, path); name != d.name {
			job.UnsavedFiles = append(job.UnsavedFiles, name)
		}
	}
	slices.Sort(job.UnsavedFiles)
	return job, nil
}

// insecureFlag returns --allow-insecure for commands, if studio was started with it.
func (c *commands) insecureFlag() []string {
	if c.insecure {
		return []string{"--allow-insecure"}
	}
	return nil
}

// notePlanned keeps the outcome of an event, and returns the event for pages; nil if the line is no
// event of a resource.
func (c *commands) notePlanned(o *outcomes, line json.RawMessage) *PlanEvent {
	var e report.Event
	if json.Unmarshal(line, &e) != nil || e.Outcome == "" {
		return nil
	}
	one := []report.Event{e}
	report.LimitTexts(one)
	c.mu.Lock()
	defer c.mu.Unlock()
	o.outcomes[e.Type+"#"+e.Name] = e.Outcome
	o.counts.Count(e.Outcome)
	return &PlanEvent{Job: o.job, Event: resourceEvent(&one[0]), Bar: part.Bar(part.Counts(&o.counts, false))}
}

// newOutcomes returns empty outcomes for a new plan, which replace those of an old one.
func (c *commands) newOutcomes(job string) *outcomes {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &outcomes{job: job, outcomes: map[string]string{}}
	c.plans = append(c.plans, o)
	c.plans = c.plans[max(0, len(c.plans)-keptPlans):]
	return o
}

// serveGraph answers GET /api/graph.
func (s *Server) serveGraph(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	stack := graph.DefaultStack
	if text := q.Get("stack"); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			fail(w, http.StatusBadRequest, Failure{Error: "stack: " + diag.Expected("a number").Error()})
			return
		}
		stack = int(n)
	}
	respond(w)(s.commands.graph(r.Context(), q.Get("file"), stack, q.Get("job")))
}

// graph draws the order of a file, with the outcomes of a plan.
func (c *commands) graph(ctx context.Context, file string, stack int, job string) (any, error) {
	d, err := c.workspace.document(file, false)
	if err != nil {
		return nil, err
	}
	if err := c.workspace.gate.check(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.checked == nil || d.checked.rev != d.rev {
		c.workspace.checkSoon(ctx, d, false)
	}
	if d.checked == nil || d.checked.rev != d.rev || d.checked.order == nil {
		return nil, refuse(http.StatusUnprocessableEntity, "", "the order is unknown while the text has errors")
	}
	drawing := draw(d.checked.order, stack, c.outcomesOf(job))
	drawing.Rev = d.rev
	return drawing, nil
}

// outcomesOf returns the outcomes of a plan, by ID.
func (c *commands) outcomesOf(job string) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.plans {
		if o.job == job {
			return maps.Clone(o.outcomes)
		}
	}
	return nil
}

// draw lays out an order. Resources of different outcomes are never in one stack.
func draw(o *order, stack int, outcome map[string]string) *Graph {
	nodes := make([]graph.Node, len(o.resources))
	for i, r := range o.resources {
		nodes[i] = graph.Node{Type: r.Type, Name: r.Name, Class: outcome[r.id()]}
		if r.Skip != "" && nodes[i].Class == "" {
			nodes[i].Class = "skipped"
		}
	}
	d := graph.Layout(nodes, o.edges, stack)
	out := &Graph{Width: d.Width, Height: d.Height, Boxes: []GraphBox{}, Lines: []GraphLine{}, Drawing: d.Element()}
	for _, b := range d.Boxes {
		box := GraphBox{X: b.X, Y: b.Y, Label: b.Label, Type: b.Type, Outcome: nodes[b.Members[0]].Class}
		for _, m := range b.Members {
			box.Members = append(box.Members, nodes[m].String())
		}
		out.Boxes = append(out.Boxes, box)
	}
	for _, l := range d.Lines {
		out.Lines = append(out.Lines, GraphLine{From: l.From, To: l.To})
	}
	return out
}
