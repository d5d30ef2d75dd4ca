package fleet_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/event"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

func (f *fleet) sender() *job.Sender {
	return &job.Sender{NC: f.nc, Environment: "prod", Key: f.key, By: "ops@example.org", Clock: time.Now, Retries: []time.Duration{300 * time.Millisecond, time.Second}}
}

// order sends a job and waits until all answers are stored: the sender hears them before that.
func (f *fleet) order(j *signed.Job, expires time.Duration, names ...string) *job.Progress {
	f.t.Helper()
	s := f.sender()
	s.Fill(j, names, expires)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	p, err := s.Send(ctx, j, names, nil)
	require.NoError(f.t, err)
	for _, name := range names {
		if !slices.Contains(p.Silent, name) {
			f.eventually(func() bool {
				return slices.ContainsFunc(f.results(name, j.ID), func(state string) bool { return state != "accepted" })
			})
		}
	}
	return p
}

// tells returns the stored lines of a node.
func (f *fleet) tells(node string) (lines []map[string]any) {
	require.NoError(f.t, event.Read(context.Background(), f.nc, event.Filter{Environment: "prod", Nodes: []string{node}}, func(l *event.Line) error {
		lines = append(lines, l.Fields)
		return nil
	}))
	return lines
}

// results returns a node's stored states of a job.
func (f *fleet) results(node, id string) (states []string) {
	for _, x := range f.tells(node) {
		if x["job"] == id {
			states = append(states, x["state"].(string)+reason(x))
		}
	}
	return states
}

func reason(x map[string]any) string {
	if r, ok := x["reason"].(string); ok {
		return " " + r
	}
	return ""
}

// Jobs run the node's release: once, in time, and only on addressed nodes.
func TestFleetJobs(t *testing.T) {
	f := newFleet(t)
	for _, name := range []string{"web1", "web2", "web3"} {
		f.start(name)
	}
	f.waitForNodes(3)
	f.release(motd("one"))
	require.Equal(t, signed.Done, f.advance().State)

	for _, name := range []string{"web1", "web2"} {
		require.NoError(t, os.WriteFile(filepath.Join(f.nodes[name].root, "etc/motd"), []byte("drifted"), 0o644))
	}
	plan := &signed.Job{Verb: signed.VerbPlan}
	p := f.order(plan, time.Minute, "web1", "web2", "web3")
	require.True(t, p.OK(), "%+v", p)
	require.Equal(t, "drifted", f.motd("web1"), "a plan changes nothing")
	require.Equal(t, 2, p.Pending, "%+v", p)
	require.Zero(t, p.Changed)
	nodes, err := f.read()
	require.NoError(t, err)
	for _, n := range nodes {
		require.Equal(t, "changed", n.State.Outcome, "a plan says nothing of how the last run ended")
	}

	j := &signed.Job{Verb: signed.VerbRun, AtMost: 1, Reason: "CVE-2026-1234"}
	p = f.order(j, time.Minute, "web1", "web2")
	require.True(t, p.OK(), "%+v", p)
	require.Equal(t, 2, p.Changed)
	require.Equal(t, "one", f.motd("web1"))

	// A repeated job is not carried out again, nor another one with the same ID.
	require.NoError(t, os.WriteFile(filepath.Join(f.nodes["web1"].root, "etc/motd"), []byte("drifted"), 0o644))
	text, err := signed.Sign(context.Background(), j, f.key)
	require.NoError(t, err)
	say := func(text []byte) {
		_, err := direct.Publish(context.Background(), f.nc, subject.Job("prod", "web1"), text)
		require.NoError(t, err)
	}
	say(text)
	other := *j
	other.Reason = "another one"
	text, err = signed.Sign(context.Background(), &other, f.key)
	require.NoError(t, err)
	say(text)
	f.eventually(func() bool { return len(f.results("web1", j.ID)) == 3 })
	require.Equal(t, []string{"accepted", "done", "refused replay"}, f.results("web1", j.ID))
	require.Equal(t, "drifted", f.motd("web1"))

	// A late job is reported as expired; a job for others is not reported.
	late := &signed.Job{Verb: signed.VerbRun}
	s := f.sender()
	s.Clock = func() time.Time { return time.Now().Add(-time.Hour) }
	s.Fill(late, []string{"web1"}, time.Minute)
	text, err = signed.Sign(context.Background(), late, f.key)
	require.NoError(t, err)
	say(text)
	forOthers := &signed.Job{Verb: signed.VerbRun}
	f.sender().Fill(forOthers, []string{"web2"}, time.Minute)
	text, err = signed.Sign(context.Background(), forOthers, f.key)
	require.NoError(t, err)
	say(text)
	p = f.order(&signed.Job{Verb: signed.VerbFacts}, time.Minute, "web1")
	require.True(t, p.OK(), "%+v", p)
	require.Equal(t, []string{"expired expired"}, f.results("web1", late.ID))
	require.Empty(t, f.results("web1", forOthers.ID))
	require.Equal(t, "drifted", f.motd("web1"))

	// Nodes without an answer are named; a node that comes back in time carries the job out.
	f.nodes["web3"].stop()
	done := make(chan *job.Progress)
	go func() { done <- f.order(&signed.Job{Verb: signed.VerbRun}, time.Minute, "web1", "web3") }()
	f.eventually(func() bool { return f.motd("web1") == "one" })
	f.start("web3")
	p = <-done
	require.True(t, p.OK(), "%+v", p)

	f.nodes["web3"].stop()
	p = f.order(&signed.Job{Verb: signed.VerbPlan}, 10*time.Second, "web1", "web3")
	require.Equal(t, []string{"web3"}, p.Silent)
	require.Equal(t, 1, p.Done)

	history, err := job.History(context.Background(), f.nc, "prod", 10, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"web3"}, history[0].Progress.Silent)
	first := history[len(history)-2]
	require.Equal(t, j.ID, first.ID)
	require.Equal(t, 2, first.Progress.Changed)
	require.Equal(t, "CVE-2026-1234", first.Reason)
}

// A job with an untrusted signature, or one for another namespace, is refused and reported.
func TestFleetForgedJob(t *testing.T) {
	f := newFleet(t)
	f.start("web1")
	f.start("web2")
	f.waitForNodes(2)
	j := &signed.Job{Verb: signed.VerbRun}
	f.sender().Fill(j, []string{"web1"}, time.Minute)
	text, err := signed.Sign(context.Background(), j, f.stranger())
	require.NoError(t, err)
	_, err = direct.Publish(context.Background(), f.nc, subject.Job("prod", ""), text)
	require.NoError(t, err)
	refused := func() (n int) {
		nodes, err := f.read()
		require.NoError(t, err)
		for _, x := range nodes {
			for _, p := range x.State.Problems {
				if p.Code == record.SignatureRefused {
					n++
				}
			}
		}
		return n
	}
	f.eventually(func() bool { return refused() == 2 && len(f.results("web2", j.ID)) == 1 })
	time.Sleep(2 * shortTiming.Control) // it is read again meanwhile
	require.Len(t, f.results("web2", j.ID), 1, "it is told once")
	// It is for web1: reports of other nodes do not count.
	history, err := job.History(context.Background(), f.nc, "prod", 1, nil)
	require.NoError(t, err)
	require.Equal(t, 1, history[0].Progress.Refused)
	require.Equal(t, 1, history[0].Progress.Nodes)
	// The next valid job ends the problem, also on nodes that it does not address.
	require.True(t, f.order(&signed.Job{Verb: signed.VerbFacts}, time.Minute, "web1").OK())
	text, err = signed.Sign(context.Background(), func() *signed.Job {
		j := &signed.Job{Verb: signed.VerbFacts}
		f.sender().Fill(j, []string{"web1"}, time.Minute)
		return j
	}(), f.key)
	require.NoError(t, err)
	_, err = direct.Publish(context.Background(), f.nc, subject.Job("prod", ""), text)
	require.NoError(t, err)
	f.eventually(func() bool { return refused() == 0 })
}

// The result of a job does not wait for further lines, as events of runs do.
func TestFleetJobIsAnsweredAtOnce(t *testing.T) {
	f := newFleet(t)
	f.start("web1", func(o *node.Options) { o.Timing.Batch = time.Hour })
	require.True(t, f.order(&signed.Job{Verb: signed.VerbFacts}, time.Minute, "web1").OK())
}

// Each event is stored once, whatever dies in between: the agent, or all servers.
func TestFleetEventsAfterCrash(t *testing.T) {
	f := newFleet(t)
	f.start("web1")
	f.waitForNodes(1)
	f.release(motd("one"))
	require.Equal(t, signed.Done, f.advance().State)
	count := func(path string) (n int) {
		for _, x := range f.tells("web1") {
			if x["name"] == path {
				n++
			}
		}
		return n
	}
	f.eventually(func() bool { return count("/etc/motd") == 1 })

	// The agent ends; a manual run leaves a record; the next agent sends its events.
	f.nodes["web1"].stop()
	f.run("web1", "file { '/etc/issue', content = 'x', owner = 'root', group = 'root', mode = '0644' }\n")
	f.start("web1")
	f.eventually(func() bool { return count("/etc/issue") == 1 })
	require.Equal(t, 1, count("/etc/motd"))

	// The cursor is lost after everything was sent: repeated messages are recognised.
	f.nodes["web1"].stop()
	require.NoError(t, os.WriteFile(filepath.Join(f.nodes["web1"].cache, "fleet", "cursor.json"), []byte(`{"run":""}`), 0o600))
	f.start("web1", func(*node.Options) {})
	f.run("web1", "file { '/etc/hosts', content = 'x', owner = 'root', group = 'root', mode = '0644' }\n")
	f.eventually(func() bool { return count("/etc/hosts") == 1 })
	require.Equal(t, 1, count("/etc/motd"))
	require.Equal(t, 1, count("/etc/issue"))
}
