package fleet_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/signers"
)

// A fleet has servers, an operator and nodes.
type fleet struct {
	t       testing.TB
	servers []*server.Server
	urls    []string
	nc      *nats.Conn // the operator's connection
	key     signers.Key
	allowed string // text of allowed_signers
	dir     string
	nodes   map[string]*member
	lab     *lab          // owner of the servers; nil for servers in this process
	parts   time.Duration // time limit for parts of a bundle; 0 for that of shortTiming
}

// A member is a node with its agent.
type member struct {
	node  *node.Node
	agent *agent.Agent
	root  string
	cache string
	stop  func()
	log   *syncBuffer
}

// A syncBuffer keeps the end of a log.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const most = 1 << 20
	if s.b.Len() > 2*most {
		s.b.Next(s.b.Len() - most)
	}
	return s.b.Write(p)
}

func (s *syncBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// limit is the time limit for nodes, enough for a machine ten times slower.
const limit = 3 * time.Minute

var shortTiming = node.Timing{
	Heartbeat: 300 * time.Millisecond, Control: 5 * time.Second, Facts: 300 * time.Millisecond, Batch: 20 * time.Millisecond,
	ReconnectLeast: 50 * time.Millisecond, ReconnectMost: 300 * time.Millisecond, Retry: 500 * time.Millisecond, SpreadReads: 50 * time.Millisecond,
	Parts: 10 * time.Second, Duplicate: 5 * time.Second, Acknowledgement: 10 * time.Second,
}

// startServer starts a server of a cluster; without routes it is alone.
func startServer(t testing.TB, name, store string, port, clusterPort int, routes string) *server.Server {
	o := &server.Options{ServerName: name, Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: store, NoLog: true, NoSigs: true, SyncAlways: true}
	if routes != "" {
		o.Cluster = server.ClusterOpts{Name: "fleet", Host: "127.0.0.1", Port: clusterPort}
		o.Routes = server.RoutesFromStr(routes)
	}
	s, err := server.NewServer(o)
	require.NoError(t, err)
	go s.Start()
	require.True(t, s.ReadyForConnections(time.Minute))
	return s
}

// newFleet starts one server, and makes what ccm fleet init makes. The test runs in parallel with others.
func newFleet(t *testing.T) *fleet {
	t.Parallel()
	f := &fleet{t: t, dir: t.TempDir(), nodes: map[string]*member{}}
	s := startServer(t, "nats1", t.TempDir(), -1, 0, "")
	f.servers, f.urls = []*server.Server{s}, []string{s.ClientURL()}
	t.Cleanup(func() {
		for _, s := range f.servers {
			s.Shutdown()
			s.WaitForShutdown()
		}
	})
	f.connect(1)
	return f
}

// connect connects the operator and makes the streams.
func (f *fleet) connect(replicas int) {
	t := f.t
	var err error
	f.nc, err = nats.Connect(strings.Join(f.urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(f.nc.Close)
	js, err := jetstream.New(f.nc)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for _, c := range []jetstream.StreamConfig{
		{Name: subject.KVStream(subject.Control), Subjects: []string{subject.KV(subject.Control, ">")}, MaxMsgsPerSubject: 32, MaxMsgSize: 70 << 10,
			RePublish: &jetstream.RePublish{Source: subject.KV(subject.Control, ">"), Destination: "ccm.v1.control.>"}},
		{Name: subject.KVStream(subject.Nodes), Subjects: []string{subject.KV(subject.Nodes, ">")}, MaxMsgsPerSubject: 1},
		{Name: subject.KVStream(subject.Presence), Subjects: []string{subject.KV(subject.Presence, ">")}, MaxMsgsPerSubject: 1, Storage: jetstream.MemoryStorage, MaxAge: 3 * time.Minute},
		{Name: subject.Events, Subjects: []string{subject.AllEvents}, Duplicates: 2 * time.Minute},
		{Name: subject.Jobs, Subjects: []string{subject.AllJobs}, DenyDelete: true, DenyPurge: true,
			RePublish: &jetstream.RePublish{Source: subject.AllJobs, Destination: "ccm.v1.do.>"}},
	} {
		c.Replicas, c.AllowDirect = replicas, true
		require.Eventually(t, func() bool {
			_, err = js.CreateOrUpdateStream(ctx, c)
			return err == nil
		}, 3*time.Minute, 100*time.Millisecond, "%s: %v", c.Name, &err)
	}
	_, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: subject.Sites("prod"), Replicas: replicas})
	require.NoError(t, err)
	f.operator()
}

// operator makes the operator's key.
func (f *fleet) operator() {
	t := f.t
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	block, err := ssh.MarshalPrivateKey(private, "ops")
	require.NoError(t, err)
	f.key = signers.Key{File: filepath.Join(f.dir, "ops")}
	require.NoError(t, os.WriteFile(f.key.File, pem.EncodeToMemory(block), 0o600))
	public, err := ssh.NewPublicKey(private.Public())
	require.NoError(t, err)
	f.allowed = "ops@example.org " + string(ssh.MarshalAuthorizedKey(public))
}

// credentials writes the credentials of a node. Servers in this process accept everybody.
func (f *fleet) credentials(name string) string {
	if f.lab != nil {
		return f.lab.credentials(f.t, name)
	}
	account, _ := nkeys.CreateAccount()
	user, _ := nkeys.CreateUser()
	key, _ := user.PublicKey()
	seed, _ := user.Seed()
	claims := jwt.NewUserClaims(key)
	claims.Name = name
	claims.Tags.Add("env:prod")
	token, err := claims.Encode(account)
	require.NoError(f.t, err)
	text, err := jwt.FormatUserConfig(token, seed)
	require.NoError(f.t, err)
	file := filepath.Join(f.dir, name+".creds")
	require.NoError(f.t, os.WriteFile(file, text, 0o600))
	return file
}

// start starts a node, or starts it again.
func (f *fleet) start(name string, change ...func(*node.Options)) *member {
	t := f.t
	m := &member{root: filepath.Join(f.dir, name, "root"), cache: filepath.Join(f.dir, name, "cache"), log: &syncBuffer{}}
	stateDir := filepath.Join(f.dir, name, "state")
	require.NoError(t, os.MkdirAll(filepath.Join(m.root, "etc"), 0o755))
	facts := filepath.Join(f.dir, name, "facts.json")
	role := "web"
	if name == "canary" {
		role = "canary"
	}
	require.NoError(t, os.WriteFile(facts, fmt.Appendf(nil, `{"role": %q, "node": %q}`, role, name), 0o644))
	log := slog.New(slog.NewTextHandler(m.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options := node.Options{
		Servers: f.urls, Credentials: f.credentials(name), SignersText: f.allowed, SignersFile: "allowed_signers",
		Directory: filepath.Join(m.cache, "fleet"), Runs: filepath.Join(stateDir, "runs"), Version: "test", Clock: time.Now, Log: log, Timing: shortTiming,
	}
	if f.lab != nil {
		options.CA, options.Host = f.lab.directory(t).CA(), f.lab.machine
	}
	if f.parts > 0 {
		options.Timing.Parts = f.parts
	}
	for _, c := range change {
		c(&options)
	}
	config, err := agent.ParseConfig("agent.yaml", "interval: 1h\nfleet:\n  servers: [nats://127.0.0.1]\ncache_dir: "+m.cache+"\n")
	require.NoError(t, err)
	a, err := agent.New(agent.Options{
		Config: config, Executable: binary, Arguments: []string{"--root", m.root, "--state-dir", stateDir, "--facts", facts}, Version: "test", Log: log, Clock: host.RealClock{}, Node: name,
		Fleet: func(_ *agent.FleetConfig, a *agent.Agent) (agent.Fleet, error) {
			bundles, err := a.BundleStore("fleet")
			if err != nil {
				return nil, err
			}
			m.node, err = node.New(options, factsOf{a, facts}, bundles)
			return m.node, err
		},
	})
	require.NoError(t, err)
	m.agent = a
	ctx, cancel := context.WithCancel(context.Background())
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		if err := a.Run(ctx, stop); err != nil {
			log.Error(err.Error())
		}
	}()
	m.stop = sync.OnceFunc(func() { close(stop); cancel(); <-ended })
	t.Cleanup(func() {
		m.stop()
		if t.Failed() {
			t.Logf("log of %s:\n%s", name, m.log)
		}
	})
	f.nodes[name] = m
	return m
}

// factsOf gives a machine facts from a file, so that nodes differ.
type factsOf struct {
	*agent.Agent
	file string
}

func (m factsOf) Output(ctx context.Context, args ...string) ([]byte, error) {
	if args[0] == "facts" {
		return os.ReadFile(m.file)
	}
	return m.Agent.Output(ctx, args...)
}

// controller returns the controller of rollouts.
func (f *fleet) controller() *release.Controller {
	c := &release.Controller{Store: &release.Store{NC: f.nc, Environment: "prod"}, Key: f.key, By: "ops@example.org", Clock: time.Now, Environments: f.issued}
	if f.lab != nil {
		c.Keep = f.archive().Keep
	}
	return c
}

// archive returns the operator's archive of releases.
func (f *fleet) archive() release.Archive {
	return release.Archive{Directory: f.lab.dir, Environment: "prod"}
}

// issued returns the environment prod for all nodes: the servers of these tests accept everybody.
func (f *fleet) issued(context.Context) (map[string]string, error) {
	by := map[string]string{}
	for name := range f.nodes {
		by[name] = "prod"
	}
	return by, nil
}

// bundle packs a site of one script and stores it.
func (f *fleet) bundle(script string) (digest string) {
	dir := f.t.TempDir()
	require.NoError(f.t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(script), 0o644))
	return f.bundleOf(dir)
}

// bundleOf packs a site and stores it.
func (f *fleet) bundleOf(dir string) (digest string) {
	var packed bytes.Buffer
	_, err := bundle.Write(context.Background(), &packed, bundle.Folder{Dir: dir, Leave: func(string, bool) bool { return false }})
	require.NoError(f.t, err)
	sum := sha256.Sum256(packed.Bytes())
	digest = hex.EncodeToString(sum[:])
	if f.lab != nil {
		_, _, err := f.archive().AddBundle(func(file *os.File) (string, error) {
			_, err := file.Write(packed.Bytes())
			return digest, err
		})
		require.NoError(f.t, err)
	}
	require.NoError(f.t, f.controller().Store.PutBundle(context.Background(), digest, &packed))
	return digest
}

// release releases a script.
func (f *fleet) release(script string, stages ...string) *signed.Release {
	return f.releaseOf(f.bundle(script), stages...)
}

// releaseOf releases a stored bundle.
func (f *fleet) releaseOf(digest string, stages ...string) *signed.Release {
	r := &signed.Release{Bundle: "sha256:" + digest, Stages: append(stages, "100%"), MaxFailed: signed.Share{}, MaxSilent: signed.Share{}}
	require.NoError(f.t, f.controller().BeginRollout(context.Background(), r))
	return r
}

// advance moves the rollout until it rests.
func (f *fleet) advance() *release.Assessment {
	var a *release.Assessment
	require.Eventually(f.t, func() bool {
		var err error
		a, err = f.controller().Step(context.Background())
		return err == nil && a.Verdict == release.Rest
	}, 3*time.Minute, 50*time.Millisecond)
	return a
}

func motd(text string) string {
	return fmt.Sprintf("file { '/etc/motd', content = %q, owner = 'root', group = 'root', mode = '0644' }\n", text)
}

func (f *fleet) motd(name string) string {
	text, err := os.ReadFile(filepath.Join(f.nodes[name].root, "etc/motd"))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(f.t, err)
	return string(text)
}

// A release passes its stages; a failing one stops in its first stage; a rollback restores the one before.
func TestFleetRelease(t *testing.T) {
	f := newFleet(t)
	for _, name := range []string{"canary", "web1", "web2"} {
		f.start(name)
	}
	f.waitForNodes(3)
	f.release(motd("one"), `labels.role == "canary"`)
	a := f.advance()
	require.Equal(t, signed.Done, a.State, "%+v", a)
	for name := range f.nodes {
		require.Equal(t, "one", f.motd(name))
	}
	require.Equal(t, []int{1, 2}, []int{a.Stages[0].Changed, a.Stages[1].Changed}, "%+v", a)

	f.release(motd("two")+"exec { '/bin/false' }\n", `labels.role == "canary"`)
	a = f.advance()
	require.Equal(t, signed.Stopped, a.State)
	require.Equal(t, "1 failed, limit 0", a.Reason)
	require.Equal(t, "exec#/bin/false", a.Causes[0].Resource)
	require.Equal(t, "two", f.motd("canary"))
	require.Equal(t, "one", f.motd("web1"))

	back, err := f.controller().Back(context.Background())
	require.NoError(t, err)
	require.NoError(t, f.controller().BeginRollback(context.Background(), back))
	a = f.advance()
	require.Equal(t, signed.Done, a.State, "%+v", a)
	require.Equal(t, int64(3), a.Release)
	require.Equal(t, []int{1, 2}, []int{a.Stages[0].Nodes, a.Stages[1].Nodes}, "those who had it are first")
	require.Equal(t, "one", f.motd("canary"))
	_, err = f.controller().Back(context.Background())
	require.ErrorContains(t, err, "to roll back to", "the one that failed is none")
}

// A rollback goes to the newest release that was not stopped, and a second one to the release before that. It never
// goes to a release that was rolled back.
func TestRollbackTwice(t *testing.T) {
	f := newFleet(t)
	ctx := context.Background()
	c := f.controller()
	end := func(state signed.RolloutState) {
		control, err := c.Store.Read(ctx)
		require.NoError(t, err)
		text, err := signed.Sign(ctx, &signed.Rollout{
			Header: control.Rollout.Header, Version: control.Rollout.Version + 1, Release: control.Release.Version, State: state, Since: time.Now(),
		}, f.key)
		require.NoError(t, err)
		require.NoError(t, c.Store.PutRollout(ctx, text, control.RolloutEntry.Sequence))
	}
	back := func() (reason, bundle string) {
		r, err := c.Back(ctx)
		require.NoError(t, err)
		require.NoError(t, c.BeginRollback(ctx, r))
		return r.Reason, r.Bundle
	}
	one := f.release(motd("one"))
	end(signed.Done)
	two := f.release(motd("two"))
	end(signed.Done)
	f.releaseOf(two.Digest()) // the same bundle again
	end(signed.Done)
	f.release(motd("bad"))
	end(signed.Stopped)
	f.release(motd("worse"))
	end(signed.Aborted)
	reason, bundle := back()
	require.Equal(t, two.Bundle, bundle)
	require.Equal(t, "rollback from release 5 to 3", reason)
	reason, bundle = back()
	require.Equal(t, one.Bundle, bundle)
	require.Equal(t, "rollback from release 6 to 1", reason)
	_, err := c.Back(ctx)
	require.ErrorContains(t, err, "to roll back to")
	end(signed.Done)
	f.release(motd("three")) // no node took it, and nobody watched
	f.release(motd("four"))
	_, bundle = back()
	require.Equal(t, one.Bundle, bundle)
}

func (f *fleet) waitForNodes(count int) {
	require.Eventually(f.t, func() bool {
		nodes, err := f.read()
		present := 0
		for _, n := range nodes {
			if n.State != nil && n.State.Labels["role"] != "" && !n.HeartbeatTime.IsZero() {
				present++
			}
		}
		return err == nil && present == count
	}, 3*time.Minute, 50*time.Millisecond)
}

func (f *fleet) read() ([]*roster.Node, error) {
	issued, _ := f.issued(context.Background())
	return roster.Read(context.Background(), f.nc, roster.Options{Environments: issued, Environment: "prod"})
}

func (f *fleet) eventually(is func() bool) {
	f.t.Helper()
	require.Eventually(f.t, is, 3*time.Minute, 50*time.Millisecond)
}

// stranger returns a key that nobody trusts.
func (f *fleet) stranger() signers.Key {
	block, err := ssh.MarshalPrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize)), "stranger")
	require.NoError(f.t, err)
	key := signers.Key{File: filepath.Join(f.dir, "stranger")}
	require.NoError(f.t, os.WriteFile(key.File, pem.EncodeToMemory(block), 0o600))
	return key
}

// run runs a script on a node without its agent.
func (f *fleet) run(name, script string) {
	m := f.nodes[name]
	file := filepath.Join(f.t.TempDir(), "hand.lua")
	require.NoError(f.t, os.WriteFile(file, []byte(script), 0o644))
	// The agent may have just begun a run.
	out, err := exec.Command(binary, "run", file, "--root", m.root, "--state-dir", filepath.Join(f.dir, name, "state"), "--lock-timeout", limit.String()).CombinedOutput()
	require.NoError(f.t, err, "%s", out)
}
