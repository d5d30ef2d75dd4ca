package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/test/fleet/crowd"
)

// patience limits the time of one row.
const patience = 10 * time.Minute

// A bench is a fleet to measure.
type bench struct {
	*measurement
	s       *servers
	c       *cluster.Cluster
	watch   *crowd.Watch
	members []crowd.Member
	key     signers.Key
}

// measure makes a fleet of count nodes, machines of which run the code of nodes, and measures all rows, and then what
// NATS alone takes for them.
func measure(ctx context.Context, count, machines int, dir string) (*measurement, error) {
	if err := crowd.RaiseFileLimit(machines, count-machines); err != nil {
		return nil, err
	}
	s, err := newServers(dir)
	if err != nil {
		return nil, err
	}
	defer s.end()
	b := &bench{measurement: &measurement{nodes: count, values: make(map[string]value), floor: make(map[string]value)}, s: s, watch: new(crowd.Watch)}
	d, err := s.init()
	if err != nil {
		return nil, err
	}
	if err := b.measureFleet(ctx, d, machines); err != nil {
		return nil, err
	}
	b.members = nil
	runtime.GC()
	if err := b.measureFloor(ctx, d.CA()); err != nil {
		return nil, err
	}
	return b.measurement, nil
}

// measureFleet measures all rows with ccm.
func (b *bench) measureFleet(ctx context.Context, d *identity.Directory, machines int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	count := b.nodes
	allowed, err := b.operator()
	if err != nil {
		return err
	}
	gate := make(chan struct{})
	for i := range count {
		o := crowd.Options{Fleet: d, Memory: b.s.memory, Allowed: allowed, Watch: b.watch, Gate: gate}
		var m crowd.Member
		if i < machines {
			m, err = crowd.New(o, i)
		} else {
			m, err = crowd.NewConnection(o, i)
		}
		if err != nil {
			return err
		}
		b.members = append(b.members, m)
	}
	began := time.Now()
	if err := b.s.apply(ctx); err != nil {
		return err
	}
	b.seconds(rowRestore, time.Since(began))
	if b.c, err = cluster.Connect(d); err != nil {
		return err
	}
	defer b.c.Close()
	if err := b.connect(ctx); err != nil {
		return err
	}
	if err := b.until(ctx, "the states of connections", func() bool { return b.messages(ctx, subject.KVStream(subject.Nodes)) >= count-machines }); err != nil {
		return err
	}
	began = time.Now()
	close(gate)
	if err := b.until(ctx, "facts", func() bool { return b.messages(ctx, subject.KVStream(subject.Nodes)) >= 2*count }); err != nil {
		return err
	}
	b.seconds(rowFacts, time.Since(began))
	for _, row := range []func(context.Context) error{b.idle, b.queries, b.releases, b.job, b.bundle, b.crash} {
		if err := row(ctx); err != nil {
			return err
		}
	}
	return nil
}

// seconds records a duration.
func (b *bench) seconds(row string, d time.Duration) {
	v := inSeconds(d)
	b.set(row, v.number, "%s", v.text)
}

// inSeconds returns a duration as a value.
func inSeconds(d time.Duration) value {
	if d < time.Second {
		return value{fmt.Sprintf("%d ms", d.Milliseconds()), d.Seconds()}
	}
	return value{fmt.Sprintf("%.1f s", d.Seconds()), d.Seconds()}
}

// until waits for nodes.
func (b *bench) until(ctx context.Context, what string, is func() bool) error {
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s did not come within %s", what, patience)
		}
	}
	return nil
}

// messages returns the number of messages in a stream.
func (b *bench) messages(ctx context.Context, stream string) int {
	s, err := b.c.JetStream.Stream(ctx, stream)
	if err != nil {
		return 0
	}
	return int(s.CachedInfo().State.Msgs)
}

// operator makes the key of the operator, and returns its line for allowed_signers.
func (b *bench) operator() (allowed string, err error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return "", err
	}
	block, err := ssh.MarshalPrivateKey(private, "ops")
	if err != nil {
		return "", err
	}
	b.key = signers.Key{File: filepath.Join(b.s.memory, "ops")}
	if err := os.WriteFile(b.key.File, pem.EncodeToMemory(block), 0o600); err != nil {
		return "", err
	}
	public, err := ssh.NewPublicKey(private.Public())
	return "ops@example.org " + string(ssh.MarshalAuthorizedKey(public)), err
}

// atOnce is the number of nodes that connect at a time.
const atOnce = 256

func (b *bench) connect(ctx context.Context) error {
	began := time.Now()
	for i, m := range b.members {
		if err := b.until(ctx, "connections", func() bool { return int64(i)-b.watch.Connected.Load() < atOnce }); err != nil {
			return err
		}
		go m.Run(ctx)
	}
	if err := b.until(ctx, "connections", func() bool { return b.watch.Connected.Load() >= int64(b.nodes) }); err != nil {
		return err
	}
	b.seconds(rowConnect, time.Since(began))
	memory := b.s.memoryOf()
	b.set(rowMemoryConnected, memory/(1<<20), "%.0f MiB", memory/(1<<20))
	// They read what they missed within the first seconds.
	select {
	case <-ctx.Done():
	case <-time.After(15 * time.Second):
	}
	return ctx.Err()
}

// queries selects nodes by a fact.
func (b *bench) queries(ctx context.Context) error {
	for _, q := range []struct{ row, where string }{
		{rowQueryFacts, `facts.os.family == "debian"`}, {rowQueryLabels, `labels["os.family"] == "debian"`},
	} {
		best := time.Duration(0)
		for range 3 {
			began := time.Now()
			out, err := b.s.run(ctx, "fleet", "nodes", "--where", q.where, "--output", "names")
			if err != nil {
				return err
			}
			if got, want := strings.Count(out, "\n"), (b.nodes+3)/4; got != want {
				return fmt.Errorf("%s: %d nodes, want %d", q.where, got, want)
			}
			if took := time.Since(began); best == 0 || took < best {
				best = took
			}
		}
		b.seconds(q.row, best)
	}
	began := time.Now()
	hits := 0
	err := direct.All(ctx, b.c.Conn, direct.Request{Stream: subject.KVStream(subject.Nodes), Filter: subject.KV(subject.Nodes, "*.facts")}, func(m *direct.Message) error {
		if bytes.Contains(m.Data, []byte(`"debian"`)) {
			hits++
		}
		return nil
	})
	if err == nil && hits != (b.nodes+3)/4 {
		err = fmt.Errorf("facts of %d nodes, want %d", hits, (b.nodes+3)/4)
	}
	b.seconds(rowReadFacts, time.Since(began))
	return err
}

func (b *bench) controller() *release.Controller {
	return &release.Controller{Store: &release.Store{NC: b.c.Conn, Environment: crowd.Environment}, Key: b.key, By: "ops@example.org", Clock: time.Now,
		Environments: (&enrol.Desk{Cluster: b.c, Now: time.Now}).Environments}
}

// begin stores a bundle and begins its release.
func (b *bench) begin(ctx context.Context, size int, stages ...string) (began time.Time, err error) {
	packed := make([]byte, size)
	_, _ = rand.Read(packed) // never fails
	sum := sha256.Sum256(packed)
	digest := hex.EncodeToString(sum[:])
	c := b.controller()
	if err := c.Store.PutBundle(ctx, digest, bytes.NewReader(packed)); err != nil {
		return began, err
	}
	b.watch.Released.Store(0)
	b.watch.Installed.Store(0)
	began = time.Now()
	return began, c.BeginRollout(ctx, &signed.Release{Bundle: "sha256:" + digest, Stages: append(stages, "100%"), MaxFailed: signed.Share{}, MaxSilent: signed.Share{}})
}

// releases makes all nodes run a small release.
func (b *bench) releases(ctx context.Context) error {
	began, err := b.begin(ctx, 10<<10, `labels.role == "none"`)
	if err != nil {
		return err
	}
	if err := b.until(ctx, "the release", func() bool { return b.watch.Released.Load() >= int64(b.nodes) }); err != nil {
		return err
	}
	b.seconds(rowRelease, time.Since(began))
	if began, err = b.begin(ctx, 10<<10); err != nil {
		return err
	}
	if err := b.until(ctx, "its bundle", func() bool { return b.watch.Installed.Load() >= int64(b.nodes) }); err != nil {
		return err
	}
	b.seconds(rowTaken, time.Since(began))
	for done := 0; done < b.nodes; time.Sleep(50 * time.Millisecond) {
		_, a, err := b.controller().Look(ctx)
		if err != nil {
			return err
		}
		if done = a.Stages[0].Done; time.Since(began) > patience {
			return fmt.Errorf("%d nodes ran the release", done)
		}
	}
	b.seconds(rowReported, time.Since(began))
	return nil
}

// job sends a job to all nodes, and one to a single node.
func (b *bench) job(ctx context.Context) error {
	sender := &job.Sender{NC: b.c.Conn, Environment: crowd.Environment, Key: b.key, By: "ops@example.org", Clock: time.Now}
	var names []string
	for _, m := range b.members {
		names = append(names, m.NodeName())
	}
	for _, x := range []struct {
		row   string
		names []string
	}{{rowJob, names}, {rowJobOne, names[:1]}} {
		j := &signed.Job{Verb: signed.VerbPlan, Condition: `node != ""`}
		sender.Fill(j, x.names, 10*time.Minute)
		var accepted time.Duration
		began := time.Now()
		p, err := sender.Send(ctx, j, x.names, func(p *job.Progress) {
			if accepted == 0 && p.Accepted == len(x.names) {
				accepted = time.Since(began)
			}
		})
		if err != nil {
			return err
		}
		if !p.OK() {
			return fmt.Errorf("the job: %d of %d accepted, %d done, %d silent, %d refused", p.Accepted, p.Nodes, p.Done, len(p.Silent), p.Refused)
		}
		b.seconds(x.row, accepted)
	}
	return nil
}

// bundle makes a thousand nodes download a large bundle at once.
func (b *bench) bundle(ctx context.Context) error {
	began, err := b.begin(ctx, 5<<20, crowd.StageOfFew)
	if err != nil {
		return err
	}
	if err := b.until(ctx, "the large bundle", func() bool { return b.watch.Installed.Load() >= crowd.Few }); err != nil {
		return err
	}
	b.seconds(rowBundle, time.Since(began))
	memory := b.s.memoryOf()
	b.set(rowMemoryAfter, memory/(1<<20), "%.0f MiB", memory/(1<<20))
	return nil
}

// settled waits until nothing was stored about nodes for some seconds: those whose facts were not acknowledged in time
// send them again.
func (b *bench) settled(ctx context.Context) error {
	var last uint64
	since := time.Now()
	return b.until(ctx, "the end of repetitions", func() bool {
		time.Sleep(100 * time.Millisecond)
		s, err := b.c.JetStream.Stream(ctx, subject.KVStream(subject.Nodes))
		if err != nil || s.CachedInfo().State.LastSeq != last {
			since = time.Now()
		}
		if err == nil {
			last = s.CachedInfo().State.LastSeq
		}
		return time.Since(since) > 5*time.Second
	})
}

// idle measures the load of nodes without events.
func (b *bench) idle(ctx context.Context) error {
	if err := b.settled(ctx); err != nil {
		return err
	}
	const span = 20 * time.Second
	before := b.s.processor()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(span):
	}
	cores := (b.s.processor() - before) / span.Seconds()
	b.set(rowIdle, cores, "%.3f cores", cores)
	return nil
}
