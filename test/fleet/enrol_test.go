package fleet_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
)

// A machine is a running ccm agent enrol.
type machine struct {
	dir, log string
	done     chan error
}

// ask starts a machine that requests enrolment, and waits for the request.
func (l *lab) ask(t *testing.T, name, environment string, more ...string) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir(), done: make(chan error, 1)}
	m.log = filepath.Join(m.dir, "log")
	args := append([]string{"agent", "enrol", "--servers", strings.Join(l.directory(t).Fleet.URLs(), ","), "--ca", l.dir + "/ca.pem",
		"--credentials", l.dir + "/enrol.creds", "--environment", environment, "--name", name, "--directory", m.dir}, more...)
	log, err := os.Create(m.log)
	require.NoError(t, err)
	cmd := l.command(t.Context(), args...)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	go func() { m.done <- cmd.Wait(); log.Close() }()
	waitFor(t, "the request of "+name, func() error {
		if text := m.text(t); !strings.Contains(text, "Waiting for") {
			return fmt.Errorf("it says %q", text)
		}
		return nil
	})
	return m
}

func (m *machine) text(t *testing.T) string {
	text, err := os.ReadFile(m.log)
	require.NoError(t, err)
	return string(text)
}

// fingerprint returns the fingerprint that it printed.
func (m *machine) fingerprint(t *testing.T) string {
	_, rest, ok := strings.Cut(m.text(t), "Fingerprint: ")
	require.True(t, ok)
	return strings.Fields(rest)[0]
}

func TestEnrolment(t *testing.T) {
	l := sharedLab(t)
	name := unique("web")
	first, second := l.ask(t, name, "prod"), l.ask(t, name, "prod")

	list := l.must(t, "fleet", "enrol")
	require.Equal(t, 2, strings.Count(list, "name requested twice"), list)
	_, stderr, status := l.ccm("fleet", "enrol", "approve", name)
	require.NotZero(t, status)
	require.Contains(t, stderr, "--fingerprint")
	_, stderr, _ = l.ccm("fleet", "enrol", "approve", name, "--fingerprint", "SHA256:AAAAAAAAAAAAAAAAAAAA")
	require.Contains(t, stderr, "the fingerprint does not match the request for")

	require.Equal(t, "+ node "+name+" of prod\n", l.must(t, "fleet", "enrol", "approve", name, "--fingerprint", first.fingerprint(t), "--tag", "role=web"))
	require.NoError(t, <-first.done)
	info, err := os.Stat(first.dir + "/node.creds")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	n, err := identity.ReadCredentials(first.dir + "/node.creds")
	require.NoError(t, err)
	require.Equal(t, []string{"role=web"}, n.Tags)
	require.NoFileExists(t, first.dir+"/node.nk")
	require.Contains(t, l.must(t, "fleet", "enrol"), "a node with this name exists")

	// The other machine gets the name only if the first node is replaced.
	_, stderr, _ = l.ccm("fleet", "enrol", "approve", name)
	require.Contains(t, stderr, "--replace")
	conn := l.dial(t, &nodeIdentity{n, first.dir + "/node.creds"})
	closed := make(chan struct{})
	conn.SetClosedHandler(func(*nats.Conn) { close(closed) })
	out := l.must(t, "fleet", "enrol", "approve", name, "--replace", "--fingerprint", second.fingerprint(t), "--output", "json")
	for change, m := range map[string]*machine{"removed": first, "created": second} {
		require.Contains(t, out, fmt.Sprintf(`"change":%q,"what":"node","name":%q,"environment":"prod","fingerprint":%q}`, change, name, m.fingerprint(t)))
	}
	require.NoError(t, <-second.done)
	waitRefused(t, conn, closed)
}

func TestDenied(t *testing.T) {
	l := sharedLab(t)
	m := l.ask(t, unique("web"), "prod")
	out := l.must(t, "fleet", "enrol", "deny", "--fingerprint", m.fingerprint(t), "--reason", "wrong rack", nameOf(t, m), "--output", "json")
	require.Contains(t, out, fmt.Sprintf(`"change":"removed","what":"request","name":%q,"environment":"prod","fingerprint":%q}`, nameOf(t, m), m.fingerprint(t)))
	require.Error(t, <-m.done)
	require.Contains(t, m.text(t), "wrong rack")
	require.NoFileExists(t, m.dir+"/node.creds")
}

func nameOf(t *testing.T, m *machine) string {
	_, rest, _ := strings.Cut(m.text(t), "as node ")
	return strings.Fields(rest)[0]
}

// A token can be used a limited number of times, even if several operators approve at once.
func TestTokens(t *testing.T) {
	l := sharedLab(t)
	prefix := unique("db")
	tokens, given := filepath.Join(t.TempDir(), "tokens"), filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(given, []byte(l.must(t, "fleet", "enrol", "token", "--name", prefix+"*", "--environment", "test", "--uses", "3", "--token-file", tokens)), 0o600))
	var machines []*machine
	for i := range 5 {
		machines = append(machines, l.ask(t, fmt.Sprintf("%s-%d", prefix, i), "test", "--token-file", given))
	}
	other := l.ask(t, unique("web"), "test", "--token-file", given) // a name that the token does not allow
	text, err := os.ReadFile(tokens)
	require.NoError(t, err)
	list, err := enrol.ReadTokens(text)
	require.NoError(t, err)
	var mu sync.Mutex
	approved := map[string]bool{}
	var wg sync.WaitGroup
	for range 2 {
		d := l.desk(t)
		wg.Go(func() {
			for range 3 {
				_ = d.ApproveByToken(t.Context(), list, func(p enrol.OpenRequest, err error) {
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						approved[p.Name] = true
					}
				})
			}
		})
	}
	wg.Wait()
	require.Len(t, approved, 3)
	require.NotContains(t, approved, nameOf(t, other))
	enrolled := 0
	for _, m := range machines {
		if approved[nameOf(t, m)] {
			require.NoError(t, <-m.done)
			enrolled++
		}
	}
	require.Equal(t, 3, enrolled)
}

// A request without a signature of its key is not shown, and a key can have one request.
func TestHostileRequests(t *testing.T) {
	l := sharedLab(t)
	d := l.desk(t)
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	key, err := pair.PublicKey()
	require.NoError(t, err)
	conn, err := l.access(t, l.dir+"/enrol.creds", subject.EnrolmentInbox(key)).Dial()
	require.NoError(t, err)
	defer conn.Close()
	name := unique("evil")
	good, err := enrol.Request{Name: name, Environment: "prod", Key: key, Recipient: recipient}.Encode(pair, nil)
	require.NoError(t, err)

	_, before, err := d.Pending(t.Context())
	require.NoError(t, err)
	stranger, err := nkeys.CreateUser()
	require.NoError(t, err)
	strange, err := stranger.PublicKey()
	require.NoError(t, err)
	_, err = direct.Publish(t.Context(), conn, subject.Request(strange), good)
	require.NoError(t, err)
	waitFor(t, "a replica to have the request", func() error {
		list, dropped, err := d.Pending(t.Context())
		require.NotContains(t, names(list), name)
		if err == nil && dropped != before+1 {
			err = fmt.Errorf("%d dropped, want %d", dropped, before+1)
		}
		return err
	})

	_, err = direct.Publish(t.Context(), conn, subject.Request(key), good)
	require.NoError(t, err)
	again, err := enrol.Request{Name: "other", Environment: "prod", Key: key, Recipient: recipient}.Encode(pair, nil)
	require.NoError(t, err)
	_, err = direct.Publish(t.Context(), conn, subject.Request(key), again)
	require.ErrorContains(t, err, "maximum messages per subject exceeded", "the first stays")
	_, err = direct.Publish(t.Context(), conn, subject.Request(key), good, direct.Header("Nats-TTL", "3600"))
	require.Error(t, err)
	waitFor(t, "the request to be listed", func() error {
		list, _, err := d.Pending(t.Context())
		require.NotContains(t, names(list), "other")
		if err == nil && !slices.Contains(names(list), name) {
			err = fmt.Errorf("there is %v", names(list))
		}
		return err
	})
}

func names(list []enrol.OpenRequest) (names []string) {
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

// However many requests come, the stream stays within its limits, and nothing else is affected.
func TestManyRequests(t *testing.T) {
	if os.Getenv("CCM_FLEET_LONG") == "" {
		t.Skip("it stores 100,000 requests: CCM_FLEET_LONG=1")
	}
	l := newLab(t)
	d := l.desk(t)
	info := func() uint64 {
		return l.stream(t, d, subject.Enrolment).CachedInfo().State.Msgs
	}
	conn, err := l.access(t, l.dir+"/enrol.creds", subject.EnrolmentInbox("x")).Dial()
	require.NoError(t, err)
	defer conn.Close()
	for i := range 101_000 {
		require.NoError(t, conn.Publish(subject.Request(fmt.Sprintf("U%d", i)), []byte("x")))
		if i%1000 == 999 { // the servers need time to store them
			_, _ = direct.Publish(t.Context(), conn, subject.Request(fmt.Sprintf("UA%d", i)), []byte("x"))
		}
	}
	require.NoError(t, conn.Flush())
	_, err = direct.Publish(t.Context(), conn, subject.Request("UZ"), []byte("x"))
	require.ErrorContains(t, err, "maximum messages exceeded")
	require.LessOrEqual(t, info(), uint64(100_000))
	list, dropped, err := d.Pending(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
	require.Positive(t, dropped)
	l.addNode(t, "web1", "prod")
}

// waitRefused waits until a node whose key is revoked has reconnected and was refused. A server may have let it in again
// just before it learned of that: then it goes at the next connection.
func waitRefused[T any](t *testing.T, conn *nats.Conn, closed <-chan T) {
	t.Helper()
	for range 12 {
		select {
		case <-closed:
			return
		case <-time.After(5 * time.Second):
			_ = conn.ForceReconnect()
		}
	}
	t.Fatal("the node is connected again")
}

func TestRevoke(t *testing.T) {
	l := sharedLab(t)
	n := l.addNode(t, unique("web"), "prod")
	closed := make(chan time.Time, 1)
	conn := l.dial(t, n, nats.MaxReconnects(2), nats.ReconnectWait(10*time.Millisecond), nats.ClosedHandler(func(*nats.Conn) { closed <- time.Now() }))
	require.NoError(t, request(subject.KV(subject.Nodes, subject.StateKey(n.Name)), "{}")(conn))
	gone := make(chan time.Time, 1)
	conn.SetDisconnectErrHandler(func(*nats.Conn, error) {
		select {
		case gone <- time.Now():
		default:
		}
	})
	d := l.desk(t)
	began := time.Now()
	servers, err := d.RevokeKey(t.Context(), n.Key)
	require.NoError(t, err)
	require.Len(t, servers, 3)
	select {
	case at := <-gone:
		t.Logf("cut after %s, of which a command takes until it is told", at.Sub(began))
	case <-time.After(patience):
		t.Fatal("the node is still connected")
	}
	waitRefused(t, conn, closed)
	_, err = l.access(t, n.credentials, subject.Inbox(n.Name)).Dial()
	require.ErrorContains(t, err, "revoked")
	// Restarted servers know the revocation too.
	l.kill(l.ports[0])
	l.start(t, l.ports[0])
	only := l.access(t, n.credentials, subject.Inbox(n.Name))
	only.Servers = []string{"tls://127.0.0.1:" + l.ports[0]}
	waitFor(t, "the server that was started anew", func() error {
		_, err := only.Dial()
		if err != nil && strings.Contains(err.Error(), "no server answered") {
			return err
		}
		require.ErrorContains(t, err, "revoked")
		return nil
	})
}

// The servers end the connections of a key on request, as revoke does for a client that they admitted while they took
// the revocation. Others stay connected.
func TestDisconnect(t *testing.T) {
	l := sharedLab(t)
	d := l.desk(t)
	n, other := l.addNode(t, unique("web"), "prod"), l.addNode(t, unique("web"), "prod")
	closed := make(chan struct{})
	l.dial(t, n, nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	stays := l.dial(t, other, nats.NoReconnect())
	require.NoError(t, cluster.Disconnect(t.Context(), d.Cluster.Directory, n.Key))
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the node is still connected")
	}
	require.NoError(t, stays.FlushTimeout(patience))
}

// A person whose credentials were revoked has no access.
func TestRevokeUser(t *testing.T) {
	l := sharedLab(t)
	person := unique("ann")
	l.must(t, "fleet", "user", person, "--role", "operator")
	file := l.dir + "/users/" + person + "/user.creds"
	conn, err := l.access(t, file, subject.UserInbox(person)).Dial()
	require.NoError(t, err)
	conn.Close()
	out := l.must(t, "fleet", "revoke", "--user", person, "--output", "json")
	require.Contains(t, out, fmt.Sprintf(`"change":"removed","what":"user","name":%q,"servers":[`, person))
	_, err = l.access(t, file, subject.UserInbox(person)).Dial()
	require.ErrorContains(t, err, "revoked")
}

// After the servers have lost everything, init restores it from the directory.
func TestInitRestores(t *testing.T) {
	l := newLab(t)
	n, gone := l.addNode(t, "web1", "prod"), l.addNode(t, "web2", "prod")
	l.must(t, "fleet", "revoke", "web2")
	for _, port := range l.ports {
		l.kill(port)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(l.scratch, "store")))
	for _, port := range l.ports {
		l.start(t, port)
	}
	// Until then they use the account in their configuration, which has no revocations.
	l.checkSays(t, "the servers have an old account and accept keys that are revoked (1)\n  ccm fleet init "+l.dir+" --apply uploads the current one\n")
	out := ""
	waitFor(t, "the streams", func() error {
		stdout, stderr, status := l.ccm("fleet", "init", l.dir, "--apply")
		out += stdout
		if status != 0 {
			return fmt.Errorf("%s", stderr)
		}
		return nil
	})
	require.Contains(t, out, "+ node web1 of prod, from its copy")
	require.NotContains(t, out, "web2")
	require.Contains(t, out, "+ stream CCM_JOBS")
	require.NoError(t, request(subject.KV(subject.Nodes, subject.StateKey("web1")), "{}")(l.dial(t, n)))
	_, err := l.access(t, gone.credentials, subject.Inbox("web2")).Dial()
	require.Error(t, err, "what was revoked stays so")
}

// Init shows differences, and changes them with --apply.
func TestInitSaysDrift(t *testing.T) {
	l := newLab(t)
	d := l.desk(t)
	require.Empty(t, l.must(t, "fleet", "init", l.dir, "--apply"))
	config := l.stream(t, d, subject.Events).CachedInfo().Config
	config.MaxAge = time.Hour
	ask(t, "the change", func(ctx context.Context) (jetstream.Stream, error) {
		return d.Cluster.JetStream.UpdateStream(ctx, config)
	})
	want := "~ stream CCM_EVENTS: max_age: 1h0m0s → 168h0m0s\n"
	require.Equal(t, want, l.must(t, "fleet", "init", l.dir, "--apply", "-n"))
	require.Contains(t, l.must(t, "fleet", "init", l.dir, "--apply", "-n", "--output", "json"),
		`"change":"changed","what":"stream","name":"CCM_EVENTS","detail":["max_age: 1h0m0s → 168h0m0s"]}`, "-n changes nothing")
	require.Equal(t, want, l.must(t, "fleet", "init", l.dir, "--apply"))
	require.Empty(t, l.must(t, "fleet", "init", l.dir, "--apply"))
	for _, change := range streamsWithRollup(t, l) {
		require.Failf(t, "roll-ups", "%s allows them", change)
	}
}

// streamsWithRollup returns the streams that allow roll-ups although nodes write to them.
func streamsWithRollup(t *testing.T, l *lab) (found []string) {
	d := l.desk(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	list := d.Cluster.JetStream.ListStreams(ctx)
	for info := range list.Info() {
		if info.Config.AllowRollup && !strings.HasPrefix(info.Config.Name, "OBJ_CCM_SITES_") {
			found = append(found, info.Config.Name)
		}
	}
	require.NoError(t, list.Err())
	return found
}

// A machine that asked long ago may be gone: it is listed after those that ask now, and that is said.
func TestOldRequests(t *testing.T) {
	l := sharedLab(t)
	old, young := unique("old"), unique("young")
	l.ask(t, old, "prod")
	l.ask(t, young, "prod")
	d := l.desk(t)
	pending := func() (order []string, by map[string]enrol.OpenRequest) {
		list, _, err := d.Pending(t.Context())
		require.NoError(t, err)
		by = map[string]enrol.OpenRequest{}
		for _, r := range list {
			if r.Name == old || r.Name == young {
				order, by[r.Name] = append(order, r.Name), r
			}
		}
		return order, by
	}
	order, by := pending()
	require.Equal(t, []string{old, young}, order)
	latest := by[young].StoredAt
	d.Now = func() time.Time { return latest.Add(24 * time.Hour) }
	order, by = pending()
	require.Equal(t, []string{young, old}, order)
	asked, recent := by[old], by[young]
	require.True(t, asked.IsOld(d.Now()))
	require.False(t, recent.IsOld(d.Now()))
	require.Contains(t, l.must(t, "fleet", "enrol", "--output", "json"), `"asked_long_ago":false`)
}
