package converge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// knob is a resource of a small world: a name with a value. The world also counts its refreshes.
type knob struct {
	Name   string `ccm:"name,name"`
	Value  string `ccm:"value"`
	Needs  string `ccm:"needs"`  // a knob without which its status is unknown
	Opaque bool   `ccm:"opaque"` // a plan does not know its effects
	Guard  bool   `ccm:"guard"`  // depends on other effects, as a guard does
	Deaf   bool   `ccm:"deaf"`   // a refresh does nothing
	Settle bool   `ccm:"settle"` // settles only after a while
	Joins  string `ccm:"joins"`  // knobs with the same word are set in one transaction
}

func (k knob) Traits() resource.Traits {
	return resource.Traits{IsService: true, SettleTime: map[bool]time.Duration{true: time.Second}[k.Settle], IsUncertain: k.Guard}
}

func (k knob) Validate() error { return nil }

func (k knob) Decide(have string) (d resource.Decision) {
	if k.Value == "impossible" {
		return resource.Decision{Err: errors.New("cannot be had")}
	}
	if have != k.Value {
		d.Add("value", have, k.Value)
		d.AddAction("Set", "set the value")
		d.Complete = !k.Opaque
	}
	return d
}

func (k knob) Refresh(_ string, d resource.Decision) resource.Decision {
	if !k.Deaf {
		d.AddAction("Kick", "kicked")
	}
	return d
}

func (k knob) Perform(_ context.Context, _ *host.Host, p knobs, a resource.Action) error {
	switch {
	case k.Value == "broken":
		return errors.New("it broke")
	case a.Verb == "Kick":
		p.kick(k.Name)
	case k.Value != "stuck":
		p.set(k.Name, k.Value)
	}
	return nil
}

type knobs interface {
	Status(context.Context, *host.View, knob) (string, error)
	set(name, value string)
	kick(name string)
}

var knobType = resource.Define[knob, string, knobs]("knob")

// world is the provider of knobs.
type world struct {
	values map[string]string
	kicks  map[string]int
	looks  int
	did    []string // actions and their statuses, in order
	falls  string   // the knob that does not settle
	onLook func(name string)
}

func newWorld() *world { return &world{values: map[string]string{}, kicks: map[string]int{}} }

func (w *world) Status(_ context.Context, _ *host.View, k knob) (string, error) {
	w.looks++
	if w.onLook != nil {
		w.onLook(k.Name)
	}
	if slices.ContainsFunc(w.did, func(s string) bool { return s == "set "+k.Name || s == "kick "+k.Name }) {
		w.did = append(w.did, "look "+k.Name)
		if w.falls == k.Name {
			return "", errors.New("it fell")
		}
	}
	if k.Needs != "" && w.values[k.Needs] == "" {
		return "", fmt.Errorf("knob %s does not exist", k.Needs)
	}
	return w.values[k.Name], nil
}

func (w *world) set(name, value string) {
	w.values[name] = value
	w.did = append(w.did, "set "+name)
}

func (w *world) kick(name string) {
	w.kicks[name]++
	w.did = append(w.did, "kick "+name)
}

func (w *world) registry(t *testing.T) *resource.Registry {
	reg, err := resource.NewRegistry(knobType.Provide("world", resource.Always[knob](1), w))
	require.NoError(t, err)
	return reg
}

// cat makes a catalog from lines such as "a=1 require=b opaque".
func cat(t *testing.T, lines string) *catalog.Catalog {
	t.Helper()
	var b catalog.Builder
	for i, line := range strings.Split(lines, ";") {
		words := strings.Fields(line)
		name, value, _ := strings.Cut(words[0], "=")
		r := &resource.Resource{Type: knobType.Type, ID: resource.ID{Type: "knob", Name: name}, Pos: diag.Pos{File: "x", Line: i + 1}, Common: new(resource.Common)}
		spec := &knob{Name: name, Value: value}
		for _, w := range words[1:] {
			key, val, _ := strings.Cut(w, "=")
			var refs []resource.Reference
			for n := range strings.SplitSeq(val, ",") {
				refs = append(refs, resource.Reference{Type: "knob", Name: n})
			}
			switch key {
			case "require":
				r.Common.Require = refs
			case "subscribe":
				r.Common.Subscribe = refs
			case "notify":
				r.Common.Notify = refs
			case "needs":
				spec.Needs = val
			case "opaque":
				spec.Opaque = true
			case "guard":
				spec.Guard = true
			case "deaf":
				spec.Deaf = true
			case "settle":
				spec.Settle = true
			case "joins":
				spec.Joins = val
			case "timeout":
				r.Common.Timeout = host.Duration(time.Hour)
			case "skip":
				r.Skip = "control says so"
			case "health", "warning":
				r.Common.HealthChecks = []resource.HealthCheck{{Command: strings.NewReplacer("_", " ", "^", ";").Replace(val), Tries: 2, WarnFails: key == "warning"}}
			default:
				t.Fatalf("unknown word %s", w)
			}
		}
		r.Spec = spec
		_, err := b.Add(r)
		require.NoError(t, err)
	}
	c, err := b.Build()
	require.NoError(t, err)
	return c
}

// tape records events as text.
type tape struct {
	lines  []string
	events []*event.Event
}

func (tp *tape) Event(e *event.Event) {
	tp.events = append(tp.events, e.Clone())
	s := e.Resource.ID.Name + " " + e.Outcome.String()
	if e.Refreshed {
		s += " by " + fmt.Sprint(e.RefreshedBy)
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	tp.lines = append(tp.lines, s)
}

func (w *world) plan(t *testing.T, c *catalog.Catalog) *tape {
	tp := new(tape)
	e := converge.Engine{Registry: w.registry(t), Facts: facts.Static(nil), Reporters: []event.Reporter{tp}}
	e.Plan(t.Context(), &host.New(host.Options{}).View, c)
	return tp
}

func (w *world) run(t *testing.T, c *catalog.Catalog, change ...func(*converge.Engine)) (*tape, event.Summary) {
	tp := new(tape)
	e := converge.Engine{Registry: w.registry(t), Facts: facts.Static(nil), Reporters: []event.Reporter{tp}}
	for _, f := range change {
		f(&e)
	}
	return tp, e.Run(t.Context(), host.New(host.Options{}), c)
}

func TestRunAndPlan(t *testing.T) {
	for _, x := range []struct{ name, lines, plan, run string }{
		{"changed", "a=1;b=", "a pending|b stable", "a changed|b stable"},
		{"failure does not stop the run", "a=broken;b=1", "a pending|b pending", "a failed: it broke|b changed"},
		{"what requires a failure is skipped, at any depth", "a=impossible;b=1 require=a;c=1 require=b;d=1",
			"a failed: cannot be had|b skipped: knob#a failed|c skipped: knob#b was skipped|d pending",
			"a failed: cannot be had|b skipped: knob#a failed|c skipped: knob#b was skipped|d changed"},
		{"what is not managed does not block", "a=1 skip;b=1 require=a", "a skipped: control says so|b pending", "a skipped: control says so|b changed"},
		{"verification", "a=stuck", "a pending", "a failed: failed to reach desired state: value:  → stuck"},
		{"refresh", "a=1;b= subscribe=a", "a pending|b pending by [knob#a]", "a changed|b changed by [knob#a]"},
		{"refresh by notify", "b= ;a=1 notify=b", "a pending|b pending by [knob#a]", "a changed|b changed by [knob#a]"},
		{"refresh at any depth", "a=1;b= subscribe=a;c= subscribe=b", "a pending|b pending by [knob#a]|c pending by [knob#b]",
			"a changed|b changed by [knob#a]|c changed by [knob#b]"},
		{"refresh once for several", "a=1;b=1;c= subscribe=a,b", "a pending|b pending|c pending by [knob#a knob#b]", "a changed|b changed|c changed by [knob#a knob#b]"},
		{"no refresh without change", "a=;b= subscribe=a", "a stable|b stable", "a stable|b stable"},
		{"no refresh after failure", "a=broken;b= subscribe=a", "a pending|b pending by [knob#a]", "a failed: it broke|b skipped: knob#a failed"},
		{"refresh that does nothing", "a=1;b= subscribe=a deaf", "a pending|b stable", "a changed|b stable"},
		{"state that needs something pending and opaque", "a=1 opaque;b=1 needs=a", "a pending|b unknown: depends on knob#a, which is pending", "a changed|b changed"},
		{"state that cannot be told and nothing will help", "a=1;b=1 needs=z", "a pending|b failed: knob z does not exist", "a changed|b failed: knob z does not exist"},
		{"unknown goes on", "a=1 opaque;b=1 needs=a;c=1 needs=b;d=1", "a pending|b unknown: depends on knob#a, which is pending|" +
			"c unknown: depends on knob#a, which is pending|d pending", "a changed|b changed|c changed|d changed"},
		{"refresh by something unknown", "a=1 opaque;b=1 needs=a;c= subscribe=b", "a pending|b unknown: depends on knob#a, which is pending|c unknown: knob#b is unknown",
			"a changed|b changed|c changed by [knob#b]"},
		{"may also be refreshed, because", "a=1 opaque;b=1 needs=a;c=1 subscribe=b", "a pending|b unknown: depends on knob#a, which is pending|c pending: may also be refreshed, because knob#b is unknown",
			"a changed|b changed|c changed by [knob#b]"},
		{"guard after something pending", "a=1;b= require=a guard;c= guard", "a pending|b unknown: knob#a is pending|c stable", "a changed|b stable|c stable"},
		{"guard that a refresh overrides", "a=1;b= subscribe=a guard", "a pending|b pending by [knob#a]", "a changed|b changed by [knob#a]"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w, c := newWorld(), cat(t, x.lines)
			require.Equal(t, x.plan, strings.Join(w.plan(t, c).lines, "|"))
			require.Empty(t, w.values)
			tp, _ := w.run(t, c)
			require.Equal(t, x.run, strings.Join(tp.lines, "|"))
		})
	}
}

// Of many resources that may make another one unknown, the most likely are reported.
func TestMostSuspects(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("k%d=1 opaque", i))
	}
	w, c := newWorld(), cat(t, strings.Join(append(lines, "z=1 needs=k7 require=k250,k290"), ";"))
	events := w.plan(t, c).events
	last := events[len(events)-1]
	require.Equal(t, event.Unknown, last.Outcome)
	require.Len(t, last.Because, 100)
	require.Equal(t, []string{"k250", "k290", "k0"}, []string{last.Because[0].ID.Name, last.Because[1].ID.Name, last.Because[2].ID.Name})
}

func TestRefreshedOnce(t *testing.T) {
	w := newWorld()
	w.run(t, cat(t, "a=1;b=1;c=5 subscribe=a,b"))
	require.Equal(t, map[string]int{"c": 1}, w.kicks)
	w.run(t, cat(t, "a=1;b=1;c=5 subscribe=a,b"))
	require.Equal(t, map[string]int{"c": 1}, w.kicks)
}

func TestFailOnError(t *testing.T) {
	w := newWorld()
	tp, sum := w.run(t, cat(t, "a=1;b=broken;c=1"), func(e *converge.Engine) { e.FailOnError = true })
	require.Equal(t, []string{"a changed", "b failed: it broke", "c skipped: fail_on_error is set and knob#b failed"}, tp.lines)
	require.False(t, sum.Interrupted)
}

// stopAfter closes the channel once a resource was converged.
type stopAfter struct {
	name string
	stop chan struct{}
}

func (s stopAfter) Event(e *event.Event) {
	if e.Resource.ID.Name == s.name {
		close(s.stop)
	}
}

func TestStop(t *testing.T) {
	w, stop := newWorld(), make(chan struct{})
	tp, sum := w.run(t, cat(t, "a=1;b=2;c=3"), func(e *converge.Engine) {
		e.Stop, e.Reporters = stop, append(e.Reporters, stopAfter{"b", stop})
	})
	require.Equal(t, []string{"a changed", "b changed", "c skipped: the run was interrupted"}, tp.lines)
	require.True(t, sum.Interrupted)
}

func TestApprove(t *testing.T) {
	w, stop := newWorld(), make(chan struct{})
	answers := map[string]error{"b": converge.ErrDeclined, "d": errors.New("not like this")}
	tp, sum := w.run(t, cat(t, "a=1;b=2;c=3 require=b;d=4;e=5 require=d;f=6;g=7"), func(e *converge.Engine) {
		e.Stop = stop
		e.Approve = func(ev *event.Event) error {
			require.Equal(t, event.Pending, ev.Outcome)
			if ev.Resource.ID.Name == "f" {
				close(stop)
				return converge.ErrDeclined
			}
			return answers[ev.Resource.ID.Name]
		}
	})
	require.Equal(t, []string{
		"a changed", "b skipped: it was declined", "c skipped: knob#b was skipped", "d failed: not like this", "e skipped: knob#d failed",
		"f skipped: the run was interrupted", "g skipped: the run was interrupted",
	}, tp.lines)
	require.True(t, sum.Interrupted)
}

func TestSummary(t *testing.T) {
	w := newWorld()
	_, sum := w.run(t, cat(t, "a=1;b= subscribe=a;c=;d=broken;e=1 require=d"))
	require.Equal(t, 5, sum.Total())
	require.Equal(t, [...]int{1, 2, 0, 0, 1, 1}, sum.Counts)
	require.Equal(t, 1, sum.Refreshed)
}

func TestHealthChecks(t *testing.T) {
	w := newWorld()
	tp, sum := w.run(t, cat(t, "a=1 health=sh_-c_'echo_fine^echo_more';b=1 health=sh_-c_'echo_so_so^exit_1';c=1 health=sh_-c_'echo_bad>&2^exit_2';d=1 health=sh_-c_'echo_odd^exit_9';e=1 health=/no/such/check;f=1 require=c;g=1 health=sh_-c_'echo_dunno^exit_3';h=1 warning=sh_-c_'echo_so_so^exit_1';i=1 health=sh_-c_'kill_-9_$$'"))
	require.Equal(t, []string{
		"a changed", "b changed", "c failed: health check sh -c 'echo bad>&2;exit 2' is critical: bad",
		"d failed: health check sh -c 'echo odd;exit 9' is unknown: exit status 9: odd",
		"e failed: health check /no/such/check is unknown: fork/exec /no/such/check: no such file or directory",
		"f skipped: knob#c failed",
		"g failed: health check sh -c 'echo dunno;exit 3' is unknown: dunno",
		"h failed: health check sh -c 'echo so so;exit 1' is a warning: so so",
		"i failed: health check sh -c 'kill -9 $$' is unknown: exit status 137",
	}, tp.lines)
	got := tp.events[0].Health[0]
	require.Positive(t, got.Duration)
	got.Duration = 0
	require.Equal(t, health.Result{Name: "sh -c 'echo fine;echo more'", State: health.OK, Output: "fine", Tries: 1}, got)
	require.Equal(t, health.Warning, tp.events[1].Health[0].State)
	require.Equal(t, 2, tp.events[1].Health[0].Tries)
	require.Equal(t, health.Unknown, tp.events[3].Health[0].State)
	require.Equal(t, health.Unknown, tp.events[4].Health[0].State)
	require.Equal(t, [...]int{1, 2, 1, 4}, sum.Health)
	// A plan runs no health check; with MonitorOnly nothing else is done.
	require.Empty(t, w.plan(t, cat(t, "z=1 health=false")).events[0].Health)
	tp, _ = w.run(t, cat(t, "z=1 health=true"), func(e *converge.Engine) { e.MonitorOnly = true })
	require.Equal(t, []string{"z stable"}, tp.lines)
	require.NotContains(t, w.values, "z")
}

// TestPlanIsHonest: over random catalogs, resources that are pending in a plan change in the run, stable ones do not,
// and a second run changes nothing.
func TestPlanIsHonest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		w := newWorld()
		n := 1 + rnd.IntN(8)
		var lines []string
		for i := range n {
			line := fmt.Sprintf("k%d=%d", i, rnd.IntN(3))
			if rnd.IntN(2) == 0 {
				w.values[fmt.Sprintf("k%d", i)] = fmt.Sprint(rnd.IntN(3))
			}
			if i > 0 {
				switch rnd.IntN(4) {
				case 0:
					line += fmt.Sprintf(" subscribe=k%d", rnd.IntN(i))
				case 1:
					line += fmt.Sprintf(" needs=k%d", rnd.IntN(i))
				case 2:
					line += fmt.Sprintf(" require=k%d guard", rnd.IntN(i))
				}
			}
			if rnd.IntN(3) == 0 {
				line += " opaque"
			}
			lines = append(lines, line)
		}
		c := cat(t, strings.Join(lines, ";"))
		plan := w.plan(t, c)
		run, _ := w.run(t, c)
		for i, p := range plan.events {
			switch r := run.events[i]; p.Outcome {
			case event.Pending:
				require.Equal(t, event.Changed, r.Outcome, "%v\n%v\n%v", lines, plan.lines, run.lines)
				require.Equal(t, p.Diff, r.Diff)
				if p.Reason == "" {
					require.Equal(t, p.Actions, r.Actions)
				}
			case event.Stable:
				require.Equal(t, event.Stable, r.Outcome, "%v\n%v\n%v", lines, plan.lines, run.lines)
			}
		}
		second, sum := w.run(t, c)
		require.Zero(t, sum.Of(event.Changed), second.lines)
	}
}
