package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/host"
)

// patience is the time limit for conditions that tests wait for.
const patience = 3 * time.Minute

// A lab is a fleet with three nats-servers, as ccm fleet init configures them.
type lab struct {
	dir     string // directory of the fleet
	scratch string
	ports   []string
	servers map[string]*exec.Cmd
	machine *host.Host
}

// A failer is the part of a test that a lab needs.
type failer interface {
	require.TestingT
	Helper()
}

// newLab starts a fleet for one test, which then runs in parallel with others.
func newLab(t *testing.T) *lab {
	t.Helper()
	return newLabOf(t, 3)
}

// newLabOf is newLab with another number of servers.
func newLabOf(t *testing.T, servers int) *lab {
	t.Helper()
	t.Parallel()
	scratch, err := os.MkdirTemp("", "lab-")
	require.NoError(t, err)
	l := startLab(t, scratch, servers)
	t.Cleanup(l.end)
	return l
}

var (
	sharedOnce sync.Once
	shared     *lab
)

// sharedLab returns a fleet for tests that change only their own nodes.
func sharedLab(t *testing.T) *lab {
	t.Helper()
	sharedOnce.Do(func() {
		scratch, err := os.MkdirTemp("", "lab-")
		require.NoError(t, err)
		shared = startLab(t, scratch, 3)
	})
	require.NotNil(t, shared, "the fleet did not start")
	return shared
}

func endShared() {
	if shared != nil {
		shared.end()
	}
}

func startLab(t failer, scratch string, servers int) *lab {
	t.Helper()
	l := configureLab(t, scratch, servers)
	for _, port := range l.ports {
		l.start(t, port)
	}
	// No server answers in the first moment.
	waitFor(t, "the streams of the fleet", func() error {
		_, stderr, status := l.ccm("fleet", "init", l.dir, "--apply")
		if status != 0 {
			return errors.New(stderr)
		}
		return nil
	})
	waitFor(t, "all servers to have all streams", func() error {
		c, err := cluster.Connect(l.directory(t))
		if err != nil {
			return err
		}
		defer c.Close()
		return l.unsettled(t, c.Conn)
	})
	return l
}

// unsettled returns an error unless all servers have all streams.
func (l *lab) unsettled(t failer, conn *nats.Conn) error {
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	for _, want := range cluster.Streams(&l.directory(t).Fleet) {
		s, err := js.Stream(context.Background(), want.Config.Name)
		if err != nil {
			return err
		}
		if s.CachedInfo().Cluster == nil || s.CachedInfo().Cluster.Leader == "" {
			return fmt.Errorf("%s has no leader", want.Config.Name)
		}
		for _, r := range s.CachedInfo().Cluster.Replicas {
			if r.Offline || !r.Current {
				return fmt.Errorf("%s of %s is behind", want.Config.Name, r.Name)
			}
		}
	}
	return nil
}

// configureLab makes the directory of a fleet, and starts no server.
func configureLab(t failer, scratch string, servers int) *lab {
	t.Helper()
	l := &lab{dir: filepath.Join(scratch, "fleet"), scratch: scratch, servers: map[string]*exec.Cmd{}, machine: host.New(host.Options{Clock: host.RealClock{}})}
	configs := l.dir
	if servers == 1 {
		configs = filepath.Join(l.dir, "127.0.0.1")
	}
	args := []string{"fleet", "init", l.dir, "--config-dir", configs, "--store-dir", filepath.Join(scratch, "store"),
		"--events-size", "256MiB", "--jobs-size", "64MiB", "--sites-size", "256MiB", "--environment", "prod", "--environment", "test", "--allow-registry", "--allow-data", dataBucket}
	for range servers {
		port := freePort(t)
		l.ports = append(l.ports, port)
		args = append(args, "--server", "127.0.0.1:"+port)
	}
	l.must(t, args...)
	if servers == 1 { // the port for figures is fixed there, and may be taken
		text, err := os.ReadFile(l.config(l.ports[0]))
		require.NoError(t, err)
		text = bytes.Replace(text, []byte(`http: "127.0.0.1:8222"`), []byte(`http: "127.0.0.1:`+freePort(t)+`"`), 1)
		require.NoError(t, os.WriteFile(l.config(l.ports[0]), text, 0o600))
	}
	return l
}

// config returns the path of a server's configuration. The folder of the only server on a machine has no port.
func (l *lab) config(port string) string {
	name := "127.0.0.1-" + port
	if len(l.ports) == 1 {
		name = "127.0.0.1"
	}
	return filepath.Join(l.dir, name, "nats.conf")
}

// end stops the servers, and removes all files.
func (l *lab) end() {
	for port := range l.servers {
		l.kill(port)
	}
	os.RemoveAll(l.scratch)
}

// start starts a server.
func (l *lab) start(t failer, port string) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(l.scratch, port+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	cmd := exec.Command(natsServer, "-c", l.config(port))
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	l.servers[port] = cmd
}

// kill ends a server as a power cut does.
func (l *lab) kill(port string) {
	if cmd := l.servers[port]; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		delete(l.servers, port)
	}
}

// lastPort is the port that freePort returned last. Processes begin with different ones. All are below those that the
// system gives to connections, so that a server that was stopped finds its port free again.
var (
	lastPort   = 12_000 + os.Getpid()%20*100
	lastPortMu sync.Mutex
)

// freePort returns a free port whose derived ports of ccm fleet init are free too. Each is returned once.
func freePort(t failer) string {
	lastPortMu.Lock()
	defer lastPortMu.Unlock()
	for lastPort < 14_000 {
		lastPort++
		free := true
		for _, p := range []int{lastPort, lastPort + 2000, lastPort + 4000} {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return strconv.Itoa(lastPort)
		}
	}
	require.FailNow(t, "no free ports")
	return ""
}

// waitFor calls f until it returns no error.
func waitFor(t failer, what string, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	require.NoError(t, err, "waited for %s", what)
}

// ccm runs ccm as the operator of the fleet.
func (l *lab) ccm(args ...string) (stdout, stderr string, status int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := l.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (l *lab) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = l.scratch
	cmd.Env = append(os.Environ(), "CCM_FLEET="+l.dir, "NO_COLOR=1", "CCM_STATE_DIR="+filepath.Join(l.scratch, "state"), "XDG_CONFIG_HOME="+filepath.Join(l.scratch, "config"))
	return cmd
}

// must runs ccm, which must succeed, and returns its output.
func (l *lab) must(t failer, args ...string) string {
	t.Helper()
	stdout, stderr, status := l.ccm(args...)
	require.Zero(t, status, "ccm %s: %s", strings.Join(args, " "), stderr)
	return stdout
}

// directory opens the directory of the fleet.
func (l *lab) directory(t failer) *identity.Directory {
	t.Helper()
	d, err := identity.Open(l.dir, l.machine)
	require.NoError(t, err)
	return d
}

// desk returns the operator's desk.
func (l *lab) desk(t testing.TB) *enrol.Desk {
	t.Helper()
	c, err := cluster.Connect(l.directory(t))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return &enrol.Desk{Cluster: c, Now: time.Now}
}

// ask sends a request to JetStream until it is answered: servers on a busy machine lose one while they choose a leader.
func ask[T any](t testing.TB, what string, request func(context.Context) (T, error)) (answer T) {
	t.Helper()
	waitFor(t, what, func() (err error) {
		ctx, cancel := context.WithTimeout(t.Context(), cluster.Patience)
		defer cancel()
		answer, err = request(ctx)
		return err
	})
	return answer
}

// stream returns a stream of the fleet.
func (l *lab) stream(t testing.TB, d *enrol.Desk, name string) jetstream.Stream {
	t.Helper()
	return ask(t, name, func(ctx context.Context) (jetstream.Stream, error) { return d.Cluster.JetStream.Stream(ctx, name) })
}

// deleteMessage deletes a message of a stream.
func deleteMessage(t testing.TB, s jetstream.Stream, sequence uint64) {
	t.Helper()
	ask(t, "it to be deleted", func(ctx context.Context) (bool, error) {
		err := s.DeleteMsg(ctx, sequence)
		return true, err
	})
}

// A nodeIdentity is a node with its key.
type nodeIdentity struct {
	identity.NodeIdentity
	credentials string // file
}

// recipient is an age recipient without an identity.
var recipient = "age1" + strings.Repeat("q", 58)

// addNode makes a node without a request.
func (l *lab) addNode(t testing.TB, name, environment string) *nodeIdentity {
	t.Helper()
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	key, err := pair.PublicKey()
	require.NoError(t, err)
	d := l.desk(t)
	request := enrol.OpenRequest{SignedRequest: enrol.SignedRequest{Request: enrol.Request{Name: name, Environment: environment, Key: key, Recipient: recipient}}}
	n, _, err := d.Approve(t.Context(), &request, enrol.Approval{})
	require.NoError(t, err)
	creds, err := identity.Credentials(n.JWT, pair)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "node.creds")
	require.NoError(t, os.WriteFile(file, creds, 0o600))
	return &nodeIdentity{n, file}
}

// credentials returns the credentials file of a node of prod, which is made if necessary.
func (l *lab) credentials(t testing.TB, name string) string {
	t.Helper()
	file := filepath.Join(l.scratch, name+".creds")
	if _, err := os.Stat(file); err != nil {
		require.NoError(t, os.Rename(l.addNode(t, name, "prod").credentials, file))
	}
	return file
}

// access returns a node's access to the servers.
func (l *lab) access(t failer, credentials, inbox string) cluster.Access {
	t.Helper()
	d := l.directory(t)
	return cluster.Access{Servers: d.Fleet.URLs(), CA: d.CA(), Credentials: credentials, Inbox: inbox, Name: "test"}
}

// dial connects with the key of a node.
func (l *lab) dial(t *testing.T, n *nodeIdentity, options ...nats.Option) *nats.Conn {
	t.Helper()
	conn, err := l.access(t, n.credentials, subject.Inbox(n.Name)).Dial(options...)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// unique returns a name that no other test uses.
func unique(prefix string) string {
	uniqueMu.Lock()
	defer uniqueMu.Unlock()
	uniqueCount++
	return fmt.Sprintf("%s%d", prefix, uniqueCount)
}

var (
	uniqueMu    sync.Mutex
	uniqueCount int
)
