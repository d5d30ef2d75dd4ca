package fleet_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/event"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// One server dies, then all, and they come back empty. Nodes continue with their release, report later what they did
// meanwhile, and no node goes back to an older version.
func TestServersFail(t *testing.T) {
	f := newThree(t)
	f.parts = limit // servers may take long to elect a leader, and a node that gives up would stop the rollout
	l := f.lab
	f.startAndRelease("web1", "web2")

	// The leader of the events dies during a release.
	dead := f.leader(subject.Events)
	f.release(motd("two"))
	l.kill(dead)
	require.Equal(t, signed.Done, f.advance().State)
	for name := range f.nodes {
		require.Equal(t, "two", f.motd(name))
		f.eventually(func() bool { return len(f.changes(name)) == 2 })
	}
	stdout, _, status := l.ccm("fleet", "check")
	require.Equal(t, 4, status)
	require.Contains(t, stdout, "server 127.0.0.1-"+dead+" does not respond")

	// All servers are down: a restarted agent still runs the last release.
	l.killAll()
	f.drift("web1")
	f.again("web1")
	f.eventually(func() bool { return f.motd("web1") == "two" })
	f.drift("web2")

	// They come back with empty disks.
	l.copyStore(t, t.TempDir(), l.store())
	l.startAll(t)
	waitFor(t, "the streams", func() error {
		if _, stderr, status := l.ccm("fleet", "init", l.dir, "--apply"); status != 0 {
			return fmt.Errorf("%s", stderr)
		}
		return nil
	})
	f.settled()
	f.storeAgain()
	f.eventually(func() bool { return f.runs(2) && len(f.changes("web1")) == 1 })
	require.Equal(t, "by hand", f.motd("web2"), "nothing was run because of it")
	f.release(motd("three"))
	require.Equal(t, signed.Done, f.advance().State)
	require.Equal(t, int64(3), f.state("web1").Release)

	// A follower of a rollout continues when they are back.
	require.NoError(t, f.controller().BeginRollout(t.Context(), &signed.Release{
		Bundle: "sha256:" + f.bundle(motd("four")), Stages: []string{"100%"}, Soak: signed.Duration(10 * time.Second),
	}))
	ended := make(chan string, 1)
	go func() {
		stdout, stderr, status := l.ccm("fleet", "rollout", "prod", "--watch", "--sign", f.controller().Key.File)
		ended <- fmt.Sprintf("status %d\n%s%s", status, stdout, stderr)
	}()
	f.eventually(func() bool { return f.motd("web1") == "four" && f.motd("web2") == "four" })
	l.killAll()
	time.Sleep(5 * time.Second)
	l.startAll(t)
	out := <-ended
	require.Contains(t, out, "status 0\n")
	require.Contains(t, out, "Servers are not responding, retrying:")
}

// Servers come back with the data of the day before: nodes keep the newer release, and report it.
func TestSoakServersOfYesterday(t *testing.T) {
	soak(t)
	f := newThree(t)
	l := f.lab
	f.startAndRelease("web1", "web2")
	l.killAll()
	l.copyStore(t, l.store(), l.store()+".yesterday")
	l.startAll(t)
	f.settled()
	f.release(motd("two"))
	require.Equal(t, signed.Done, f.advance().State)
	l.killAll()
	l.copyStore(t, l.store()+".yesterday", l.store())
	l.startAll(t)
	f.settled()
	for name := range f.nodes {
		f.eventually(func() bool { return strings.Contains(f.problem(name, record.RollbackRefused), "prod.release: ") })
		require.Equal(t, "two", f.motd(name))
	}
	stdout, _, status := l.ccm("fleet", "check")
	require.Equal(t, 4, status)
	require.Contains(t, stdout, "rollback")
	f.storeAgain()
	for name := range f.nodes {
		f.eventually(func() bool { return f.runs(2) && !blocked(f.state(name)) })
	}
}

// soakVariable is set by make fleet-soak: for how long TestSoakRandomFaults runs.
const soakVariable = "CCM_FLEET_SOAK"

// soak skips a test that takes minutes, except in make fleet-soak.
func soak(t *testing.T) {
	if os.Getenv(soakVariable) == "" {
		t.Skip("make fleet-soak runs it")
	}
}

// startAndRelease starts nodes, and makes them run a first release.
func (f *fleet) startAndRelease(names ...string) {
	for _, name := range names {
		f.start(name)
	}
	f.waitForNodes(len(names))
	f.release(motd("one"))
	require.Equal(f.t, signed.Done, f.advance().State)
}

// changes returns the events of a node about the file in these sites.
func (f *fleet) changes(name string) (list []map[string]any) {
	_ = event.Read(context.Background(), f.nc, event.Filter{Environment: "prod", Nodes: []string{name}}, func(l *event.Line) error {
		if l.Fields["name"] == "/etc/motd" {
			list = append(list, l.Fields)
		}
		return nil
	}) // the servers may be down
	return list
}

// storeAgain stores the releases again, as ccm fleet release --again does.
func (f *fleet) storeAgain() {
	waitFor(f.t, "the servers", func() error {
		if _, stderr, status := f.lab.ccm("fleet", "release", "prod", "--again"); status != 0 {
			return fmt.Errorf("%s", stderr)
		}
		return nil
	})
}

// Documents that differ from the signed ones, or have a wrong signer; two machines with one key; a wrong clock: each
// is reported as such, and the last release stays in use.
func TestNodesSayWhatIsWrong(t *testing.T) {
	f := newThree(t)
	f.start("web1")
	day := func(o *node.Options) {
		o.Clock = func() time.Time { return time.Now().Add(-24 * time.Hour) }
	}
	f.start("late", day)
	f.waitForNodes(2)
	f.release(motd("one"))
	require.Equal(t, signed.Done, f.advance().State, "a wrong clock does not stop releases")

	// With a clock that is a day behind, a job is refused with that reason. The node's time is at least that of the
	// release, so the job must be newer.
	f.eventually(func() bool { return strings.Contains(f.problem("late", record.ClockSkew), "24h") })

	// A bundle whose content does not match its name.
	js, err := jetstream.New(f.nc)
	require.NoError(t, err)
	store, err := js.ObjectStore(t.Context(), subject.Sites("prod"))
	require.NoError(t, err)
	digest := strings.Repeat("ab", 32)
	_, err = store.Put(t.Context(), jetstream.ObjectMeta{Name: subject.BundleObject(digest)}, bytes.NewReader(bytes.Repeat([]byte("x"), 300<<10)))
	require.NoError(t, err)
	f.releaseOf(digest)
	f.eventually(func() bool { return strings.Contains(f.problem("web1", record.DigestMismatch), "release 2: ") })
	require.Equal(t, "one", f.motd("web1"))
	require.Equal(t, signed.Stopped, f.advance().State)

	// A release by a signer that the node does not trust.
	c := f.controller()
	c.Key, c.Keep = f.stranger(), nil
	require.NoError(t, c.BeginRollout(t.Context(), &signed.Release{Bundle: "sha256:" + f.bundle(motd("evil")), Stages: []string{"100%"}}))
	f.eventually(func() bool { return strings.Contains(f.problem("web1", record.SignatureRefused), "SHA256:") })
	require.Equal(t, "one", f.motd("web1"))
	good := f.release(motd("two"))
	require.Equal(t, int64(4), good.Version)
	for name := range f.nodes { // before the rollout is assessed, which these reports would stop
		f.eventually(func() bool { s := f.state(name); return s.Release == 4 && !blocked(s) })
	}
	require.Equal(t, signed.Done, f.advance().State)
	require.Equal(t, "two", f.motd("web1"))

	// A machine that was copied with its key.
	other := *f
	other.nodes, other.dir = map[string]*member{}, filepath.Join(f.dir, "copy")
	copied := other.start("web1")
	f.eventually(func() bool { return strings.Contains(f.problem("web1", record.DuplicateIdentity), "key of web1") })
	f.eventually(func() bool { return strings.Contains(f.nodes["web1"].log.String(), "another machine") }) // the copy may have told it before
	copied.stop()
	f.eventually(func() bool { return f.state("web1").Version != "" && f.problem("web1", record.DuplicateIdentity) == "" })
}

// blocked reports whether a node cannot take a release.
func blocked(s record.State) bool {
	return slices.ContainsFunc(s.Problems, func(p record.Problem) bool { return p.Code != record.ClockSkew })
}
